/** Cancels orders, sends a wallet's coins and tokens, and submits signed transactions. */

import { formatAddress } from '../../cardano/codec/address.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import { lookUpReferences, scriptWithReference } from '../../cardano/transactions/chainData.ts';
import { heldOrder, planCancel } from '../../cardano/transactions/order.ts';
import { planTransfer } from '../../cardano/transactions/transfer.ts';
import { mergeWitnesses } from '../../cardano/transactions/witness.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type OrderRecord, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { LIST_BODY_BYTES, OUTPUTS_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { builtBefore } from './builtBefore.ts';
import {
  CancelBody,
  PartialAnswer,
  SignBody,
  SignedAnswer,
  SubmitBody,
  SubmittedAnswer,
  TransferBody,
} from './schema.ts';
import {
  BUILDS,
  build,
  cborForCaller,
  chooseCollateral,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from './txBuildContext.ts';
import { refuseTtl, validityOf, within } from './validity.ts';

export function spendRoutes(txContext: TxBuildContext): Route[] {
  return [
    route({
      ...BUILDS,
      path: '/cancel',
      operationId: 'cancel',
      summary: 'Build the transaction that takes an open order back',
      body: CancelBody,
      maxBodyBytes: OUTPUTS_BODY_BYTES,
      answers: { 200: { description: 'Sign and submit it', schema: PartialAnswer } },
      causes: ['SERVER_ERROR', 'PROTOCOL_CONFIG', 'OPERATIONS_CONFIG'],
      idempotency: {
        ...builtBefore(txContext),
        wallet: ({ body }) => body.changeAddress,
      },
      handle: ({ body }) => cancel(txContext, body),
    }),
    route({
      ...BUILDS,
      path: '/transfer',
      operationId: 'transfer',
      summary: 'Build the transaction that sends coins and tokens',
      description: 'To one’s own address with `max` it consolidates a scattered wallet.',
      body: TransferBody,
      maxBodyBytes: OUTPUTS_BODY_BYTES,
      answers: { 200: { description: 'Sign and submit it', schema: PartialAnswer } },
      causes: ['SERVER_ERROR'],
      idempotency: {
        ...builtBefore(txContext),
        wallet: ({ body }) => body.changeAddress,
      },
      handle: ({ body }) => transfer(txContext, body),
    }),
  ];
}

async function cancel(
  txContext: TxBuildContext,
  { txHash, index, changeAddress, utxos, collaterals, ttl }: CancelBody,
): Promise<Answer | Failure> {
  const owner = readAddress(txContext, changeAddress, 'body.changeAddress');
  if (owner instanceof Failure) return owner;
  const refused = refuseTtl(ttl, 'body');
  if (refused !== null) return refused;
  const named = { txHash: txHash.toLowerCase(), index: Number(index) };
  const ref = newestOutput(txContext.store(), named);
  const wallet = await walletUtxos(txContext, owner, utxos);
  if (wallet instanceof Failure) return wallet;
  const collateral = await chooseCollateral(txContext, formatAddress(owner), collaterals, wallet);
  if (collateral instanceof Failure) return collateral;
  const [state] = await txContext.utxos.byRefs([ref]);
  if (state === undefined || state.state !== 'unspent') {
    const why = state?.state === 'spent' ? 'is spent: filled, refunded or cancelled' : 'is unknown';
    return new Failure('SERVER_ERROR', `order: ${ref.txHash}:${ref.index} ${why}`, {
      retry: false,
    });
  }
  const { partialDeployment, slots, clock } = txContext;
  const held = heldOrder(partialDeployment, state.utxo);
  if (held instanceof Failure) return held;
  const script = scriptWithReference(partialDeployment, held.script);
  if (script instanceof Failure) return script;
  const references = await lookUpReferences(txContext.utxos, [script]);
  if (references instanceof Failure) return references;
  const nowMs = clock.nowMs();
  const plan = planCancel(
    partialDeployment,
    { order: state.utxo, changeAddress: owner },
    { wallet, references, collateral: collateral.planned, slots },
    nowMs,
  );
  if (plan instanceof Failure) return plan;
  const validity = validityOf(slots, nowMs, ttl);
  const built = await build(txContext, within(plan, validity), 'SERVER_ERROR');
  if (built instanceof Failure) return built;
  const cbor = cborForCaller(txContext, built, collateral);
  if (cbor instanceof Failure) return cbor;
  const { validUntil } = validity;
  return jsonAnswer({ id: built.id, cbor, partial: collateral.isOurs, validUntil });
}

/** If parts of an order were executed, the rest is in another output. */
function newestOutput(store: StateStore, ref: OutputRef): OutputRef {
  const text = store.get('orders', refText(ref));
  const rest = text === null ? undefined : readRecord<OrderRecord>(text).rest;
  return (rest === undefined ? null : parseRef(rest.ref)) ?? ref;
}

async function transfer(
  txContext: TxBuildContext,
  { utxos, changeAddress, distAddress, transferAssets, ttl }: TransferBody,
): Promise<Answer | Failure> {
  const owner = readAddress(txContext, changeAddress, 'body.changeAddress');
  if (owner instanceof Failure) return owner;
  const to = readAddress(txContext, distAddress, 'body.distAddress');
  if (to instanceof Failure) return to;
  const refused = refuseTtl(ttl, 'body');
  if (refused !== null) return refused;
  const assets = assetsOf(transferAssets.assets ?? []);
  if (assets instanceof Failure) return assets;
  const wallet = await walletUtxos(txContext, owner, utxos);
  if (wallet instanceof Failure) return wallet;
  const lovelace = transferAssets.lovelace === 'max' ? 'max' : BigInt(transferAssets.lovelace);
  const request = { to, changeAddress: owner, lovelace, assets } as const;
  const plan = planTransfer(request, wallet, txContext.parameters());
  if (plan instanceof Failure) return plan;
  const validity = validityOf(txContext.slots, txContext.clock.nowMs(), ttl);
  const built = await build(txContext, within(plan, validity), 'SERVER_ERROR');
  if (built instanceof Failure) return built;
  const { validUntil } = validity;
  return jsonAnswer({ id: built.id, cbor: toHex(built.bytes), partial: false, validUntil });
}

function assetsOf(
  listed: readonly { readonly unit: string; readonly amount: string }[],
): Map<string, bigint> | Failure {
  const assets = new Map<string, bigint>();
  for (const [index, { unit, amount }] of listed.entries()) {
    const path = `body.transferAssets.assets.${index}`;
    const asset = unit.toLowerCase();
    if (asset === '.') return invalid(`${path}.unit`, 'ADA goes into `lovelace`.');
    if (BigInt(amount) === 0n) return invalid(`${path}.amount`, 'Send at least 1.');
    if (assets.has(asset)) return invalid(`${path}.unit`, 'This asset is listed twice.');
    assets.set(asset, BigInt(amount));
  }
  return assets;
}

/** Adds a caller's signatures to a transaction, and submits it. The server never signs here. */
export function submitRoutes(txContext: TxBuildContext): Route[] {
  const submitted = { 200: { description: 'Accepted', schema: SubmittedAnswer } };
  return [
    route({
      ...BUILDS,
      path: '/sign',
      operationId: 'sign',
      summary: 'Put the signatures of a witness set into a transaction',
      body: SignBody,
      maxBodyBytes: LIST_BODY_BYTES,
      answers: { 200: { description: 'With the signatures', schema: SignedAnswer } },
      causes: ['SERVER_ERROR'],
      handle({ body }) {
        const signed = sign(txContext, body);
        return signed instanceof Failure ? signed : jsonAnswer({ cbor: toHex(signed) });
      },
    }),
    route({
      ...BUILDS,
      path: '/sign-and-submit',
      operationId: 'signAndSubmit',
      summary: 'As `/sign`, then `/submit`',
      body: SignBody,
      maxBodyBytes: LIST_BODY_BYTES,
      answers: submitted,
      causes: ['SERVER_ERROR'],
      async handle({ body }) {
        const signed = sign(txContext, body);
        return signed instanceof Failure ? signed : submit(txContext, signed);
      },
    }),
    route({
      ...BUILDS,
      path: '/submit',
      operationId: 'submit',
      summary: 'Send a signed transaction',
      description:
        'A transaction that waits already, or is in a block, gets the same answer again.',
      body: SubmitBody,
      maxBodyBytes: LIST_BODY_BYTES,
      answers: submitted,
      causes: ['SERVER_ERROR'],
      handle: ({ body }) => submit(txContext, fromHex(body.cbor)),
    }),
  ];
}

function sign(
  txContext: TxBuildContext,
  { cbor, witness, changeAddress }: SignBody,
): Uint8Array | Failure {
  const owner = readAddress(txContext, changeAddress, 'body.changeAddress');
  return owner instanceof Failure ? owner : mergeWitnesses(fromHex(cbor), witness);
}

async function submit({ submitter }: TxBuildContext, bytes: Uint8Array): Promise<Answer | Failure> {
  const outcome = await submitter.submit(bytes);
  if (outcome instanceof Failure) return outcome;
  if (outcome.outcome === 'accepted') return jsonAnswer({ txHash: outcome.txHash });
  return new Failure('SERVER_ERROR', `submit: ${outcome.message}`, { reason: outcome.reason });
}
