/**
 * `refund`: gives orders that are due back to their owners, through Ogmios and Kupo, without a
 * server and without the executor: where its key is lost, no money is.
 */

import { formatAddress } from '../../cardano/codec/address.ts';
import { fromHex } from '../../cardano/codec/hex.ts';
import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import { slotStartMs, timeText } from '../../cardano/codec/slots.ts';
import type { PartialDeployment } from '../../cardano/datums/deployment.ts';
import type { Key } from '../../cardano/keys/keys.ts';
import { assemble } from '../../cardano/transactions/assemble.ts';
import {
  lookUpReferences,
  scriptWithReference,
  walletCollateral,
} from '../../cardano/transactions/chainData.ts';
import { heldOrder, planRefund } from '../../cardano/transactions/order.ts';
import { addWitnesses } from '../../cardano/transactions/witness.ts';
import { keyAddress } from '../../cardano/validators/deploy.ts';
import { formatUnits } from '../../engine/market/decimal.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { RefundCommand } from './commands/refund.ts';
import { deploymentOn, keyFrom } from './namedDeployment.ts';
import {
  type NodeAccess,
  type NodeCommandDeps,
  scriptsOf,
  waitForBlock,
  withNode,
} from './nodeAccess.ts';

/** Returns the exit code. Throws with a remedy if it cannot continue. */
export async function runRefund(command: RefundCommand, appDeps: NodeCommandDeps): Promise<number> {
  const { network, key, isDryRun } = command;
  const { partial } = deploymentOn(network, appDeps);
  if (partial === null) {
    throw new Error('nothing is deployed as far as is known: set DEPLOYMENT_FILE to the file');
  }
  const payer = keyFrom(key, appDeps);
  return withNode(appDeps, async (place) => {
    const due = await dueOrders(command.order, partial, place);
    if (due.length === 0) place.say('No order is due.');
    const refused = await refundEach(due, { partial, payer, isDryRun }, place);
    if (isDryRun) place.say('Nothing was sent: this was a dry run.');
    if (refused === 0) return 0;
    place.say(
      `${refused} of ${counted(due.length, 'order')} cannot be given back: the lines above say why`,
    );
    return 1;
  });
}

/** Refunds one order after another; a refused one does not stop the others. Returns refusals. */
async function refundEach(
  orders: readonly Utxo[],
  params: RefundParams,
  place: NodeAccess,
): Promise<number> {
  let refused = 0;
  for (const order of orders) {
    const why = await refund(order, params, place);
    if (why === null) continue;
    refused += 1;
    place.say(`${titleOf(order)}: ${why}`);
  }
  return refused;
}

/** The named order, or every order that may be refunded by the time of the newest block. */
async function dueOrders(
  named: OutputRef | null,
  deployment: PartialDeployment,
  { utxos, slots, tip }: NodeAccess,
): Promise<readonly Utxo[]> {
  const newest = await tip();
  const nowMs = slotStartMs(slots, newest?.slot ?? slots.zeroSlot);
  const all = await utxos.byPaymentKey(deployment.scripts.order.hash, 'spendable');
  const dueMs = (utxo: Utxo) => {
    const held = heldOrder(deployment, utxo);
    return held instanceof Failure ? null : held.afterMs;
  };
  if (named === null) {
    return all.filter((utxo) => (dueMs(utxo) ?? BigInt(nowMs) + 1n) <= BigInt(nowMs));
  }
  const found = all.find(({ ref }) => refText(ref) === refText(named));
  const afterMs = found === undefined ? null : dueMs(found);
  if (found === undefined || afterMs === null) {
    throw new Error(
      `${refText(named)} is no open order: it was filled or given back, or never was`,
    );
  }
  if (afterMs > BigInt(nowMs)) {
    const why = `${refText(named)} is due at ${timeText(afterMs)}`;
    throw new Error(`${why}: until then only its owner takes it back, with cancel`);
  }
  return [found];
}

interface RefundParams {
  readonly partial: PartialDeployment;
  readonly payer: Key;
  readonly isDryRun: boolean;
}

/** Returns why it is refused; null: it is in a block. Throws where no other could be given back. */
async function refund(
  order: Utxo,
  { partial, payer, isDryRun }: RefundParams,
  place: NodeAccess,
): Promise<string | null> {
  const { utxos, submitter, parameters, slots, say } = place;
  const script = succeeded(scriptWithReference(partial, 'order'));
  const references = succeeded(await lookUpReferences(utxos, [script]));
  const wallet = await utxos.byPaymentKey(payer.hash, 'spendable');
  const collateral = walletCollateral(wallet, keyAddress(payer.hash));
  if (collateral === null) {
    throw new Error(`the key has no output as collateral: send 5 ADA to ${keyAddress(payer.hash)}`);
  }
  const plan = planRefund(partial, order, { references, collateral, slots });
  if (plan instanceof Failure) return plan.message;
  const built = assemble(plan, {
    parameters,
    evaluate: scriptsOf(place),
  });
  if (built.outcome === 'refused') return `it cannot be built: ${built.message}`;
  const held = succeeded(heldOrder(partial, order));
  const title = titleOf(order);
  const left = formatUnits(order.output.value.lovelace - built.feeLovelace, 6);
  say(`${title}: ${left} ADA and its tokens to ${formatAddress(held.redeemer)}`);
  if (isDryRun) return null;
  const signature = payer.sign(fromHex(built.id));
  const { publicKey } = payer;
  const outcome = await submitter.submit(addWitnesses(built.bytes, [{ publicKey, signature }]));
  if (outcome.outcome === 'refused') {
    return `the network refused it (${outcome.reason}): ${outcome.message}`;
  }
  await waitForBlock(place, title, async () => {
    const back = await utxos.byPaymentKey(held.redeemer.payment.hash, 'spendable');
    return back.some(({ ref }) => ref.txHash === built.id);
  });
  return null;
}

function titleOf({ ref }: Utxo): string {
  return `Refund of ${refText(ref)}`;
}

function succeeded<T>(result: T | Failure): T {
  if (result instanceof Failure) throw new Error(result.message);
  return result;
}
