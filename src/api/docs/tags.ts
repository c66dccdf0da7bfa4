/** What the groups of routes are, in the order in which a reader wants them. */
import type { Route } from '../gateway/port.ts';
import type { JsonObject } from './definitions.ts';

const ABOUT: Readonly<Record<string, string>> = {
  Charts: 'Candlesticks of price and of market cap.',
  TradingView: 'The same bars as a UDF datafeed.',
  Pools: 'Launched tokens: sorted lists, search, one pool, its progress on the curve.',
  Orders: 'Orders of a token and of a wallet, with their states.',
  Trades: 'The trade tape.',
  Holders: 'Balances, holders and profits of wallets.',
  Builder: 'Transactions built for a wallet to sign: quotes, orders, launches, cancels, transfers.',
  Vesting: 'Locks: tokens that their owner can take back in stages.',
  'UTxO monitor': 'Unspent outputs of a wallet.',
  Images: 'Logos by content id.',
  Operations: 'Health, readiness, metrics and the time.',
  Documents: 'This reference, for people and for programs.',
  Devnet: 'Faucet, blocks and forks; on a devnet only.',
};

/** The tags in use, the known ones first. The linter asks for a description of each. */
export function tagsOf(routes: readonly Route[]): JsonObject[] {
  const used = new Set(routes.map(({ tag }) => tag));
  const names = [...Object.keys(ABOUT).filter((name) => used.has(name)), ...used];
  return [...new Set(names)].map((name) => {
    const description = ABOUT[name];
    return description === undefined ? { name } : { name, description };
  });
}
