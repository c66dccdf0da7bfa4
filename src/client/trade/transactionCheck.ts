/**
 * Checks, before signing, that a transaction built by a server fits the client's request.
 *
 * The rule: every output that does not pay the wallet's own address must be a payment that the
 *           intent names, with at most the stated lovelace; nothing is minted, certified, donated
 *           or withdrawn beside it. Inputs need no check: the ledger conserves value, so value that
 *           does not leave in an output comes back in one, and the fee is bounded here.
 * Trusts: the server's quotes and the deployment that it names: the bytes are compared with these.
 *         And to name the market that may fill an order: only the server could tell us its NFT. The
 *         order's script enforces the worst price in any market, and checks nothing else, so a
 *         wrong market brings that price, or no fill and a refund.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type Output, type OutputRef, refText } from '../../cardano/codec/output.ts';
import { bodyFields, type Transaction } from '../../cardano/codec/transaction.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { readLockData } from '../../cardano/datums/datums.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { type LaunchIntent, objectionToLaunch } from './launchCheck.ts';
import { type OrderIntent, objectionToOrder } from './orderCheck.ts';
import { isScriptOf, type Owner } from './owner.ts';

export type Intent = Purpose & {
  /**
   * The request named an end: a transaction that may be submitted at any later time is not signed.
   */
  readonly mustExpire?: boolean;
};

type Purpose = OrderIntent | LaunchIntent | LockIntent | TransferIntent | ReclaimIntent;

/** Takes back the output at `ref`: an order that is cancelled, a lock that is open. */
interface ReclaimIntent {
  readonly kind: 'reclaim';
  readonly ref: OutputRef;
}

interface LockIntent {
  readonly kind: 'lock';
  readonly asset: AssetId;
  readonly amount: bigint;
  readonly stages: number;
  /**
   * Unix ms between which the stages open, at equal distances; the last at the end. They start now:
   * by the server's clock, or by the newest block where that is the time of the chain.
   */
  readonly startsMs: readonly number[];
  readonly lockEndMs: number;
  /** Hash of the script that holds it; null: the server could not say. */
  readonly scriptHash: string | null;
}

interface TransferIntent {
  readonly kind: 'transfer';
  readonly to: string;
  /** `max`: everything that the wallet can give. */
  readonly lovelace: bigint | 'max';
  readonly assets: ReadonlyMap<AssetId, bigint>;
}

/** Twice of what mainnet asks: 155,381 lovelace and 44 a byte, signatures included. */
const FEE_FIXED_LOVELACE = 2n * 155_381n;
const FEE_PER_BYTE_LOVELACE = 2n * 44n;
const SIGNATURE_BYTES = 300;
/** Where scripts run. */
const MAX_FEE_LOVELACE = 3_000_000n;
const MAX_COLLATERAL_LOVELACE = 5_000_000n;
/** Upper bound of collateral that returns to the server. Its own outputs for it hold 5 ADA. */
const MAX_FOREIGN_COLLATERAL_LOVELACE = 10_000_000n;
/** Upper bound of the lovelace beside the tokens in each stage of a lock. */
const MAX_LOCK_LOVELACE = 3_000_000n;
/** Largest difference between the clocks of server and caller. */
export const MAX_CLOCK_MS = 600_000;

/** Fields of a body: inputs, outputs, fee, end, metadata's hash, start, network. */
const PLAIN_FIELDS: readonly number[] = [0, 1, 2, 3, 7, 8, 15];
/** Script data hash, collateral, signers, collateral return and sum, reference inputs. */
const SCRIPT_FIELDS: readonly number[] = [11, 13, 14, 16, 17, 18];
const MINT_FIELD = 9;
const RUNS_SCRIPTS: readonly Purpose['kind'][] = ['launch', 'reclaim'];

/** null, or the fault in words. `held`: references of outputs that the owner has. */
export function objectionTo(
  tx: Transaction,
  owner: Owner,
  intent: Intent,
  held: ReadonlySet<string>,
): string | null {
  const paidAway = tx.outputs.filter(({ address }) => address !== owner.address);
  return (
    generalObjection(tx, owner, intent) ??
    objectionToCollateral(tx, owner, intent, held) ??
    objectionToPayments(tx, paidAway, owner, intent)
  );
}

/**
 * null, or a text that names fields without a use in such a transaction: a donation, a vote, a
 * deposit.
 */
export function objectionToFields({ body }: Transaction, { kind }: Intent): string | null {
  const isScripted = RUNS_SCRIPTS.includes(kind);
  const allowed = [...PLAIN_FIELDS, ...(isScripted ? SCRIPT_FIELDS : [])];
  if (kind === 'launch') allowed.push(MINT_FIELD);
  const strange = bodyFields(body).filter((field) => !allowed.includes(field));
  return strange.length === 0 ? null : `it has fields that it does not need: ${strange.join(', ')}`;
}

