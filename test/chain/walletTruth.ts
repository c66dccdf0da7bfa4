/**
 * Holdings and profits, computed in a plain way: always from all events of the remaining blocks.
 */
import type { MarketEvent } from '../../src/engine/market/events.ts';
import type { MadeBlock } from './foldMarket.ts';
import { reservesOf, SUPPLY } from './foldState.ts';
import { capAfter, type Fraction } from './foldTruth.ts';

type Of<Kind extends MarketEvent['kind']> = MarketEvent & { readonly kind: Kind };
type Pool = Parameters<typeof reservesOf>[0];

interface Fill {
  readonly side: 'buy' | 'sell';
  readonly tokens: bigint;
  readonly lovelace: bigint;
  readonly atMs: number;
}

export interface WalletTruth {
  /** By token, as listed. */
  readonly holders: Map<string, { readonly address: string; readonly quantity: string }[]>;
  /** By `<pkh>/<token>`. */
  readonly balances: Map<string, bigint>;
  /** By `<pkh>/<token>`, in their order. */
  readonly fills: Map<string, Fill[]>;
}

/**
 * Outputs of users go to a second address of the same key, or to somebody else's script, now and
 * then: foldMarket's model does not cover this and does not have to.
 */
export function spread(block: MadeBlock): MadeBlock {
  const events = block.events.map((event) => {
    if (event.kind !== 'made' || event.isOurs) return event;
    const [, index] = event.ref.split(':');
    const kind = (Number.parseInt(event.ref.slice(0, 2), 16) + Number(index)) % 5;
    if (kind === 0) return { ...event, address: `${event.address}second` };
    return kind === 1 ? { ...event, address: 'addr_test1foreign', pkh: null } : event;
  });
  return { ...block, events };
}

export function walletTruth(blocks: readonly MadeBlock[]): WalletTruth {
  const events = blocks.flatMap((block) => block.events);
  const tokens = of(events, 'launched').map(({ pool }) => pool.token);
  const spent = new Set(of(events, 'spent').map(({ ref }) => ref));
  const held = of(events, 'made').filter(({ ref, isOurs }) => !spent.has(ref) && !isOurs);
  const holders: WalletTruth['holders'] = new Map();
  const balances = new Map<string, bigint>();
  for (const token of tokens) {
    const byAddress = new Map<string, bigint>();
    for (const { address, pkh, assets } of held) {
      const amount = BigInt(assets[token] ?? 0);
      if (amount === 0n) continue;
      byAddress.set(address, (byAddress.get(address) ?? 0n) + amount);
      const key = `${pkh}/${token}`;
      if (pkh !== null) balances.set(key, (balances.get(key) ?? 0n) + amount);
    }
    const rows = [...byAddress].sort(([a, x], [b, y]) =>
      x === y ? (a < b ? -1 : 1) : x > y ? -1 : 1,
    );
    holders.set(
      token,
      rows.map(([address, quantity]) => ({ address, quantity: String(quantity) })),
    );
  }
  return { holders, balances, fills: fillsOf(blocks) };
}

function of<Kind extends MarketEvent['kind']>(events: readonly MarketEvent[], kind: Kind) {
  return events.filter((event): event is Of<Kind> => event.kind === kind);
}

function fillsOf(blocks: readonly MadeBlock[]): WalletTruth['fills'] {
  const fills: WalletTruth['fills'] = new Map();
  const note = (key: string, fill: Fill) => fills.set(key, [...(fills.get(key) ?? []), fill]);
  const all = blocks.flatMap((block) => block.events);
  const orders = new Map(of(all, 'placed').map(({ order }) => [order.ref, order]));
  for (const { events, atMs } of blocks) {
    for (const event of events) {
      if (event.kind === 'executed') {
        const order = orders.get(event.order);
        if (order === undefined) throw new Error(`${event.order} was placed`);
        const { side, amount, feeLovelace, pkh, token } = order;
        const [offered, got] = [BigInt(amount), BigInt(event.received)];
        const bought = { tokens: got, lovelace: offered + BigInt(feeLovelace) };
        const sold = { tokens: offered, lovelace: got };
        note(`${pkh}/${token}`, { side, ...(side === 'buy' ? bought : sold), atMs });
      } else if (event.kind === 'filled' && event.order === null) {
        const launch = of(all, 'launched').find(({ pool }) => pool.token === event.token);
        const amounts = { tokens: BigInt(event.tokens), lovelace: BigInt(event.lovelace) };
        note(`${launch?.pool.author.pkh}/${event.token}`, { side: 'buy', ...amounts, atMs });
      }
    }
  }
  return fills;
}

