/**
 * The executor's next transaction, with its fee paid: a batch of orders, a graduation, or a payout
 * to a creator. A step is plain data: inputs with their redeemers, and outputs. Input i (in the
 * ledger's order) is paired with output i, by which validators and followers read it. So a step has
 * all inputs; a builder that adds one breaks the pairing.
 *
 * Every step conserves value to the lovelace, which is asserted on each. Source: onchain.md,
 * sections Executor, Fees, Lifecycle and What each validator must enforce.
 */
import { compareRefs, type OutputRef } from '../../cardano/codec/output.ts';
import { addValues, coins, subtractValue, type Value } from '../../cardano/codec/value.ts';
import type { Step, StepOutput, StepRedeemer } from '../../cardano/transactions/paired.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { graduated, type PoolState, poolLovelace, reachedCap } from '../../engine/market/pool.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Batch, Fill, OpenOrder } from './matching.ts';

export interface FundedStep extends Step {
  readonly outcome: 'funded';
  readonly inputs: readonly (Step['inputs'][number] & { readonly value: Value })[];
}

/** The fee output would be below its minimum, and no funding output is large enough. */
export interface FundingNeeded {
  readonly outcome: 'funding needed';
  readonly missingLovelace: bigint;
}

/** A pure ADA output of the fee address, reserved for this pool. */
interface FundingUtxo {
  readonly ref: OutputRef;
  readonly lovelace: bigint;
}

/** An input and the output it is paired with. */
interface Pair {
  readonly ref: OutputRef;
  readonly value: Value;
  readonly redeemer: 'trade' | 'execute' | 'refund' | 'graduate' | 'collect' | null;
  readonly output: StepOutput;
}

/** A pool's newest output. */
export interface PoolOutput {
  readonly ref: OutputRef;
  readonly address: string;
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly state: PoolState;
}

export interface BatchRequest {
  readonly batch: Batch;
  readonly pool: PoolOutput;
  readonly fees: FeeParameters;
  readonly feeAddress: string;
  /** Measured on a built transaction; a first guess is corrected by planning again. */
  readonly networkFeeLovelace: bigint;
  /** The first that suffices is used, and only when one is needed. */
  readonly funding: readonly FundingUtxo[];
}

/**
 * Pairs each order with its payment or refund, and the pool with its successor. The fee output is
 * last, or paired with a funding output where the batch alone leaves it too little.
 */
export function batchStep(request: BatchRequest): FundedStep | FundingNeeded {
  const { batch, pool, fees, feeAddress, networkFeeLovelace, funding } = request;
  const own = [
    ...(batch.fills.length === 0 ? [] : [poolPair(pool, batch.next, fees)]),
    ...batch.fills.map((fill) => fillPair(fill, pool.token)),
    ...batch.refunds.map((order) => refundPair(order, fees)),
  ];
  const { validFromMs } = batch;
  const leftLovelace = batch.incomeLovelace - networkFeeLovelace;
  const missingLovelace = fees.feeOutputLeastLovelace - leftLovelace;
  if (missingLovelace <= 0n) {
    const rest = [feeOutput(feeAddress, leftLovelace)];
    return assemble({ pairs: own, rest, networkFeeLovelace, validFromMs });
  }
  const utxo = funding.find(({ lovelace }) => lovelace >= missingLovelace);
  if (utxo === undefined) return { outcome: 'funding needed', missingLovelace };
  const output = feeOutput(feeAddress, leftLovelace + utxo.lovelace);
  const pairs = [...own, fundingPair(utxo, output)];
  return assemble({ pairs, rest: [], networkFeeLovelace, validFromMs });
}

/** Value of the pool's output in `state`. */
function poolHolding({ nft, token }: PoolOutput, state: PoolState, fees: FeeParameters): Value {
  const assets = new Map([
    [nft, 1n],
    [token, state.y],
  ]);
  return { lovelace: poolLovelace(state, fees), assets };
}

function poolPair(pool: PoolOutput, next: PoolState, fees: FeeParameters): Pair {
  const { ref, address, state } = pool;
  const value = poolHolding(pool, next, fees);
  const output = { kind: 'pool', address, value } as const;
  return { ref, value: poolHolding(pool, state, fees), redeemer: 'trade', output };
}

/** The deposit is returned together with the bought tokens or the earned lovelace. */
function fillPair({ order, exchange }: Fill, token: AssetId): Pair {
  const { ref, value, depositLovelace, redeemerAddress: address } = order;
  const { kind, outputAmount } = exchange;
  const paid: Value =
    kind === 'buy'
      ? { lovelace: depositLovelace, assets: new Map([[token, outputAmount]]) }
      : coins(depositLovelace + outputAmount);
  const output = { kind: 'payment', address, value: paid } as const;
  return { ref, value, redeemer: 'execute', output };
}

function refundPair(order: OpenOrder, { refundFeeLovelace }: FeeParameters): Pair {
  const { ref, value, redeemerAddress: address } = order;
  const { lovelace, assets } = value;
  const paid = { lovelace: lovelace - refundFeeLovelace, assets };
  return { ref, value, redeemer: 'refund', output: { kind: 'refund', address, value: paid } };
}

