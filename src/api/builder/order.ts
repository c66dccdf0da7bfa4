/** Quotes, and the transactions that place orders. */

import { ORDER_OUTPUT, planOrder } from '../../cardano/build/order.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { beacon } from '../../cardano/datums/datums.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import { type NewestPool, newestPool } from '../../chain/newestPool.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { Slippage } from '../../engine/market/order.ts';
import { type Quote, quote, type Side } from '../../engine/market/quote.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import {
  BUILDS,
  build,
  parseNamedUtxos,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from '../building/txBuildContext.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { OrderAnswer, OrderBody, QuoteAnswer, QuoteQuery } from './schema.ts';

const CAUSES = [
  { cause: 'ASSET_NOT_FOUND', status: 500 },
  'MIN_TRADE_AMOUNT',
  'MAX_TRADE_AMOUNT',
  'PROTOCOL_CONFIG',
  'OPERATIONS_CONFIG',
  'UNKNOWN',
];

interface OrderTerms {
  readonly assetId: string;
  readonly amount: string;
  readonly side: Side;
  readonly slippage: Slippage;
}

export function orderRoutes(txContext: TxBuildContext): Route[] {
  return [
    route({
      ...BUILDS,
      path: '/order',
      operationId: 'order',
      summary: 'Build the transaction that places an order',
      description:
        'The venue is chosen by the state of the pool, waiting transactions included. With no ' +
        'one in between, `outputAmount` is exactly what the fill pays.',
      body: OrderBody,
      answers: { 200: { description: 'Sign and submit it', schema: OrderAnswer } },
      causes: CAUSES,
      handle: ({ body }) => order(txContext, body),
    }),
    route({
      ...BUILDS,
      method: 'GET',
      rate: 'read',
      path: '/quote',
      operationId: 'quote',
      summary: 'What an order would get now',
      query: QuoteQuery,
      answers: { 200: { description: 'The quote', schema: QuoteAnswer } },
      causes: CAUSES,
      handle: ({ query }) => quoteOnly(txContext, query),
    }),
  ];
}

async function quoteOnly(txContext: TxBuildContext, terms: OrderTerms): Promise<Answer | Failure> {
  const found = await quoteFor(txContext, terms, 'query');
  if (found instanceof Failure) return found;
  const expiresAt = txContext.clock.nowMs() + txContext.partialDeployment.refundAfterMs;
  return jsonAnswer(quoteView(txContext, terms, found.quote, expiresAt));
}

async function order(txContext: TxBuildContext, terms: OrderBody): Promise<Answer | Failure> {
  const owner = readAddress(txContext, terms.changeAddress, 'body.changeAddress');
  if (owner instanceof Failure) return owner;
  const named = parseNamedUtxos(terms.utxos, 'body.utxos');
  if (named instanceof Failure) return named;
  const quoted = await quoteFor(txContext, terms, 'body');
  if (quoted instanceof Failure) return quoted;
  const wallet = await walletUtxos(txContext, owner, terms.utxos);
  if (wallet instanceof Failure) return wallet;
  const { executor } = quoted.pool;
  const { worstPrice, exchange } = quoted.quote;
  const { kind, inputAmount } = exchange;
  const token = terms.assetId.toLowerCase();
  const { plan, expiresAtMs } = planOrder(
    txContext.partialDeployment,
    { owner, token, executor, kind, inputAmount, worstPrice },
    wallet,
    txContext.clock.nowMs(),
  );
  const built = await build(txContext, plan, 'UNKNOWN');
  if (built instanceof Failure) return built;
  const inputs = built.inputs.map(({ ref }) => ref);
  return jsonAnswer({
    id: built.id,
    cbor: toHex(built.bytes),
    beacon: beacon(inputs, ORDER_OUTPUT),
    ...quoteView(txContext, terms, quoted.quote, expiresAtMs),
    txHash: built.id,
    entityId: `${built.id}:${ORDER_OUTPUT}`,
    networkFee: String(built.feeLovelace),
  });
}

async function quoteFor(
  { partialDeployment, utxos, store }: TxBuildContext,
  { assetId, amount, side, slippage }: OrderTerms,
  place: string,
): Promise<{ readonly quote: Quote; readonly pool: NewestPool } | Failure> {
  if (assetId === '.') return invalid(`${place}.assetId`, 'Name the token; ADA is its quote.');
  const token = assetId.toLowerCase();
  const pool = await newestPool(token, store(), utxos, partialDeployment);
  if (pool === null)
    return hasLeft(token, store(), partialDeployment)
      ? unreadableAmm(assetId)
      : unknownPool(assetId);
  const found = quote(pool.state, partialDeployment.fees, {
    side,
    amount: BigInt(amount),
    slippage,
  });
  if (found.outcome === 'refused') return new Failure(found.cause, found.message);
  return { quote: found, pool };
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

function quoteView(
  { partialDeployment }: TxBuildContext,
  { assetId }: OrderTerms,
  { exchange, price, worstPrice, minimumOutput, venue }: Quote,
  expiresAt: number,
) {
  const token = assetId.toLowerCase();
  const isBuy = exchange.kind === 'buy';
  const { percentFee, platform, creator } = exchange.shares;
  const { executorFeeLovelace, orderDepositLovelace } = partialDeployment.fees;
  return {
    price: fractionText(price),
    priceQuote: '.',
    priceBase: token,
    outputAmount: String(exchange.outputAmount),
    inputAmount: String(exchange.inputAmount),
    outputAsset: isBuy ? token : '.',
    inputAsset: isBuy ? '.' : token,
    worstPrice: fractionText(worstPrice),
    minimumOutput: String(minimumOutput),
    expiresAt,
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