function generalObjection(tx: Transaction, owner: Owner, intent: Intent): string | null {
  if (!tx.isValid) return 'it announces that its scripts fail';
  if (tx.hasCertificates || tx.hasWithdrawals) return 'it touches stake';
  if (intent.mustExpire === true && tx.validToSlot === null) return 'it never expires';
  if (tx.feeLovelace > maxFeeLovelace(tx, intent)) return `its fee is ${tx.feeLovelace} lovelace`;
  if (tx.mint.size > 0 && intent.kind !== 'launch') return 'it mints or burns';
  const stranger = tx.requiredSigners.find((signer) => signer !== owner.keyHash);
  return stranger === undefined ? null : `it needs the signature of ${stranger}`;
}

function maxFeeLovelace({ bytes }: Transaction, { kind }: Intent): bigint {
  if (RUNS_SCRIPTS.includes(kind)) return MAX_FEE_LOVELACE;
  return FEE_FIXED_LOVELACE + FEE_PER_BYTE_LOVELACE * BigInt(bytes.length + SIGNATURE_BYTES);
}

/** The person who submits it may let its scripts fail: then only the collateral moves. */
function objectionToCollateral(
  { collateralInputs, collateralReturn, totalCollateralLovelace: risked, redeemers }: Transaction,
  owner: Owner,
  { kind }: Intent,
  held: ReadonlySet<string>,
): string | null {
  if (!RUNS_SCRIPTS.includes(kind)) {
    return collateralInputs.length + redeemers.length > 0 ? 'it runs scripts' : null;
  }
  if (collateralInputs.length === 0) return null;
  if (risked === null || risked > MAX_COLLATERAL_LOVELACE) return 'it risks too much collateral';
  const isOurs = collateralInputs.some((ref) => held.has(refText(ref)));
  const isElsewhere = collateralReturn !== null && collateralReturn.address !== owner.address;
  if (!isElsewhere) return null;
  if (isOurs) return 'our collateral would return to someone else';
  // The server says which outputs are ours. The ledger has them hold exactly these two sums.
  const { lovelace, assets } = collateralReturn.value;
  const isMuch = lovelace + risked > MAX_FOREIGN_COLLATERAL_LOVELACE || assets.size > 0;
  return isMuch ? 'more collateral than a server puts up would return to someone else' : null;
}

function objectionToPayments(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  intent: Intent,
): string | null {
  switch (intent.kind) {
    case 'order':
      return objectionToOrder(paidAway, owner, intent);
    case 'launch':
      return objectionToLaunch(tx, paidAway, owner, intent);
    case 'lock':
      return objectionToLock(paidAway, owner, intent);
    case 'transfer':
      return objectionToTransfer(tx, paidAway, owner, intent);
    case 'reclaim': {
      const ref = refText(intent.ref);
      if (!tx.inputs.some((input) => refText(input) === ref)) return `it does not spend ${ref}`;
      return paidAway.length > 0 ? 'it pays someone else' : null;
    }
  }
}

function objectionToLock(
  paidAway: readonly Output[],
  owner: Owner,
  { asset, amount, stages, startsMs, lockEndMs, scriptHash }: LockIntent,
): string | null {
  const own = parseAddress(owner.address);
  if (paidAway.length !== stages) return `${paidAway.length} stages, not ${stages}`;
  const each = amount / BigInt(stages);
  for (const [index, output] of paidAway.entries()) {
    const datum = readLockData(datumOf(output));
    if (own === null || !isScriptOf(output.address, own, scriptHash)) {
      return 'a lock at an unknown address';
    }
    if (datum === null || datum.owner !== owner.keyHash) return 'a lock that is not ours';
    const { lovelace, assets } = output.value;
    if (lovelace > MAX_LOCK_LOVELACE || assets.size !== 1) return 'a lock that holds more';
    const isLast = index === stages - 1;
    const tokens = isLast ? amount - each * BigInt(stages - 1) : each;
    const locked = amountOf(output.value, asset);
    if (locked !== tokens) return `stage ${index + 1} locks ${locked}, not ${tokens}`;
    const awaysMs = startsMs.map((startMs) => {
      const dueMs = startMs + ((lockEndMs - startMs) * (index + 1)) / stages;
      return Math.abs(Number(datum.unlockMs) - dueMs);
    });
    if (isLast ? datum.unlockMs !== BigInt(lockEndMs) : Math.min(...awaysMs) > MAX_CLOCK_MS) {
      return `stage ${index + 1} opens at another time`;
    }
  }
  return null;
}

function objectionToTransfer(
  tx: Transaction,
  paidAway: readonly Output[],
  owner: Owner,
  { to, lovelace, assets }: TransferIntent,
): string | null {
  if (paidAway.some(({ address }) => address !== to)) return 'it pays someone else';
  if (to === owner.address) return null;
  const paid = tx.outputs.filter(({ address }) => address === to);
  const sum = (asset: AssetId) => paid.reduce((all, one) => all + amountOf(one.value, asset), 0n);
  const held = new Set(paid.flatMap((one) => [...one.value.assets.keys()]));
  if (lovelace !== 'max' && sum(COIN) !== lovelace) return `it pays ${sum(COIN)} lovelace`;
  for (const asset of [...held, ...assets.keys()]) {
    if (sum(asset) !== (assets.get(asset) ?? 0n)) return `it pays ${sum(asset)} of ${asset}`;
  }
  return null;
}