interface PoolStepRequest {
  readonly pool: PoolOutput;
  readonly fees: FeeParameters;
  readonly feeAddress: string;
  readonly networkFeeLovelace: bigint;
  /** The first that suffices is used. */
  readonly funding: readonly FundingUtxo[];
}

/** Moves the pool's whole value to the AMM validator's address. */
export function graduationStep(
  request: PoolStepRequest,
  ammAddress: string,
): FundedStep | FundingNeeded {
  const { state } = request.pool;
  assert(state.venue === 'CURVE' && reachedCap(state), 'a curve at its cap graduates');
  return poolStep(request, 'graduate', ammAddress, graduated(state), []);
}

/** Pays `owed` to the creator, in an output that is paired with no input. */
export function collectStep(
  request: PoolStepRequest,
  creatorAddress: string,
): FundedStep | FundingNeeded {
  const { state, address } = request.pool;
  assert(state.venue === 'AMM' && state.owed > 0n, 'an AMM pool that owes is collected');
  const value = coins(state.owed);
  const payout: StepOutput = { kind: 'payout', address: creatorAddress, value };
  return poolStep(request, 'collect', address, { ...state, owed: 0n }, [payout]);
}

function poolStep(
  { pool, fees, feeAddress, networkFeeLovelace, funding }: PoolStepRequest,
  redeemer: 'graduate' | 'collect',
  address: string,
  next: PoolState,
  rest: readonly StepOutput[],
): FundedStep | FundingNeeded {
  const missingLovelace = fees.feeOutputLeastLovelace + networkFeeLovelace;
  const utxo = funding.find(({ lovelace }) => lovelace >= missingLovelace);
  if (utxo === undefined) return { outcome: 'funding needed', missingLovelace };
  const output: StepOutput = { kind: 'pool', address, value: poolHolding(pool, next, fees) };
  const value = poolHolding(pool, pool.state, fees);
  const pairs = [
    { ref: pool.ref, value, redeemer, output },
    fundingPair(utxo, feeOutput(feeAddress, utxo.lovelace - networkFeeLovelace)),
  ];
  return assemble({ pairs, rest, networkFeeLovelace, validFromMs: null });
}

interface Assembly {
  readonly pairs: readonly Pair[];
  /** Outputs without an input of their own. */
  readonly rest: readonly StepOutput[];
  readonly networkFeeLovelace: bigint;
  readonly validFromMs: bigint | null;
}

/** Sorts the inputs as the ledger does and puts every output across from its input. */
function assemble({ pairs, rest, networkFeeLovelace, validFromMs }: Assembly): FundedStep {
  const sorted = pairs.toSorted((a, b) => compareRefs(a.ref, b.ref));
  const places = new Map(sorted.map((pair, index) => [pair, index]));
  const inputs = sorted.map((pair, index) => {
    const { ref, value } = pair;
    assert(
      index === 0 || compareRefs(sorted[index - 1]?.ref ?? ref, ref) < 0,
      'no input is spent twice',
    );
    return { ref, value, redeemer: redeemerOf(pair, pairs, places) };
  });
  const outputs = [...sorted.map(({ output }) => output), ...rest];
  const step: FundedStep = { outcome: 'funded', inputs, outputs, networkFeeLovelace, validFromMs };
  assertConserved(step);
  return step;
}

/** `pairs` in the order in which their orders are executed, `places` where the ledger puts them. */
function redeemerOf(
  pair: Pair,
  pairs: readonly Pair[],
  places: ReadonlyMap<Pair, number>,
): StepRedeemer | null {
  const placesOf = (kind: StepRedeemer['kind']) =>
    pairs.filter(({ redeemer }) => redeemer === kind).map((each) => places.get(each) ?? -1);
  const { redeemer: kind } = pair;
  const index = places.get(pair) ?? -1;
  switch (kind) {
    case null:
      return null;
    case 'trade':
      return { kind, index, orders: placesOf('execute') };
    case 'execute':
      return { kind, index, pool: placesOf('trade')[0] ?? -1 };
    case 'collect':
      return { kind, index, payout: pairs.length };
    case 'refund':
    case 'graduate':
      return { kind, index };
  }
}

function assertConserved({ inputs, outputs, networkFeeLovelace }: FundedStep): void {
  const spent = addValues(...inputs.map(({ value }) => value));
  const paid = addValues(coins(networkFeeLovelace), ...outputs.map(({ value }) => value));
  const { lovelace, assets } = subtractValue(spent, paid);
  assert(lovelace === 0n, `inputs are outputs and network fee, not ${lovelace} lovelace off`);
  for (const [asset, amount] of assets) assert(amount === 0n, `${asset} is off by ${amount}`);
}

function feeOutput(address: string, lovelace: bigint): StepOutput {
  return { kind: 'fee', address, value: coins(lovelace) };
}

function fundingPair({ ref, lovelace }: FundingUtxo, output: StepOutput): Pair {
  return { ref, value: coins(lovelace), redeemer: null, output };
}
