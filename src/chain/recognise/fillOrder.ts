/**
 * In which order the fills of one transaction were executed. A transaction does not say so; the
 * amounts nearly always do, because each fill moves the price of the next one. There are four
 * candidate orders. The one whose amounts differ least from the pool's arithmetic is taken; of
 * equal ones, the first. A pool of Splash moves once for all orders of a transaction, by their
 * sums. Source: onchain.md, "Fills of one transaction".
 *
 * Never: a search over permutations.
 */
import { amountOut } from '../../engine/market/amm.ts';
import { buyTokens, sellLovelace } from '../../engine/market/curve.ts';
import type { PlacedOrder, Reserves } from '../../engine/market/events.ts';
import { type FeeParameters, inputForNet, netOf, sharesOf } from '../../engine/market/fees.ts';
import { ceilDivide } from '../../engine/market/ratio.ts';
import { earnedOf, type SplashFees, splashOut } from '../../engine/market/splash.ts';
import type { KnownPool } from './knownState.ts';

/** An order that a transaction executed, or a part of one. */
export interface Executed {
  readonly order: PlacedOrder;
  /** Units of the input asset, the venue's fees included. */
  readonly amount: bigint;
  /** Amount of the output asset. */
  readonly received: bigint;
  /** The most that the executor could keep; lovelace missing in a sale's payment were kept. */
  readonly feeLovelace: bigint;
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

interface Sequence<Steps = Step> {
  readonly steps: readonly Steps[];
  /** Every amount equals the result of the pool's arithmetic. */
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

/** Each fill moves the pool by the amount that it received; differences are counted in tokens. */
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

interface SplashStep {
  readonly order: PlacedOrder;
  readonly to: PoolAmounts;
  /** Change of the pool's reserve, without the shares of treasury and royalty. */
  readonly lovelace: bigint;
  readonly tokens: bigint;
}

/**
 * The orders that a transaction executed on a pool of Splash. The executor trades with the pool
 * only once for these orders together. The datums say how much a buy pays and a sale brings. The
 * outputs say how much a sale was paid, except for the part of its fee that the executor kept; the
 * pool's change gives that part. null: the orders do not add up to the change.
 */
export function executedOnSplash(
  executed: readonly Executed[],
  before: PoolAmounts,
  after: PoolAmounts,
  fees: SplashFees,
): Sequence<SplashStep> | null {
  const paid = paidForSales(executed, before, after, fees);
  if (paid === null) return null;
  let best: SplashSequence | null = null;
  for (const compare of CANDIDATES) {
    const found = playSplash([...executed].sort(compare), before, fees);
    if (best === null || found.difference < best.difference) best = found;
    if (best.difference === 0n) break;
  }
  if (best === null) return null;
  const played = sumOfSales(best.steps);
  const paidLovelace = within(played, paid.least, paid.most);
  const steps = settled(best.steps, paidLovelace, fees);
  const last = steps?.at(-1);
  if (steps === null || last === undefined) return null;
  const isExact = best.difference === 0n && played === paidLovelace;
  return { steps: [...steps.slice(0, -1), { ...last, to: after }], isExact };
}

/** Lovelace from the least to the most. */
interface Bounds {
  readonly least: bigint;
  readonly most: bigint;
}

/** Lovelace that left the pool for all sales, by its reserves; null: the amounts do not add up. */
function paidForSales(
  executed: readonly Executed[],
  before: PoolAmounts,
  after: PoolAmounts,
  fees: SplashFees,
): Bounds | null {
  const sumOf = (side: 'buy' | 'sell', of: 'amount' | 'received') =>
    executed.reduce((sum, each) => sum + (each.order.side === side ? each[of] : 0n), 0n);
  const tokensIn = sumOf('sell', 'amount') - sumOf('buy', 'received');
  const [movedX, movedY] = [after.x - before.x, after.y - before.y];
  // Treasury and royalty earn of lovelace where lovelace come in on the whole, else of tokens.
  if (movedY !== (movedX > 0n ? tokensIn : keptOf(tokensIn, fees))) return null;
  const coinIn = inputKept(movedX, fees);
  if (coinIn === null) return null;
  const offered = sumOf('buy', 'amount');
  const [least, most] = [offered - coinIn.most, offered - coinIn.least];
  return most < 0n ? null : { least: least < 0n ? 0n : least, most };
}

/** The part of an input that stays in the reserves, without fees. Outputs leave them whole. */
function keptOf(amount: bigint, fees: SplashFees): bigint {
  if (amount <= 0n) return amount;
  const { treasury, royalty } = earnedOf(amount, fees);
  return amount - treasury - royalty;
}

/** Inputs of which `kept` stays; null: there is none. Two floors lose less than 2 units. */
function inputKept(kept: bigint, fees: SplashFees): Bounds | null {
  if (kept <= 0n) return { least: kept, most: kept };
  const per = 100_000n;
  const near = (kept * per) / (per - fees.treasuryFee - fees.royaltyFee);
  const found = [-3n, -2n, -1n, 0n, 1n, 2n]
    .map((off) => near + off)
    .filter((amount) => amount > 0n && keptOf(amount, fees) === kept);
  const [least] = found;
  const most = found.at(-1);
  return least === undefined || most === undefined ? null : { least, most };
}

interface Played {
  readonly executed: Executed;
  /** Before it. */
  readonly from: PoolAmounts;
  /** For a sale: the result of the pool's arithmetic, within the bounds that the outputs set. */
  readonly paidLovelace: bigint;
}

interface SplashSequence {
  readonly steps: readonly Played[];
  readonly difference: bigint;
}

function playSplash(
  sequence: readonly Executed[],
  before: PoolAmounts,
  fees: SplashFees,
): SplashSequence {
  let from = before;
  let difference = 0n;
  const steps = sequence.map((executed): Played => {
    const { order, amount, received } = executed;
    const isBuy = order.side === 'buy';
    const [reserveIn, reserveOut] = isBuy ? [from.x, from.y] : [from.y, from.x];
    const isPool = reserveIn > 0n && reserveOut > 0n;
    const expected = isPool ? splashOut(amount, reserveIn, reserveOut, fees) : 0n;
    const paidLovelace = isBuy ? 0n : within(expected, minPaid(executed), received);
    const off = distance(expected, isBuy ? received : paidLovelace);
    difference += isBuy || received <= 0n ? off : ceilDivide(off * amount, received);
    const step = { executed, from, paidLovelace };
    from = afterPlayed(step, fees);
    return step;
  });
  return { steps, difference };
}

function afterPlayed({ executed, from, paidLovelace }: Played, fees: SplashFees): PoolAmounts {
  const { order, amount, received } = executed;
  return order.side === 'buy'
    ? { ...from, x: from.x + keptOf(amount, fees), y: from.y - received }
    : { ...from, x: from.x - paidLovelace, y: from.y + keptOf(amount, fees) };
}

function minPaid({ received, feeLovelace }: Executed): bigint {
  return received > feeLovelace ? received - feeLovelace : 0n;
}

function within(value: bigint, least: bigint, most: bigint): bigint {
  if (value < least) return least;
  return value > most ? most : value;
}

function sumOfSales(steps: readonly Played[]): bigint {
  return steps.reduce((sum, { paidLovelace }) => sum + paidLovelace, 0n);
}

/** Fits the sales' payments to their known total: the last sales that can take it get the rest. */
function settled(
  played: readonly Played[],
  paidLovelace: bigint,
  fees: SplashFees,
): SplashStep[] | null {
  let missing = paidLovelace - sumOfSales(played);
  const steps: SplashStep[] = [];
  for (const step of [...played].reverse()) {
    const { order, amount, received } = step.executed;
    if (order.side === 'buy') {
      const [lovelace, to] = [keptOf(amount, fees), afterPlayed(step, fees)];
      steps.push({ order, to, lovelace, tokens: received });
      continue;
    }
    const paid = within(step.paidLovelace + missing, minPaid(step.executed), received);
    missing -= paid - step.paidLovelace;
    const to = afterPlayed({ ...step, paidLovelace: paid }, fees);
    steps.push({ order, to, lovelace: paid, tokens: keptOf(amount, fees) });
  }
  return missing === 0n ? steps.reverse() : null;
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
