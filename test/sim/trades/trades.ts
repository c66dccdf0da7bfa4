/**
 * A million trades and no lovelace lost: random markets from launch to AMM, each trade checked by
 * separate rules (`rules.ts`), whole markets by the sum of all accounts. At intervals a batch
 * against the pool of that moment is built as the executor builds it and judged by the real
 * validators (`judged.ts`).
 */
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { buy, buyWithOutput, type Exchange, sell } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES, type FeeParameters } from '../../../src/engine/market/fees.ts';
import {
  type CurvePool,
  DEFAULT_THRESHOLD_LOVELACE,
  graduated,
  type PoolState,
  reachedCap,
} from '../../../src/engine/market/pool.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { judgeBatch } from './judged.ts';
import { brokenRules } from './rules.ts';

interface TradesOptions {
  readonly seed: number;
  /** That are carried out; refused ones come on top. */
  readonly trades: number;
  /** Batches for the validators. */
  readonly judged: number;
}

interface TradesTally {
  trades: number;
  refused: number;
  markets: number;
  graduations: number;
  batches: number;
  /** Orders filled in them. */
  fills: number;
}

/** Limit for one market; then the next begins, with other terms. */
const MAX_TRADES = 4_000;
const ADA = 1_000_000n;

/** Throws at the first trade that breaks a rule, with the market's seed. */
export function runTrades({ seed, trades, judged }: TradesOptions): TradesTally {
  const tally = { trades: 0, refused: 0, markets: 0, graduations: 0, batches: 0, fills: 0 };
  const every = judged === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(trades / judged));
  for (let market = seed; tally.trades < trades; market += 1) {
    const most = Math.min(MAX_TRADES, trades - tally.trades);
    new Market(market, tally, every).play(most);
    tally.markets += 1;
  }
  return tally;
}

/** All accounts, which begin with nothing: what one has more than that another has less. */
class Market {
  readonly #seed: number;
  readonly #rng: Rng;
  readonly #fees: FeeParameters;
  readonly #isDefault: boolean;
  readonly #tally: TradesTally;
  readonly #judgeEvery: number;
  readonly #supply: bigint;
  #pool: PoolState;
  /** Sums over all traders. */
  #lovelace = 0n;
  #tokens = 0n;
  #feesLovelace = 0n;
  #creatorLovelace = 0n;

  constructor(seed: number, tally: TradesTally, judgeEvery: number) {
    this.#seed = seed;
    this.#tally = tally;
    this.#judgeEvery = judgeEvery;
    this.#rng = seededRng(seed);
    // The deployment whose validators judge has the default terms.
    this.#isDefault = seed % 2 === 0;
    this.#fees = this.#isDefault ? DEFAULT_FEES : anyFees(this.#rng);
    const pool = this.#isDefault ? defaultPool() : anyPool(this.#rng);
    this.#supply = pool.curve.supply;
    this.#pool = pool;
  }

  play(most: number): void {
    // A pool that refuses everything is left, too.
    for (let tries = 0, done = 0; done < most && tries < most * 3; tries += 1) {
      if (!this.#trade()) {
        this.#tally.refused += 1;
        continue;
      }
      done += 1;
      this.#tally.trades += 1;
      this.#goOn();
      this.#judgeNow();
    }
  }

  #trade(): boolean {
    const trade = anyTrade(this.#rng, this.#pool, this.#fees, this.#tokens);
    if (trade === null) return false;
    this.#require(brokenRules(this.#pool, this.#fees, trade), trade);
    const { kind, inputAmount, outputAmount, shares, next } = trade;
    if (kind === 'buy') this.#move(-inputAmount, outputAmount);
    else this.#move(outputAmount, -inputAmount);
    this.#feesLovelace += shares.percentFee + shares.platform;
    this.#require(this.#noGainBack(trade), trade);
    this.#pool = next;
    this.#require(this.#sums(), trade);
    return true;
  }

