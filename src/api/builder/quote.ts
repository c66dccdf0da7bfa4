/** Quotes: of one order, and of many at one state of all pools. */

import { refText } from '../../cardano/codec/output.ts';
import { lackingForFills, type PartialDeployment } from '../../cardano/datums/deployment.ts';
import { type NewestPool, newestPool } from '../../chain/newestPool.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import type { Slippage } from '../../engine/market/order.ts';
import { maxOutput, type Quote, quote, type Side } from '../../engine/market/quote.ts';
import { Failure, invalid, notReady } from '../../engine/runtime/errors.ts';
import { type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { itemError } from '../schemas/itemError.ts';
import { QuoteAnswer, QuoteQuery, QuotesAnswer, QuotesBody } from './schema.ts';
import { BUILDS, type TxBuildContext } from './txBuildContext.ts';
import { orderValidity, refuseTtl, validityOf } from './validity.ts';

export const QUOTE_CAUSES = [
  { cause: 'ASSET_NOT_FOUND', status: 500 },
  'MIN_TRADE_AMOUNT',
  'MAX_TRADE_AMOUNT',
  'PRICE_MOVED',
  'PROTOCOL_CONFIG',
  'OPERATIONS_CONFIG',
  'UNKNOWN',
];

interface QuoteTerms {
  readonly assetId: string;
  readonly amount: string;
  readonly side: Side;
  readonly slippage: Slippage;
  readonly minOutput?: string | undefined;
  /** Seconds; `minOutput` may be more than the quote. */
  readonly waitFor?: number | undefined;
  readonly ttl?: number | undefined;
}

export interface FoundQuote {
  readonly quote: Quote;
  readonly pool: NewestPool;
  /** The fees of an order for that pool. */
  readonly fees: FeeParameters;
  /** Hash of the script that holds it. */
  readonly orderScript: string;
}

export function quoteRoutes(txContext: TxBuildContext): Route[] {
  return [
    route({
      ...BUILDS,
      method: 'GET',
      rate: 'read',
      path: '/quote',
      operationId: 'quote',
      summary: 'The amount that an order would get now',
      query: QuoteQuery,
      answers: { 200: { description: 'The quote', schema: QuoteAnswer } },
      causes: QUOTE_CAUSES,
      handle: ({ query }) => quoteOnly(txContext, query),
    }),
    route({
      ...BUILDS,
      path: '/quotes',
      operationId: 'quotes',
      summary: 'The amounts that many orders would get now, each alone',
      description:
        'All at one state of the pools, in the order asked. A quote that cannot be given is an ' +
        '`error` in its place, and the others are answered. Costs as many builds as there are ' +
        'quotes: the next build waits for them.',
      exclusive: false,
      body: QuotesBody,
      maxBodyBytes: LIST_BODY_BYTES,
      cost: ({ body }) => body.length,
      answers: { 200: { description: 'The quotes', schema: QuotesAnswer } },
      handle: ({ body }) => manyQuotes(txContext, body),
    }),
  ];
}

async function quoteOnly(txContext: TxBuildContext, terms: QuoteTerms): Promise<Answer | Failure> {
  const found = await quoteFor(txContext, terms, 'query');
  if (found instanceof Failure) return found;
  const times = orderTimes(txContext, found.pool, terms, txContext.clock.nowMs());
  return jsonAnswer(quoteView(found, terms, times));
}

async function manyQuotes(
  txContext: TxBuildContext,
  terms: readonly QuoteTerms[],
): Promise<Answer | Failure> {
  const coin = terms.findIndex(({ assetId }) => assetId === '.');
  if (coin >= 0) return noToken(`body.${coin}`);
  for (const [index, { ttl }] of terms.entries()) {
    const refused = refuseTtl(ttl, `body.${index}`);
    if (refused !== null) return refused;
  }
  const pools = await poolsAtOnce(
    txContext,
    terms.map(({ assetId }) => assetId.toLowerCase()),
  );
  if (pools instanceof Failure) return pools;
  const nowMs = txContext.clock.nowMs();
  const answers = terms.map((each, index) => {
    const place = `body.${index}`;
    const pool = pools.get(each.assetId.toLowerCase()) ?? unknownPool(each.assetId);
    const found = pool instanceof Failure ? pool : quoteOn(txContext, pool, each, place);
    if (found instanceof Failure) return itemError(found, place);
    return quoteView(found, each, orderTimes(txContext, found.pool, each, nowMs));
  });
  return jsonAnswer(answers);
}

type Pools = ReadonlyMap<AssetId, NewestPool | Failure>;

/** A pool moves with each block and each pending batch, so one more reading is rarely needed. */
const MAX_READINGS = 10;

/**
 * Pools as they all were at one moment: read until two readings are alike. A pool that has moved is
 * another output, so between two readings that are alike all pools stood as they say.
 */
async function poolsAtOnce(
  txContext: TxBuildContext,
  tokens: readonly AssetId[],
): Promise<Pools | Failure> {
  const distinct = [...new Set(tokens)];
  const read = async (): Promise<Pools> => {
    const pool = async (token: AssetId) => [token, await poolOf(txContext, token)] as const;
    return new Map(await Promise.all(distinct.map(pool)));
  };
  let before = await read();
  for (let readings = 1; readings < MAX_READINGS; readings += 1) {
    const now = await read();
    if (distinct.every((token) => placeOf(now, token) === placeOf(before, token))) return now;
    before = now;
  }
  return notReady('the pools move too fast to be quoted at one state: try again, or ask for fewer');
}

function placeOf(pools: Pools, token: AssetId): string {
  const pool = pools.get(token);
  if (pool === undefined || pool instanceof Failure) return pool?.cause ?? '';
  return refText(pool.ref);
}

export async function quoteFor(
  txContext: TxBuildContext,
  terms: QuoteTerms,
  place: string,
): Promise<FoundQuote | Failure> {
  const refused = terms.assetId === '.' ? noToken(place) : refuseTtl(terms.ttl, place);
  if (refused !== null) return refused;
  const pool = await poolOf(txContext, terms.assetId);
  return pool instanceof Failure ? pool : quoteOn(txContext, pool, terms, place);
}

function noToken(place: string): Failure {
  return invalid(`${place}.assetId`, 'Name the token; ADA is its quote.');
}

async function poolOf(
  { partialDeployment, utxos, store }: TxBuildContext,
  assetId: string,
): Promise<NewestPool | Failure> {
  const token = assetId.toLowerCase();
  const pool = await newestPool(token, store(), utxos, partialDeployment);
  if (pool !== null) return pool;
  return hasLeft(token, store(), partialDeployment) ? unreadableAmm(assetId) : unknownPool(assetId);
}

function quoteOn(
  { partialDeployment }: TxBuildContext,
  pool: NewestPool,
  { side, amount, slippage, ...bound }: QuoteTerms,
  place: string,
): FoundQuote | Failure {
  const minOutput = bound.minOutput === undefined ? undefined : BigInt(bound.minOutput);
  const terms = { side, amount: BigInt(amount), slippage, minOutput };
  const charged = chargedOn(pool, partialDeployment);
  if (charged instanceof Failure) return charged;
  const { fees } = charged;
  const most = maxOutput(pool.state, side);
  if (minOutput !== undefined && minOutput > most) {
    const what = side === 'SELL' ? `${most} lovelace` : `${most} tokens`;
    const message = `No pool can ever give more than ${what}, so this order would never be filled.`;
    return invalid(`${place}.minOutput`, `${message} Ask for less.`);
  }
  const found = quote(pool.state, fees, terms);
  if (found.outcome === 'refused') return new Failure(found.cause, found.message);
  const { outputAmount } = found.exchange;
  if (minOutput !== undefined && minOutput > outputAmount && bound.waitFor === undefined) {
    if (side === 'BUY_WITH_OUTPUT') {
      return invalid(`${place}.minOutput`, 'BUY_WITH_OUTPUT names the least output as `amount`.');
    }
    const now = `The pool gives ${outputAmount} now, less than the ${minOutput} asked for`;
    return new Failure('PRICE_MOVED', `${now}: quote again, or let it wait (waitFor).`);
  }
  return refuseWait(partialDeployment, pool, bound, place) ?? { quote: found, pool, ...charged };
}

/** Where an owner cannot cancel before a refund is due, an order waits no longer than others. */
function refuseWait(
  { network, refundAfterMs }: PartialDeployment,
  pool: NewestPool,
  { waitFor = 0 }: Pick<QuoteTerms, 'waitFor'>,
  place: string,
): Failure | null {
  const most = Math.floor(refundAfterMs / 1000);
  if (network !== 'mainnet' || isSplash(pool) || waitFor <= most) return null;
  const why = 'on mainnet an order on the curve cannot be cancelled while it waits';
  return invalid(`${place}.waitFor`, `At most ${most} seconds: ${why}.`);
}

/** Orders for a pool of Splash are of that protocol, and pay its executor. */
function chargedOn(
  pool: NewestPool,
  deployment: PartialDeployment,
): Pick<FoundQuote, 'fees' | 'orderScript'> | Failure {
  const { fees, splashOrder, scripts } = deployment;
  if (!isSplash(pool)) {
    return earlierDeployment(deployment) ?? { fees, orderScript: scripts.order.hash };
  }
  if (splashOrder !== undefined && scripts.limitOrder != null) {
    const executorFeeLovelace = splashOrder.stepLovelace + splashOrder.feeLovelace;
    return { fees: { ...fees, executorFeeLovelace }, orderScript: scripts.limitOrder.hash };
  }
  const missing = [
    ...(splashOrder === undefined ? ['splashOrder'] : []),
    ...(scripts.limitOrder == null ? ['scripts.limitOrder'] : []),
  ];
  const what = `${pool.token} trades in a pool of Splash, whose orders this node cannot build`;
  return new Failure('PROTOCOL_CONFIG', `${what}: its deployment lacks ${missing.join(' and ')}.`);
}

/** An order of an earlier version's layout would lie there until it is refunded. */
function earlierDeployment(deployment: PartialDeployment): Failure | null {
  const lacking = lackingForFills(deployment);
  if (lacking.length === 0) return null;
  const what =
    'the deployment of this node is of an earlier version, whose orders no executor fills';
  const remedy = 'deploy again, or trade with the version that made it; open orders are cancelled';
  const message = `${what} (its file lacks ${lacking.join(' and ')}): ${remedy} here`;
  return new Failure('PROTOCOL_CONFIG', message);
}

function isSplash({ state }: Pick<NewestPool, 'state'>): boolean {
  return state.venue === 'AMM' && state.splash !== undefined;
}

/** Whether the pool has left the curve for an AMM whose layout this node does not know. */
function hasLeft(token: AssetId, store: StateStore, { scripts }: PartialDeployment): boolean {
  const text = store.get('pools', token);
  if (text === null || scripts.ammPool !== null) return false;
  return readRecord<PoolRecord>(text).graduatedMs !== null;
}

function unreadableAmm(assetId: string): Failure {
  const what = `${assetId} has left the curve for an AMM that this node cannot read`;
  return new Failure('PROTOCOL_CONFIG', `${what}: trade it there.`);
}

function unknownPool(assetId: string): Failure {
  const message = `No pool of ${assetId} is known here. Check the id, or wait for its block.`;
  return new Failure('ASSET_NOT_FOUND', message, { status: 500 });
}

interface OrderTimes {
  readonly expiresAt: number;
  readonly validUntil: number | null;
}

/** So long after it was built an order may be refunded. */
export function waitMsOf(
  { refundAfterMs }: Pick<PartialDeployment, 'refundAfterMs'>,
  { waitFor }: Pick<QuoteTerms, 'waitFor'>,
): number {
  return waitFor === undefined ? refundAfterMs : waitFor * 1000;
}

/** Times of an order that is built now; one for a pool of Splash is never refunded. */
function orderTimes(
  { slots, partialDeployment }: TxBuildContext,
  pool: NewestPool,
  terms: QuoteTerms,
  nowMs: number,
): OrderTimes {
  const { ttl } = terms;
  if (isSplash(pool)) {
    return { expiresAt: 0, validUntil: validityOf(slots, nowMs, ttl).validUntil };
  }
  const waitMs = waitMsOf(partialDeployment, terms);
  const { validUntil } = orderValidity(slots, nowMs, waitMs, ttl);
  return { expiresAt: nowMs + waitMs, validUntil };
}

export function quoteView(
  found: FoundQuote,
  { assetId }: QuoteTerms,
  { expiresAt, validUntil }: OrderTimes,
) {
  const { exchange, price, worstPrice, minimumOutput, venue } = found.quote;
  const token = assetId.toLowerCase();
  const isBuy = exchange.kind === 'buy';
  const { percentFee, platform, creator } = exchange.shares;
  const { executorFeeLovelace, orderDepositLovelace } = found.fees;
  return {
    price: fractionText(price),
    pool: refText(found.pool.ref),
    priceQuote: '.',
    priceBase: token,
    outputAmount: String(exchange.outputAmount),
    inputAmount: String(exchange.inputAmount),
    orderScript: found.orderScript,
    outputAsset: isBuy ? token : '.',
    inputAsset: isBuy ? '.' : token,
    worstPrice: fractionText(worstPrice),
    minimumOutput: String(minimumOutput),
    expiresAt,
    validUntil,
    fees: {
      percentFee: String(percentFee),
      platform: String(platform),
      creator: String(creator),
      executorFee: String(executorFeeLovelace),
      deposit: String(orderDepositLovelace),
    },
    venue,
  };
}

function fractionText({ numerator, denominator }: { numerator: bigint; denominator: bigint }) {
  return { numerator: String(numerator), denominator: String(denominator) };
}
