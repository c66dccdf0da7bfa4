/**
 * In which order the fills of one transaction were executed. A transaction does not say so; the
 * amounts nearly always do, because each fill moves the price of the next one. There are four
 * candidates, in this order; taken is the first of those whose amounts differ least from what the
 * pool's arithmetic gives. Source: onchain.md, "Fills of one transaction".
 *
 * Never: a search over permutations.
 */
import { amountOut } from '../../engine/market/amm.ts';
import { buyTokens, sellLovelace } from '../../engine/market/curve.ts';
import type { PlacedOrder, Reserves } from '../../engine/market/events.ts';
import { type FeeParameters, inputForNet, netOf, sharesOf } from '../../engine/market/fees.ts';
import { ceilDivide } from '../../engine/market/ratio.ts';
import type { KnownPool } from './knownMarket.ts';

/** An order that a transaction executed, or a part of one. */
export interface Executed {
  readonly order: PlacedOrder;
  /** Of the input asset, fees of the venue included. */
  readonly amount: bigint;
  /** Of the output asset. */
  readonly received: bigint;
}

export interface PoolAmounts {
  readonly venue: Reserves['venue'];
  readonly x: bigint;
  readonly y: bigint;
  readonly owed: bigint;
}

interface Step {
  readonly executed: Executed;
  readonly from: PoolAmounts;
  readonly to: PoolAmounts;
}

interface Sequence {
  readonly steps: readonly Step[];
  /** Every amount is the one that the pool's arithmetic gives. */
  readonly isExact: boolean;
}

type Compare = (a: Executed, b: Executed) => number;

/** The first is the order of the transaction's inputs, in which `executed` comes. */
const CANDIDATES: readonly Compare[] = [
  () => 0,
  (a, b) => sign(b.amount - a.amount),
  (a, b) => (a.order.at < b.order.at ? -1 : 1),
  buysByRate,
];

export function executedOrder(
  executed: readonly Executed[],
  before: PoolAmounts,
  pool: KnownPool,
  fees: FeeParameters,
): Sequence {
  let best: { readonly steps: readonly Step[]; readonly difference: bigint } | null = null;
  for (const compare of executed.length < 2 ? CANDIDATES.slice(0, 1) : CANDIDATES) {
    const found = play([...executed].sort(compare), before, pool, fees);
    if (best === null || found.difference < best.difference) best = found;
    if (best.difference === 0n) break;
  }
  return { steps: best?.steps ?? [], isExact: (best?.difference ?? 0n) === 0n };
}

/** Each fill moves the pool by what it received; the difference is counted in tokens. */
function play(
  sequence: readonly Executed[],
  before: PoolAmounts,
  pool: KnownPool,
  fees: FeeParameters,
): { steps: Step[]; difference: bigint } {
  let from = before;
  let difference = 0n;
  const steps = sequence.map((executed) => {
    const { to, missed } = stepOf(from, executed, pool, fees);
    const step = { executed, from, to };
    from = to;
    difference += missed;
    return step;
  });
  return { steps, difference };
}

function stepOf(
  from: PoolAmounts,
  { order, amount, received }: Executed,
  pool: KnownPool,
  fees: FeeParameters,
): { to: PoolAmounts; missed: bigint } {
  if (order.side === 'buy') {
    const shares = sharesOf(from.venue, fees, amount);
    const net = netOf(amount, shares);
    const to = { ...from, x: from.x + net, y: from.y - received, owed: from.owed + shares.creator };
    return { to, missed: distance(tokensFor(from, net, pool, fees), received) };
  }
  const expected = grossOf(from, amount, pool, fees);
  const off = distance(netOf(expected, sharesOf(from.venue, fees, expected)), received);
  // Another net amount has another gross amount, of which this is the least.
  const gross = off === 0n || received <= 0n ? expected : inputForNet(from.venue, fees, received);
  const { creator } = sharesOf(from.venue, fees, gross);
  const to = { ...from, x: from.x - gross, y: from.y + amount, owed: from.owed + creator };
  return { to, missed: received <= 0n ? amount : ceilDivide(off * amount, received) };
}

function tokensFor(
  { venue, x, y }: PoolAmounts,
  netLovelace: bigint,
  pool: KnownPool,
  fees: FeeParameters,
): bigint {
  if (venue === 'AMM') return amountOut(netLovelace, x, y, fees.lpFeePer10k);
  const curve = curveOf(pool);
  return y > curve.supply ? 0n : buyTokens(curve, curve.supply - y, netLovelace);
}

/** Lovelace that a sale takes from the reserve, shares included. */
function grossOf(
  { venue, x, y }: PoolAmounts,
  tokens: bigint,
  pool: KnownPool,
  fees: FeeParameters,
): bigint {
  if (venue === 'AMM') return amountOut(tokens, y, x, fees.lpFeePer10k);
  const curve = curveOf(pool);
  const sold = curve.supply - y;
  return tokens > sold ? 0n : sellLovelace(curve, sold, tokens);
}

function curveOf({ aNum, bNum, supply }: KnownPool) {
  return { aNum: BigInt(aNum), bNum: BigInt(bNum), supply: BigInt(supply) };
}

/** Buys from the cheapest to the dearest, then sells from the dearest to the cheapest. */
function buysByRate(a: Executed, b: Executed): number {
  if (a.order.side !== b.order.side) return a.order.side === 'buy' ? -1 : 1;
  return sign(b.received * a.amount - a.received * b.amount);
}

function sign(value: bigint): number {
  if (value === 0n) return 0;
  return value < 0n ? -1 : 1;
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}
