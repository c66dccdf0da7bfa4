/** Vesting locks as the API shows them (api.md section 5). */
import Type from 'typebox';
import type { Fold } from '../../engine/actors/fold.ts';
import { type LockRecord, readRecord } from '../../engine/store/records.ts';
import { Amount, KeyHash } from './identifiers.ts';

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

export function locksOfOwner(fold: Fold, pkh: string): LockRow[] {
  return locksUnder(fold, `owner/${pkh}/`);
}

export function locksOfToken(fold: Fold, token: string): LockRow[] {
  return locksUnder(fold, `token/${token}/`);
}

/** Unspent ones, by reference. */
function locksUnder({ store }: Fold, prefix: string): LockRow[] {
  return store.withPrefix('lock_index', prefix, MAX_LOCKS).flatMap(({ value: ref }) => {
    const text = store.get('locks', ref);
    return text === null ? [] : [rowOf(readRecord<LockRecord>(text))];
  });
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
