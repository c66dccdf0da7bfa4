/**
 * Token locks (protocol.md section 5): builds the transactions that lock and withdraw, and lists
 * the locks of an owner or a token.
 */
import Type from 'typebox';
import { formatAddress } from '../../cardano/codec/address.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { type OutputRef, parseRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import { lookUpReferences, scriptWithReference } from '../../cardano/transactions/chainData.ts';
import { type LockDeployment, planLock, planWithdraw } from '../../cardano/transactions/lock.ts';
import { type Cause, Failure, invalid } from '../../engine/runtime/errors.ts';
import { LAST_DATE_MS, MAX_STAGES } from '../../engine/runtime/limits.ts';
import { type LockRecord, readRecord } from '../../engine/store/records.ts';
import { builtBefore } from '../builder/builtBefore.ts';
import {
  BUILDS,
  build,
  cborForCaller,
  chooseCollateral,
  readAddress,
  type TxBuildContext,
  walletUtxos,
} from '../builder/txBuildContext.ts';
import { refuseTtl, Ttl, ValidUntil, validityOf, within } from '../builder/validity.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { AddressText, AssetIdShape, KeyHash, OutputId } from '../schemas/identifiers.ts';
import { LockRow, locksOfOwner, locksOfToken } from '../schemas/locks.ts';
import type { SlicedReads, Steps } from '../schemas/slicedReads.ts';

const LockBody = Type.Object({
  address: AddressText,
  assetId: AssetIdShape,
  amount: Type.String({ pattern: '^[0-9]+$', maxLength: 30, description: 'Tokens in all.' }),
  lockEnd: Type.Number({ description: 'Unix ms at which the last stage unlocks.' }),
  stagesCount: Type.Integer({ minimum: 1, maximum: MAX_STAGES }),
  ttl: Ttl,
});
type LockBody = Type.Static<typeof LockBody>;
const WithdrawBody = Type.Object({ id: OutputId, address: AddressText, ttl: Ttl });
type WithdrawBody = Type.Static<typeof WithdrawBody>;
const Unsigned = Type.Object({
  cbor: Type.String({ description: 'Hex.' }),
  validUntil: ValidUntil,
});

const BUILD = { ...BUILDS, tag: 'Vesting' } as const;

export function vestingBuildRoutes(txContext: TxBuildContext): Route[] {
  return [
    route({
      ...BUILD,
      path: '/create-lock',
      operationId: 'createLock',
      summary: 'Build the transaction that locks tokens until a date, in stages',
      body: LockBody,
      answers: { 200: { description: 'Sign and submit it', schema: Unsigned } },
      causes: [
        'ASSET_NOT_FOUND',
        'INVALID_LOCK_END',
        'INVALID_AMOUNT',
        'SERVER_ERROR',
        'PROTOCOL_CONFIG',
      ],
      idempotency: {
        ...builtBefore(txContext),
        wallet: ({ body }) => body.address,
      },
      handle: async ({ body }) => withField(await createLock(txContext, body)),
    }),
    route({
      ...BUILD,
      path: '/withdraw',
      operationId: 'withdraw',
      summary: 'Build the transaction that takes a lock back',
      description: 'Signed by the server for its collateral; the owner’s signature is needed.',
      body: WithdrawBody,
      answers: { 200: { description: 'Sign and submit it', schema: Unsigned } },
      causes: [
        'UTxO_NOT_FOUND',
        'UTxO_SPENT',
        'INVALID_DATUM',
        'NOT_OWNER',
        'LOCK_NOT_EXPIRED',
        'SERVER_ERROR',
        'PROTOCOL_CONFIG',
        'OPERATIONS_CONFIG',
      ],
      handle: async ({ body }) => withField(await withdraw(txContext, body)),
    }),
  ];
}

/** The field that each cause is about: every 400 names one. */
const FIELDS: Partial<Record<Cause, string>> = {
  INVALID_LOCK_END: 'body.lockEnd',
  INVALID_AMOUNT: 'body.amount',
  UTxO_SPENT: 'body.id',
  INVALID_DATUM: 'body.id',
  LOCK_NOT_EXPIRED: 'body.id',
};

function withField(answer: Answer | Failure): Answer | Failure {
  const path = answer instanceof Failure ? FIELDS[answer.cause] : undefined;
  if (!(answer instanceof Failure) || path === undefined) return answer;
  const { cause, message } = answer;
  return new Failure(cause, message, { details: [{ path, message }] });
}

