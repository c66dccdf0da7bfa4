/** Vesting locks as the API shows them (protocol.md section 5). */
import Type from 'typebox';
import type { LockRecord } from '../../engine/store/records.ts';
import { Amount, KeyHash } from './identifiers.ts';
import { eachUnder, type HeldState, type Steps } from './slicedReads.ts';

export const LockRow = Type.Object({
  id: Type.String({ description: '`<tx>:<index>`' }),
  lockUntil: Type.String({ description: 'Unix milliseconds.' }),
  redeemerVkh: KeyHash,
  tokenPolicyId: Type.String(),
  tokenAssetName: Type.String({ description: 'Hex.' }),
  totalLocked: Amount,
  vestingOwnerAddress: Type.String({ description: 'bech32' }),
  spent: Type.Literal(false),
});
export type LockRow = Type.Static<typeof LockRow>;

/** Far more than a page shows; a token's locks are few. */
const MAX_LOCKS = 10_000;

export function locksOfOwner(rows: HeldState['rows'], pkh: string): Steps<LockRow[]> {
  return locksUnder(rows, `owner/${pkh}/`);
}

export function locksOfToken(rows: HeldState['rows'], token: string): Steps<LockRow[]> {
  return locksUnder(rows, `token/${token}/`);
}

/** Unspent ones, by reference. */
function* locksUnder(rows: HeldState['rows'], prefix: string): Steps<LockRow[]> {
  const locks: LockRow[] = [];
  yield* eachUnder(rows, 'lock_index', { prefix, most: MAX_LOCKS }, ({ value: ref }) => {
    const lock = rows.record<LockRecord>('locks', ref);
    if (lock !== null) locks.push(rowOf(lock));
  });
  return locks;
}

function rowOf({ ref, token, amount, unlockMs, owner, ownerAddress }: LockRecord): LockRow {
  const [tokenPolicyId = '', tokenAssetName = ''] = token.split('.');
  return {
    id: ref,
    lockUntil: unlockMs,
    redeemerVkh: owner,
    tokenPolicyId,
    tokenAssetName,
    totalLocked: amount,
    vestingOwnerAddress: ownerAddress,
    spent: false,
  };
}
