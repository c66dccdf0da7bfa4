/** Holdings and profits of people, summed from unspent outputs and from all fills. */
import assert from 'node:assert/strict';
import { formatAddress, parseAddress } from '../../../src/cardano/codec/address.ts';
import { ada, adaPrice, fixed, halfEven, LOVELACE_PER_ADA, type Ratio, sum } from './exact.ts';
import type { ModelChain, Trade } from './modelChain.ts';
import { compareTexts, type ModelPools, seconds } from './modelPools.ts';
import { ModelTrust } from './modelTrust.ts';

/** Lovelace and tokens of one key's fills, by average cost. */
interface Account {
  readonly buys: readonly Trade[];
  readonly sells: readonly Trade[];
  readonly spent: bigint;
  readonly received: bigint;
  readonly realized: bigint;
  /** Tokens bought and not sold, and their cost. */
  readonly open: bigint;
  readonly openCost: bigint;
}

/**
 * The cost of a buy: the whole offer and the executor's fee; for an initial buy, the lovelace that
 * went into the pool.
 */
function spentOn({ order, lovelace }: Trade): bigint {
  return order === null ? lovelace : order.amount + order.datum.feeLovelace;
}

function gotFor({ order }: Trade): bigint {
  return order?.closed?.received ?? assert.fail('a sell is an order that was filled');
}

function tokensOf(trades: readonly Trade[]): bigint {
  return sum(trades.map(({ tokens }) => tokens));
}

function accountOf(trades: readonly Trade[]): Account {
  let [open, openCost, realized] = [0n, 0n, 0n];
  for (const trade of trades) {
    if (trade.isBuy) {
      open += trade.tokens;
      openCost += spentOn(trade);
      continue;
    }
    // Tokens beyond the open amount were sent here: they have no cost and make no profit.
    const matched = trade.tokens < open ? trade.tokens : open;
    if (matched === 0n) continue;
    const proceeds = halfEven({ n: gotFor(trade) * matched, d: trade.tokens });
    const cost = halfEven({ n: openCost * matched, d: open });
    realized += proceeds - cost;
    open -= matched;
    openCost -= cost;
  }
  const buys = trades.filter(({ isBuy }) => isBuy);
  const sells = trades.filter(({ isBuy }) => !isBuy);
  const [spent, received] = [sum(buys.map(spentOn)), sum(sells.map(gotFor))];
  return { buys, sells, spent, received, realized, open, openCost };
}

const SUPPLY = 1_000_000_000n;

function average(lovelace: bigint, tokens: bigint): string {
  return tokens === 0n ? '0' : adaPrice({ n: lovelace, d: tokens });
}

export class ModelPeople {
  readonly #chain: ModelChain;
  readonly #pools: ModelPools;

  constructor(chain: ModelChain, pools: ModelPools) {
    this.#chain = chain;
    this.#pools = pools;
  }

