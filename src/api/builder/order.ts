/** The transactions that place orders. */

import type { Address } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import type { OutputRef, Utxo } from '../../cardano/codec/output.ts';
import { beacon } from '../../cardano/datums/datums.ts';
import { ORDER_OUTPUT, planOrder, planSplashOrder } from '../../cardano/transactions/order.ts';
import type { TransactionPlan } from '../../cardano/transactions/plan.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { OUTPUTS_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { builtBefore } from './builtBefore.ts';
import { type FoundQuote, QUOTE_CAUSES, quoteFor, quoteView, waitMsOf } from './quote.ts';
import { OrderAnswer, OrderBody } from './schema.ts';
import {
  BUILDS,
  build,
  parseNamedUtxos,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from './txBuildContext.ts';
import { orderValidity, type Validity, validityOf, within } from './validity.ts';

export function orderRoutes(txContext: TxBuildContext): Route[] {
  return [
    route({
      ...BUILDS,
      path: '/order',
      operationId: 'order',
      summary: 'Build the transaction that places an order',
      description:
        'The venue is chosen by the state of the pool, waiting transactions included. With no ' +
        'one in between, the fill pays exactly `outputAmount`; if that is less than ' +
        '`minOutput`, the order waits with `waitFor` and is refused with `PRICE_MOVED` without. ' +
        'Before you sign, compare the datum in the bytes with the quote that you saw. That does ' +
        'not protect against a server that lies in its quotes, too: only a limit of your own, or ' +
        'another node, does.',
      body: OrderBody,
      maxBodyBytes: OUTPUTS_BODY_BYTES,
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
  const cannot = txContext.cannotRunScripts();
  if (cannot !== null) return cannot;
  const wallet = await walletUtxos(txContext, owner, terms.utxos);
  if (wallet instanceof Failure) return wallet;
  const { plan, expiresAt, validity, beaconOf } = planned(txContext, quoted, owner, terms, wallet);
  const built = await build(txContext, within(plan, validity), 'UNKNOWN');
  if (built instanceof Failure) return built;
  const { validUntil } = validity;
  return jsonAnswer({
    id: built.id,
    cbor: toHex(built.bytes),
    beacon: beaconOf(built.inputs.map(({ ref }) => ref)),
    ...quoteView(quoted, terms, { expiresAt, validUntil }),
    txHash: built.id,
    entityId: `${built.id}:${ORDER_OUTPUT}`,
    networkFee: String(built.feeLovelace),
  });
}

interface Planned {
  readonly plan: TransactionPlan;
  readonly expiresAt: number;
  readonly validity: Validity;
  /** The beacon follows from the transaction's inputs. */
  beaconOf(inputs: readonly OutputRef[]): string;
}

/** Plans an order of the deployment, or for a pool of Splash an order of that protocol. */
function planned(
  { partialDeployment, slots, clock }: TxBuildContext,
  { pool, quote }: FoundQuote,
  owner: Address,
  terms: OrderBody,
  wallet: readonly Utxo[],
): Planned {
  const { kind, inputAmount } = quote.exchange;
  const { worstPrice } = quote;
  const request = { owner, token: pool.token, kind, inputAmount, worstPrice };
  const nowMs = clock.nowMs();
  if (pool.executor === null) {
    const { splashOrder, scripts } = partialDeployment;
    const script = scripts.limitOrder;
    assert(splashOrder !== undefined && script != null, 'a quote was given');
    const found = planSplashOrder(partialDeployment, splashOrder, script.hash, request, wallet);
    const validity = validityOf(slots, nowMs, terms.ttl);
    return { plan: found.plan, expiresAt: 0, validity, beaconOf: () => found.beacon };
  }
  const { nft: poolNft } = pool;
  const { settings, executorKeyHash } = partialDeployment;
  const executor = settings === undefined ? pool.executor : (executorKeyHash ?? pool.executor);
  const refundAfterMs = waitMsOf(partialDeployment, terms);
  const deployment = { ...partialDeployment, refundAfterMs };
  const found = planOrder(deployment, { ...request, poolNft, executor }, wallet, nowMs);
  const validity = orderValidity(slots, nowMs, refundAfterMs, terms.ttl);
  const { plan, expiresAtMs } = found;
  const beaconOf = (inputs: readonly OutputRef[]) => beacon(inputs, ORDER_OUTPUT);
  return { plan, expiresAt: expiresAtMs, validity, beaconOf };
}