async function createLock(
  txContext: TxBuildContext,
  { address, assetId, amount, lockEnd, stagesCount, ttl }: LockBody,
): Promise<Answer | Failure> {
  const owner = readAddress(txContext, address, 'body.address');
  if (owner instanceof Failure) return owner;
  if (assetId === '.') return invalid('body.assetId', 'Tokens are locked, not ADA.');
  const refused = refuseTtl(ttl, 'body');
  if (refused !== null) return refused;
  const nowMs = txContext.clock.nowMs();
  if (!Number.isInteger(lockEnd) || lockEnd <= nowMs || lockEnd > LAST_DATE_MS) {
    const message = 'lockEnd is a moment in the future, in whole Unix milliseconds.';
    return new Failure('INVALID_LOCK_END', message);
  }
  if (BigInt(amount) === 0n) return new Failure('INVALID_AMOUNT', 'Lock at least one token.');
  const token = assetId.toLowerCase();
  if (txContext.store().get('pools', token) === null) {
    const why = 'its lock would be in no list. Check the id, or wait for the block of its launch.';
    return new Failure('ASSET_NOT_FOUND', `No token ${token} was launched here: ${why}`);
  }
  const wallet = await walletUtxos(txContext, owner, null);
  if (wallet instanceof Failure) return wallet;
  const request = { owner, token, amount: BigInt(amount), lockEndMs: lockEnd, stagesCount };
  const place = await lockScripts(txContext);
  if (place instanceof Failure) return place;
  const plan = planLock(place, request, wallet, nowMs);
  if (plan instanceof Failure) return plan;
  const validity = validityOf(txContext.slots, nowMs, ttl);
  const built = await build(txContext, within(plan, validity), 'SERVER_ERROR');
  if (built instanceof Failure) return built;
  return jsonAnswer({ cbor: toHex(built.bytes), validUntil: validity.validUntil });
}

async function withdraw(
  txContext: TxBuildContext,
  { id, address, ttl }: WithdrawBody,
): Promise<Answer | Failure> {
  const owner = readAddress(txContext, address, 'body.address');
  if (owner instanceof Failure) return owner;
  const ref = parseRef(id);
  if (ref === null) return invalid('body.id', 'This is no `<tx>:<index>`.');
  const refused = refuseTtl(ttl, 'body');
  if (refused !== null) return refused;
  const lock = await lockAt(txContext, ref);
  if (lock instanceof Failure) return lock;
  const wallet = await walletUtxos(txContext, owner, null);
  if (wallet instanceof Failure) return wallet;
  const collateral = await chooseCollateral(txContext, formatAddress(owner), null, wallet);
  if (collateral instanceof Failure) return collateral;
  const place = await lockScripts(txContext);
  if (place instanceof Failure) return place;
  const { slots } = txContext;
  const nowMs = txContext.clock.nowMs();
  const plan = planWithdraw(
    place,
    { lock, owner },
    { wallet, references: place.references, collateral: collateral.planned, slots },
    nowMs,
  );
  if (plan instanceof Failure) return plan;
  const validity = validityOf(slots, nowMs, ttl);
  const built = await build(txContext, within(plan, validity), 'SERVER_ERROR');
  if (built instanceof Failure) return built;
  const cbor = cborForCaller(txContext, built, collateral);
  if (cbor instanceof Failure) return cbor;
  return jsonAnswer({ cbor, validUntil: validity.validUntil });
}

/** For both: tokens that could not be withdrawn here are not locked here either. */
async function lockScripts({
  partialDeployment,
  utxos,
}: TxBuildContext): Promise<(LockDeployment & { references: readonly Utxo[] }) | Failure> {
  const vesting = scriptWithReference(partialDeployment, 'vesting');
  if (vesting instanceof Failure) return vesting;
  const references = await lookUpReferences(utxos, [vesting]);
  if (references instanceof Failure) return references;
  return { ...partialDeployment, scripts: { vesting }, references };
}

/** An unspent output. The store keeps withdrawn locks forever. */
async function lockAt({ utxos, store }: TxBuildContext, ref: OutputRef): Promise<Utxo | Failure> {
  const [found] = await utxos.byRefs([ref]);
  if (found?.state === 'unspent') return found.utxo;
  const text = store().get('locks', refText(ref));
  const withdrawn = text !== null && readRecord<LockRecord>(text).withdrawnBy !== null;
  if (found?.state === 'spent' || withdrawn) {
    return new Failure('UTxO_SPENT', `${refText(ref)} is spent already.`);
  }
  return new Failure('UTxO_NOT_FOUND', `${refText(ref)} is no output that this ledger knows.`);
}

const Locks = Type.Object({ vestings: Type.Array(LockRow) });

const QUERY = {
  method: 'POST',
  tag: 'Vesting',
  body: Type.Optional(Type.Object({})),
  answers: { 200: { description: 'Unspent locks', schema: Locks } },
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;

export function vestingQueryRoutes(reads: SlicedReads): Route[] {
  return [
    route({
      ...QUERY,
      path: '/v1/vesting/get-by-redeemer',
      operationId: 'locksByOwner',
      summary: 'Locks of an owner',
      query: Type.Object({ redeemerVkhs: KeyHash }),
      handle: ({ query }) =>
        reads.answer(({ rows }) => answer(locksOfOwner(rows, query.redeemerVkhs.toLowerCase()))),
    }),
    route({
      ...QUERY,
      path: '/v1/vesting/get-by-asset/:assetId',
      operationId: 'locksByAsset',
      summary: 'Locks of a token',
      params: Type.Object({ assetId: AssetIdShape }),
      handle: ({ params }) =>
        reads.answer(({ rows }) => answer(locksOfToken(rows, params.assetId.toLowerCase()))),
    }),
  ];
}

function* answer(locks: Steps<LockRow[]>): Steps<Answer> {
  return jsonAnswer({ vestings: yield* locks });
}