  /** Confirmed tokens at each address that has some. */
  #held(token: string): Map<string, bigint> {
    const held = new Map<string, bigint>();
    for (const { output, spent } of this.#chain.outputs.values()) {
      const amount = output.value.assets.get(token);
      if (spent !== null || amount === undefined) continue;
      held.set(output.address, (held.get(output.address) ?? 0n) + amount);
    }
    return held;
  }

  #heldBy(token: string, pkhs: readonly string[]): bigint {
    const own = [...this.#held(token)].filter(([address]) => {
      const payment = parseAddress(address)?.payment;
      return payment?.kind === 'key' && pkhs.includes(payment.hash);
    });
    return sum(own.map(([, amount]) => amount));
  }

  holders(token: string, { offset = 0, limit = 100 } = {}) {
    const rows = [...this.#held(token)]
      .filter(([address]) => this.#chain.scriptOf(address) === null)
      .sort(([a, left], [b, right]) => Number(right - left) || compareTexts(a, b));
    const { pkh, skh } = this.#pools.launch(token)?.metadata.author ?? assert.fail(token);
    const key = (hash: string) => ({ kind: 'key', hash }) as const;
    const stake = skh === '' ? null : key(skh);
    const parts = { network: 'testnet', payment: key(pkh), stake, pointer: false } as const;
    return {
      holders: rows.slice(offset, offset + limit).map(([address, quantity]) => {
        return { address, quantity: String(quantity) };
      }),
      dev: { address: formatAddress(parts), quantity: String(this.#heldBy(token, [pkh])) },
      count: rows.length,
    };
  }

  #account(token: string, pkh: string): Account | null {
    const own = this.#chain.trades.filter((one) => one.token === token && one.pkh === pkh);
    return own.length === 0 ? null : accountOf(own);
  }

  #unrealized(token: string, { open, openCost }: Account): bigint {
    return this.#worth(token, open) - openCost;
  }

  /** Whole lovelace at spot. */
  #worth(token: string, tokens: bigint): bigint {
    const { n, d }: Ratio = this.#pools.spot(token);
    return halfEven({ n: n * tokens, d });
  }

  metrics(token: string, pkh: string) {
    if (this.#pools.launch(token) === undefined) return null;
    const account = this.#account(token, pkh);
    if (account === null) return null;
    const { buys, sells, spent, received, realized } = account;
    const times = [...buys, ...sells].map(({ at }) => seconds(at.timeMs));
    return {
      asset: token,
      pkh,
      buyCount: buys.length,
      sellCount: sells.length,
      boughtTokens: String(tokensOf(buys)),
      soldTokens: String(tokensOf(sells)),
      spentAda: ada(spent),
      receivedAda: ada(received),
      balance: String(this.#heldBy(token, [pkh])),
      averageBuyPrice: average(spent, tokensOf(buys)),
      averageSellPrice: average(received, tokensOf(sells)),
      realizedPnlAda: ada(realized),
      unrealizedPnlAda: ada(this.#unrealized(token, account)),
      firstTradeTime: Math.min(...times),
      lastTradeTime: Math.max(...times),
    };
  }

  traders(token: string, sort: 'realized' | 'unrealized' | 'volume') {
    const traded = this.#chain.trades.filter((trade) => trade.token === token);
    const rows = [...new Set(traded.map(({ pkh }) => pkh))].flatMap((pkh) => {
      const account = this.#account(token, pkh);
      const metrics = this.metrics(token, pkh);
      if (account === null || metrics === null) return [];
      const { spent, received, realized } = account;
      const unrealized = this.#unrealized(token, account);
      const value = { realized, unrealized, volume: spent + received }[sort];
      const { buyCount: buys, sellCount: sells, spentAda, receivedAda, balance } = metrics;
      const { realizedPnlAda, unrealizedPnlAda } = metrics;
      const money = { spentAda, receivedAda, balance, realizedPnlAda, unrealizedPnlAda };
      return [{ value, row: { pkh, buys, sells, ...money } }];
    });
    rows.sort((a, b) => Number(b.value - a.value) || compareTexts(a.row.pkh, b.row.pkh));
    return rows.slice(0, 100).map(({ row }) => row);
  }

  pnlCard(token: string, pkhs: readonly string[]) {
    const accounts = [...new Set(pkhs)].flatMap((pkh) => this.#account(token, pkh) ?? []);
    const invested = sum(accounts.map(({ spent }) => spent));
    // Nothing was invested, so there is nothing to take a percentage of.
    if (invested === 0n) return null;
    const gain = sum(accounts.map((one) => one.realized + this.#unrealized(token, one)));
    const percent = { n: gain * 100n, d: invested };
    return {
      asset: token,
      pnlPercent: fixed(percent, 2),
      investedAda: ada(invested),
      currentAdaGain: ada(gain),
    };
  }

  balance(token: string, pkhs: readonly string[]) {
    if (this.#pools.launch(token) === undefined) return null;
    const tokens = this.#heldBy(token, pkhs);
    if (tokens === 0n) return null;
    return { balance: Number(this.#worth(token, tokens)) / Number(LOVELACE_PER_ADA) };
  }

  /** The sums over all tokens in `/v1/portfolio`. */
  portfolio(tokens: readonly string[], given: readonly string[]) {
    const pkhs = [...new Set(given)];
    const rows = tokens.flatMap((asset) => {
      const accounts = pkhs.flatMap((pkh) => this.#account(asset, pkh) ?? []);
      const balance = this.#heldBy(asset, pkhs);
      if (accounts.length === 0 && balance === 0n) return [];
      const worth = this.#worth(asset, balance);
      const unrealized = sum(accounts.map((one) => this.#unrealized(asset, one)));
      return [{ asset, balance, worth, accounts, unrealized }];
    });
    rows.sort((a, b) => Number(b.worth - a.worth) || compareTexts(a.asset, b.asset));
    const all = rows.flatMap(({ accounts }) => accounts);
    const spent = sum(all.map((one) => one.spent));
    const realized = sum(all.map((one) => one.realized));
    const unrealized = sum(rows.map((row) => row.unrealized));
    const gain = { n: (realized + unrealized) * 100n, d: spent };
    return {
      valueAda: ada(sum(rows.map(({ worth }) => worth))),
      spentAda: ada(spent),
      receivedAda: ada(sum(all.map(({ received }) => received))),
      realizedPnlAda: ada(realized),
      unrealizedPnlAda: ada(unrealized),
      pnlPercent: spent === 0n ? null : fixed(gain, 2),
      count: rows.length,
      tokens: rows.map(({ asset, balance, worth, accounts, unrealized: open }) => ({
        asset,
        balance: String(balance),
        valueAda: ada(worth),
        spentAda: ada(sum(accounts.map((one) => one.spent))),
        unrealizedPnlAda: ada(open),
      })),
    };
  }

  /** Shares of the supply that is outside the pool. */
  insights(token: string, reserve: bigint) {
    const outside = SUPPLY - reserve;
    const share = (amount: bigint) =>
      outside === 0n ? '0.00' : fixed({ n: amount * 100n, d: outside }, 2);
    const trust = new ModelTrust(this.#chain, this.#pools).of(token, reserve);
    const { metadata, made } = this.#pools.launch(token) ?? assert.fail(token);
    const { pkh } = metadata.author;
    const sells = this.#account(token, pkh)?.sells ?? [];
    const bundled = this.#chain.trades.filter((trade) => {
      const isEarly = trade.token === token && trade.at.height === made.height;
      return isEarly && trade.isBuy && trade.pkh !== pkh;
    });
    return {
      ...trust,
      topHolderPercent: trust.largestPercent,
      authorPercent: trust.author.percent,
      authorSold: sells.length > 0,
      authorSoldTokens: String(tokensOf(sells)),
      bundled: {
        keys: new Set(bundled.map((trade) => trade.pkh)).size,
        percent: share(tokensOf(bundled)),
      },
    };
  }

  /**
   * Unspent outputs of a key, as `/getUtxos` lists them; outputs of the genesis are in no block.
   */
  utxos(pkh: string) {
    return [...this.#chain.outputs.values()]
      .filter(({ spent, output }) => {
        const payment = parseAddress(output.address)?.payment;
        return spent === null && payment?.kind === 'key' && payment.hash === pkh;
      })
      .map(({ ref, output }) => {
        const { lovelace, assets } = output.value;
        const rest = [...assets].sort(([a], [b]) => compareTexts(a, b));
        const all = [['lovelace', lovelace] as const, ...rest];
        const [txHash = '', index] = ref.split(':');
        const value = all.map(([unit, amount]) => ({ unit, amount: String(amount) }));
        return { txHash, index: Number(index), address: output.address, value };
      })
      .sort((a, b) => compareTexts(a.txHash, b.txHash) || a.index - b.index);
  }
}