export function spotNow(pool: Pool): Fraction {
  const { top, bottom } = capAfter({ after: reservesOf(pool) });
  return { top, bottom: bottom * SUPPLY };
}

/** A half goes to the even one. */
export function nearest(top: bigint, bottom: bigint): bigint {
  const below = top < 0n && top % bottom !== 0n ? top / bottom - 1n : top / bottom;
  const [down, up] = [top - below * bottom, (below + 1n) * bottom - top];
  if (down === up) return below % 2n === 0n ? below : below + 1n;
  return down < up ? below : below + 1n;
}

/** The paid and received amounts, the realized part, and the open part. */
export function profitOf(fills: readonly Fill[], spot: Fraction) {
  let [open, cost, realized] = [0n, 0n, 0n];
  for (const { side, tokens, lovelace } of fills) {
    if (side === 'buy') {
      open += tokens;
      cost += lovelace;
    } else {
      const matched = tokens > open ? open : tokens;
      if (matched === 0n) continue;
      const share = nearest(cost * matched, open);
      realized += nearest(lovelace * matched, tokens) - share;
      open -= matched;
      cost -= share;
    }
  }
  return { realized, unrealized: nearest(open * spot.top, spot.bottom) - cost };
}

/** The answer of `/v1/orders-feed/metrics`, in lovelace where it says ADA. */
export function metricsTruth(fills: readonly Fill[], spot: Fraction, balance: bigint) {
  const sum = (side: Fill['side'], what: 'tokens' | 'lovelace') =>
    fills.filter((fill) => fill.side === side).reduce((all, fill) => all + fill[what], 0n);
  const { realized, unrealized } = profitOf(fills, spot);
  return {
    buyCount: fills.filter(({ side }) => side === 'buy').length,
    sellCount: fills.filter(({ side }) => side === 'sell').length,
    boughtTokens: String(sum('buy', 'tokens')),
    soldTokens: String(sum('sell', 'tokens')),
    spentAda: adaText(sum('buy', 'lovelace')),
    receivedAda: adaText(sum('sell', 'lovelace')),
    balance: String(balance),
    averageBuyPrice: priceText(sum('buy', 'lovelace'), sum('buy', 'tokens')),
    averageSellPrice: priceText(sum('sell', 'lovelace'), sum('sell', 'tokens')),
    realizedPnlAda: adaText(realized),
    unrealizedPnlAda: adaText(unrealized),
    firstTradeTime: (fills[0]?.atMs ?? 0) / 1000,
    lastTradeTime: (fills.at(-1)?.atMs ?? 0) / 1000,
  };
}

interface TradersOf {
  readonly token: string;
  readonly spot: Fraction;
  readonly sort: 'realized' | 'unrealized' | 'volume';
}

/** All keys that traded, as `/v1/tokens/traders` lists them. */
export function tradersTruth(
  { fills, balances }: WalletTruth,
  pkhs: readonly string[],
  { token, spot, sort }: TradersOf,
) {
  const rows = pkhs.flatMap((pkh) => {
    const own = fills.get(`${pkh}/${token}`);
    if (own === undefined) return [];
    const metrics = metricsTruth(own, spot, balances.get(`${pkh}/${token}`) ?? 0n);
    const { buyCount: buys, sellCount: sells, spentAda, receivedAda, balance } = metrics;
    const { realizedPnlAda, unrealizedPnlAda } = metrics;
    const volume = own.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    const value = { ...profitOf(own, spot), volume }[sort];
    const money = { spentAda, receivedAda, balance, realizedPnlAda, unrealizedPnlAda };
    return [{ value, row: { pkh, buys, sells, ...money } }];
  });
  rows.sort((a, b) =>
    a.value === b.value ? (a.row.pkh < b.row.pkh ? -1 : 1) : a.value > b.value ? -1 : 1,
  );
  return rows.map(({ row }) => row);
}

export function adaText(lovelace: bigint): string {
  const size = lovelace < 0n ? -lovelace : lovelace;
  const text = `${size / 1_000_000n}.${String(size % 1_000_000n).padStart(6, '0')}`;
  return lovelace < 0n ? `-${text}` : text;
}

/** ADA per token, at most 18 fractional digits. */
function priceText(lovelace: bigint, tokens: bigint): string {
  if (tokens === 0n) return '0';
  const scaled = nearest(lovelace * 10n ** 12n, tokens);
  const text = `${scaled / 10n ** 18n}.${String(scaled % 10n ** 18n).padStart(18, '0')}`;
  return text.replace(/\.?0+$/, '') || '0';
}
