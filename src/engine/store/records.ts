/** Rows of the fold that are records, as JSON text: the market's knowledge of the chain. */
import type { AssetId } from '../market/asset.ts';
import type {
  ChainOrder,
  MarketEvent,
  OrderRest,
  PlacedOrder,
  RefText,
  Reserves,
  VestingLock,
} from '../market/events.ts';
import type { PoolState } from '../market/pool.ts';
import type { PoolFacts } from '../market/poolView.ts';
import type { Position } from '../market/profit.ts';
import type { SplashFees } from '../market/splash.ts';
import type { EarlyBuy } from '../market/trust.ts';

/** Table `points`, by height padded to 12 digits: blocks a chain can be followed on from. */
export interface PointRecord {
  readonly slot: number;
  readonly hash: string;
  readonly height: number;
  /** Market time after it. */
  readonly timeMs: number;
  /** Entry of the block. */
  readonly seq: number;
}

/** Table `outputs`, by reference: unspent outputs of the deployment's scripts and of tokens. */
export interface OutputRecord {
  readonly address: string;
  readonly pkh: string | null;
  readonly isOurs: boolean;
  readonly lovelace: string;
  readonly assets: Readonly<Record<AssetId, string>>;
  /** Assets without a pool when it was made: not counted, also where a pool comes later. */
  readonly uncounted?: readonly AssetId[];
  readonly datum: string | null;
}

/** Table `pools`, by token. */
export interface PoolRecord extends PoolFacts {
  readonly launchTx: string;
}

/** Table `trades`, by `<token>/<chain order>`. */
export interface TradeRecord {
  readonly side: 'buy' | 'sell';
  readonly tokens: string;
  readonly lovelace: string;
  readonly tx: string;
  /** Payment key of the order, or of the launch. */
  readonly pkh: string;
  readonly atMs: number;
  /** Absent: it was on the curve. */
  readonly isOnAmm?: true;
  /** Lovelace per token after it. */
  readonly spot: { readonly numerator: string; readonly denominator: string };
}