  #move(lovelace: bigint, tokens: bigint): void {
    this.#lovelace += lovelace;
    this.#tokens += tokens;
  }

  /** Undoing a trade at once never pays more than it cost. */
  #noGainBack({ kind, inputAmount, outputAmount, next }: Exchange): string[] {
    const back =
      kind === 'buy' ? sell(next, this.#fees, outputAmount) : buy(next, this.#fees, outputAmount);
    if (back.outcome === 'refused' || back.outputAmount <= inputAmount) return [];
    return ['there and back is no gain'];
  }

  #sums(): string[] {
    const { x, y } = this.#pool;
    const owed = this.#pool.venue === 'AMM' ? this.#pool.owed : 0n;
    const lovelace = this.#lovelace + x + owed + this.#feesLovelace + this.#creatorLovelace;
    return [
      ...(lovelace === 0n ? [] : [`all accounts together hold ${lovelace} lovelace`]),
      ...(this.#tokens + y === this.#supply ? [] : ['tokens are lost or made']),
    ];
  }

  /** Graduation at the cap; a payout to the creator where enough is owed. */
  #goOn(): void {
    if (this.#pool.venue === 'CURVE' && reachedCap(this.#pool)) {
      this.#pool = graduated(this.#pool);
      this.#tally.graduations += 1;
    } else if (
      this.#pool.venue === 'AMM' &&
      this.#pool.owed >= this.#fees.collectFromLovelace &&
      this.#rng.unit() < 0.1
    ) {
      this.#creatorLovelace += this.#pool.owed;
      this.#pool = { ...this.#pool, owed: 0n };
    }
  }

  #judgeNow(): void {
    const { trades, batches } = this.#tally;
    if (!this.#isDefault || trades < (batches + 1) * this.#judgeEvery) return;
    this.#tally.batches += 1;
    const fills = judgeBatch(this.#pool, this.#rng);
    if (typeof fills === 'string') throw new Error(`seed ${this.#seed}: ${fills}`);
    this.#tally.fills += fills;
  }

  #require(broken: readonly string[], trade: Exchange): void {
    if (broken.length === 0) return;
    const show = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
    const what = JSON.stringify({ pool: this.#pool, fees: this.#fees, trade }, show);
    throw new Error(`seed ${this.#seed}: not so: ${broken.join('; ')}\n${what}`);
  }
}

function defaultPool(): CurvePool {
  const { supply } = DEFAULT_CURVE;
  const thresholdLovelace = DEFAULT_THRESHOLD_LOVELACE;
  return { venue: 'CURVE', x: 0n, y: supply, curve: DEFAULT_CURVE, thresholdLovelace };
}

function anyPool(rng: Rng): CurvePool {
  const supply = 10n ** BigInt(6 + Math.floor(rng.unit() * 7)) + below(rng, 1_000n);
  const curve = { aNum: below(rng, 10n ** 13n), bNum: 1n + below(rng, 10n ** 8n), supply };
  const thresholdLovelace = 1_000_000n + below(rng, 10n ** 11n);
  return { venue: 'CURVE', x: 0n, y: supply, curve, thresholdLovelace };
}

function anyFees(rng: Rng): FeeParameters {
  return {
    ...DEFAULT_FEES,
    percentFee: below(rng, 10n),
    creatorFeePer10k: below(rng, 500n),
    platformFeePer10k: below(rng, 300n),
    lpFeePer10k: below(rng, 500n),
    minTradeLovelace: below(rng, 2_000_000n),
    overshootPer1000: below(rng, 20n),
    overshootLovelace: below(rng, 10_000_000n),
  };
}

/** null: the pool refused it. */
function anyTrade(rng: Rng, pool: PoolState, fees: FeeParameters, held: bigint): Exchange | null {
  const draw = rng.unit();
  const most = pool.x / 3n + 50n * ADA;
  // Buys prevail, so that markets graduate.
  const trade =
    draw < 0.4
      ? buy(pool, fees, magnitude(rng, most))
      : draw < 0.55
        ? buyWithOutput(pool, fees, magnitude(rng, pool.y / 20n + 1n))
        : sell(pool, fees, magnitude(rng, held / 10n + 1n));
  return trade.outcome === 'refused' ? null : trade;
}

/** 1 to `most`; every sixth of any size, small and large alike, to meet the least trade. */
function magnitude(rng: Rng, most: bigint): bigint {
  const draw = rng.unit();
  if (draw < 0.02) return most;
  if (draw > 0.18) return 1n + below(rng, most);
  const scale = 10n ** BigInt(Math.ceil(rng.unit() * most.toString().length));
  return 1n + below(rng, scale < most ? scale : most);
}

function below(rng: Rng, most: bigint): bigint {
  const drawn =
    (BigInt(Math.floor(rng.unit() * 2 ** 32)) << 32n) + BigInt(Math.floor(rng.unit() * 2 ** 32));
  return (drawn * most) >> 64n;
}
