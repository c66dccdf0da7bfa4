/** The transactions that place orders. */

import { ORDER_OUTPUT, planOrder } from '../../cardano/build/order.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { beacon } from '../../cardano/datums/datums.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { builtBefore } from '../building/builtBefore.ts';
import {
  BUILDS,
  build,
  parseNamedUtxos,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from '../building/txBuildContext.ts';
import { orderValidity, within } from '../building/validity.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { QUOTE_CAUSES, quoteFor, quoteView } from './quote.ts';
import { OrderAnswer, OrderBody } from './schema.ts';

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
      causes: QUOTE_CAUSES,
      idempotency: {
        ...builtBefore(txContext),
        wallet: ({ body }) => body.changeAddress,
      },
      handle: ({ body }) => order(txContext, body),
    }),
  ];
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
  const { partialDeployment, slots } = txContext;
  const nowMs = txContext.clock.nowMs();
  const { plan, expiresAtMs } = planOrder(
    partialDeployment,
    { owner, token, executor, kind, inputAmount, worstPrice },
    wallet,
    nowMs,
  );
  const validity = orderValidity(slots, nowMs, partialDeployment.refundAfterMs, terms.ttl);
  const built = await build(txContext, within(plan, validity), 'UNKNOWN');
  if (built instanceof Failure) return built;
  const inputs = built.inputs.map(({ ref }) => ref);
  return jsonAnswer({
    id: built.id,
    cbor: toHex(built.bytes),
    beacon: beacon(inputs, ORDER_OUTPUT),
    ...quoteView(txContext, terms, quoted.quote, {
      expiresAt: expiresAtMs,
      validUntil: validity.validUntil,
    }),
    txHash: built.id,
    entityId: `${built.id}:${ORDER_OUTPUT}`,
    networkFee: String(built.feeLovelace),
  });
}