/** Table `traders`, by `<payment key>/<token>`: a position in JSON, and when its fills were. */
export interface TraderRecord {
  readonly buyCount: number;
  readonly sellCount: number;
  readonly boughtTokens: string;
  readonly soldTokens: string;
  readonly spentLovelace: string;
  readonly receivedLovelace: string;
  readonly openTokens: string;
  readonly openCostLovelace: string;
  readonly realizedLovelace: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** More than a market has: the limit of readers that read every pool. */
export const MAX_POOLS = 1_000_000;

/** One execution of an order. */
export interface OrderFill {
  readonly tx: string;
  readonly atMs: number;
  /** Amount of the input asset. */
  readonly amount: string;
  /** Amount of the output asset. */
  readonly received: string;
  readonly feeLovelace: string;
  /** Place in the chain of its trade; null where it has none. */
  readonly tradeAt: ChainOrder | null;
}

/**
 * Table `orders`, by reference of the output that placed it; open orders are also in `open_orders`,
 * and in `order_outputs` if another output holds the rest of a partly executed order.
 */
export interface OrderRecord extends PlacedOrder {
  readonly placedMs: number;
  /** A buy that was placed with the launch or soon after it; absent: another order. */
  readonly early?: EarlyBuy;
  readonly state: 'open' | 'executed' | 'refunded' | 'cancelled';
  /** Set when it is no longer open. */
  readonly closedMs: number | null;
  readonly closedTx: string | null;
  /** Sum in the output asset. */
  readonly received: string;
  /** Executed parts, the last one excluded that ended it; absent: none. */
  readonly parts?: readonly OrderFill[];
  /** The rest that these parts left; absent: all of it. */
  readonly rest?: OrderRest;
  /** Part of the offer that came back with the last execution; absent: nothing. */
  readonly unspent?: string;
  /** Venue of the fill, or the venue at the refund; null while open. */
  readonly venue: Reserves['venue'] | null;
  /** Place in the chain of its newest trade; null where it has none. */
  readonly tradeAt: ChainOrder | null;
}

/** All executions of an order, oldest first. */
export function fillsOfOrder(order: OrderRecord): readonly OrderFill[] {
  const { state, closedTx: tx, closedMs: atMs, parts = [], received, tradeAt } = order;
  if (state !== 'executed' || tx === null || atMs === null) return parts;
  const { amount, feeLovelace } = lastFill(order);
  const before = parts.reduce((sum, part) => sum + BigInt(part.received), 0n);
  const rest = { amount, received: String(BigInt(received) - before), feeLovelace };
  return [
    ...parts,
    { tx, atMs, ...rest, tradeAt: tradeAt === parts.at(-1)?.tradeAt ? null : tradeAt },
  ];
}

/** Input and fee of an execution that takes the whole rest of an order. */
export function lastFill(order: Pick<OrderRecord, 'amount' | 'feeLovelace' | 'rest' | 'unspent'>) {
  const { amount, feeLovelace } = order.rest ?? order;
  return { amount: String(BigInt(amount) - BigInt(order.unspent ?? '0')), feeLovelace };
}

/** Table `mempool`, by transaction id. */
export interface MempoolRecord {
  /** Sorts in the order in which they came. */
  readonly place: string;
  readonly seenMs: number;
  readonly events: readonly MarketEvent[];
}

/** Table `dropped`, by reference: orders that were shown, and are neither on the chain nor wait. */
export interface DroppedRecord {
  readonly order: PlacedOrder;
  /** Entry that dropped it; up to the horizon it is known. */
  readonly seq: number;
  readonly shownMs: number;
}

/** Under `SETTINGS` in `market`. */
export interface SettingsRecord {
  readonly ref: RefText;
  readonly executor: string;
  readonly feeAddress: string;
}

/** Table `locks`, by reference: for good, also when withdrawn. */
export interface LockRecord extends VestingLock {
  readonly lockedMs: number;
  readonly withdrawnBy: string | null;
}

/** The pool as the market's arithmetic takes it. */
export function poolState(pool: PoolRecord): PoolState {
  const { venue, x, y, owed, splash } = pool.reserves;
  const supply = BigInt(pool.supply);
  const reserves = { x: BigInt(x), y: BigInt(y) };
  if (venue === 'AMM') {
    const amm = { venue, ...reserves, owed: BigInt(owed), supply };
    return splash === undefined ? amm : { ...amm, splash: splashFees(splash) };
  }
  const curve = { aNum: BigInt(pool.aNum), bNum: BigInt(pool.bNum), supply };
  return { venue, ...reserves, curve, thresholdLovelace: BigInt(pool.thresholdLovelace) };
}

/** The pool's state before its first trade here: of a launch, the whole supply and no coins. */
export function firstPoolState(pool: PoolRecord): PoolState {
  const untouched = { venue: 'CURVE', x: '0', y: pool.supply, owed: '0' } as const;
  return poolState({ ...pool, reserves: pool.firstReserves ?? untouched });
}

function splashFees(fees: NonNullable<Reserves['splash']>): SplashFees {
  return {
    feeNum: BigInt(fees.feeNum),
    treasuryFee: BigInt(fees.treasuryFee),
    royaltyFee: BigInt(fees.royaltyFee),
  };
}

export function positionOf(trader: TraderRecord): Position {
  return {
    buyCount: trader.buyCount,
    sellCount: trader.sellCount,
    boughtTokens: BigInt(trader.boughtTokens),
    soldTokens: BigInt(trader.soldTokens),
    spentLovelace: BigInt(trader.spentLovelace),
    receivedLovelace: BigInt(trader.receivedLovelace),
    openTokens: BigInt(trader.openTokens),
    openCostLovelace: BigInt(trader.openCostLovelace),
    realizedLovelace: BigInt(trader.realizedLovelace),
  };
}

export function readRecord<T>(text: string): T {
  // trust: our own row; which record a table holds is said above
  return JSON.parse(text) as T;
}
