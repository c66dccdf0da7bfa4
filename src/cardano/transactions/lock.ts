/** Vesting locks: one output per stage, and taking one back. Source: protocol.md 5, onchain.md. */

import type { AssetId } from '../../engine/market/asset.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Address, formatAddress, parseAddress, scriptAddress } from '../codec/address.ts';
import { datumOf, type Utxo } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { type SlotConfig, slotAt, slotFrom, slotStartMs, timeText } from '../codec/slots.ts';
import { asValue } from '../codec/value.ts';
import { lockData, readLockData } from '../datums/datums.ts';
import type { PartialDeployment, ReferenceScript } from '../datums/deployment.ts';
import {
  dataHex,
  type PlannedCollateral,
  type PlannedOutput,
  planOf,
  type TransactionPlan,
} from './plan.ts';

/** Comes from the locker and returns with the withdrawal. */
const LOCK_LOVELACE = 2_000_000n;
const WITHDRAW = dataHex(new Constr(0, []));
/**
 * Redeemer for mainnet's script: the index of an output that is not locked again. Change is the
 * first.
 */
const WITHDRAW_MAINNET = dataHex(0n);

interface LockRequest {
  readonly owner: Address;
  readonly token: AssetId;
  readonly amount: bigint;
  /** After now. */
  readonly lockEndMs: number;
  /** 1 to 10. */
  readonly stagesCount: number;
}

/** As much of a deployment as has its locks. */
export interface LockDeployment extends Pick<PartialDeployment, 'addressNetwork' | 'network'> {
  readonly scripts: { readonly vesting: ReferenceScript };
}

export function planLock(
  { addressNetwork, scripts }: LockDeployment,
  { owner, token, amount, lockEndMs, stagesCount }: LockRequest,
  wallet: readonly Utxo[],
  nowMs: number,
): TransactionPlan | Failure {
  const stages = BigInt(stagesCount);
  const each = amount / stages;
  if (each === 0n) {
    return new Failure('INVALID_AMOUNT', `${stagesCount} stages need at least one token each`);
  }
  const address = scriptAddress(addressNetwork, scripts.vesting.hash, owner.stake);
  const outputs = Array.from({ length: stagesCount }, (_, index): PlannedOutput => {
    const isLast = index === stagesCount - 1;
    const passed = Math.floor(((lockEndMs - nowMs) * (index + 1)) / stagesCount);
    const unlockMs = BigInt(isLast ? lockEndMs : nowMs + passed);
    const tokens = isLast ? amount - each * (stages - 1n) : each;
    return {
      address,
      value: asValue(LOCK_LOVELACE, [[token, tokens]]),
      datum: dataHex(lockData({ unlockMs, owner: owner.payment.hash })),
    };
  });
  return planOf({ outputs, wallet, changeAddress: formatAddress(owner) });
}

interface WithdrawData {
  readonly wallet: readonly Utxo[];
  /** The reference input with the vesting validator. */
  readonly references: readonly Utxo[];
  readonly collateral: PlannedCollateral;
  readonly slots: SlotConfig;
}

/**
 * Our script opens a lock from its time on. Mainnet's, Splash's liquidity locker, asks that the
 * transaction begin after it, and names an output, which must not lie at the lock's own address.
 */
export function planWithdraw(
  { network, scripts }: LockDeployment,
  { lock, owner }: { readonly lock: Utxo; readonly owner: Address },
  { wallet, references, collateral, slots }: WithdrawData,
  nowMs: number,
): TransactionPlan | Failure {
  const datum = readLockData(datumOf(lock.output));
  const payment = parseAddress(lock.output.address)?.payment;
  if (datum === null || payment?.kind !== 'script' || payment.hash !== scripts.vesting.hash) {
    return new Failure('INVALID_DATUM', 'this output is no lock of ours');
  }
  if (datum.owner !== owner.payment.hash) {
    return new Failure('NOT_OWNER', 'this lock belongs to another address');
  }
  const isMainnet = network === 'mainnet';
  const opensMs = isMainnet ? datum.unlockMs + 1n : datum.unlockMs;
  const slot = slotAt(slots, nowMs);
  if (BigInt(slotStartMs(slots, slot)) < opensMs) {
    const message = `Lock is still active. Unlocks at ${timeText(datum.unlockMs)}`;
    return new Failure('LOCK_NOT_EXPIRED', message);
  }
  const first = opensMs > slots.zeroTimeMs ? Number(opensMs) : slots.zeroTimeMs;
  return planOf({
    inputs: [{ utxo: lock, redeemer: isMainnet ? WITHDRAW_MAINNET : WITHDRAW }],
    wallet,
    references,
    validFromSlot: slotFrom(slots, first),
    signers: [datum.owner],
    collateral,
    changeAddress: formatAddress(owner),
  });
}
