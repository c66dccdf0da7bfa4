/**
 * Outputs that are watched, and who holds what of the tokens that were launched: by address, by
 * payment key, and by address in the order of the balances. Outputs at the deployment's scripts
 * belong to their users and are not counted as holdings of the script.
 *
 * Keys: `holdings` `<token>/<address>`; `holders` `<token>/<complement of the balance>/<address>`
 * (2^64 − balance), so that keys sort by falling balance and ties go by address; `balances`
 * `<pkh>/<token>`. The value is the balance each time.
 */
import type { AssetId } from '../market/asset.ts';
import type { MarketEvent, RefText } from '../market/events.ts';
import { assert } from '../runtime/assert.ts';
import type { OutputRecord } from '../store/records.ts';
import type { RowDraft } from './rowDraft.ts';
import type { TrustFold } from './trustRows.ts';

/** More than can be held: an output holds less than 2^64. */
const BEYOND_HELD = 10n ** 24n;

/** In `counts`: addresses with a balance. */
export const holdersOf = (token: AssetId) => `holders/${token}`;
export const balanceKey = (pkh: string, token: AssetId) => `${pkh}/${token}`;

/** The address in a key of `holders`. */
export function holderAddress(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

export function makeOutput(
  rows: RowDraft,
  trust: TrustFold,
  event: MarketEvent & { kind: 'made' },
): void {
  const { ref, address, pkh, isOurs, lovelace, assets, datum } = event;
  const unknown = Object.keys(assets).filter((token) => rows.get('pools', token) === null);
  const uncounted = isOurs || unknown.length === 0 ? {} : { uncounted: unknown };
  const record: OutputRecord = { address, pkh, isOurs, lovelace, assets, ...uncounted, datum };
  rows.put('outputs', ref, record);
  hold(rows, trust, record, 1n);
}

export function spendOutput(rows: RowDraft, trust: TrustFold, ref: RefText): void {
  const record = rows.record<OutputRecord>('outputs', ref);
  assert(record !== null, `${ref} is in outputs`);
  hold(rows, trust, record, -1n);
  rows.set('outputs', ref, null);
}

/** Adds an output's tokens to what its address and its key hold, or takes them away. */
function hold(
  rows: RowDraft,
  trust: TrustFold,
  { address, pkh, isOurs, assets, uncounted = [] }: OutputRecord,
  sign: bigint,
): void {
  if (isOurs) return;
  for (const [token, amount] of Object.entries(assets)) {
    if (uncounted.includes(token)) continue;
    const by = sign * BigInt(amount);
    const { before, after } = add(rows, 'holdings', `${token}/${address}`, by);
    if (before !== 0n) rows.set('holders', holderKey(token, before, address), null);
    if (after !== 0n) rows.set('holders', holderKey(token, after, address), String(after));
    if (before === 0n && after !== 0n) rows.count(holdersOf(token), 1);
    if (before !== 0n && after === 0n) rows.count(holdersOf(token), -1);
    trust.addHolding(token, pkh, address, by);
    if (pkh !== null) add(rows, 'balances', balanceKey(pkh, token), by);
  }
}

function add(rows: RowDraft, table: 'holdings' | 'balances', key: string, by: bigint) {
  const before = BigInt(rows.get(table, key) ?? 0);
  const after = before + by;
  assert(after >= 0n, `${key} has in ${table} what is spent`);
  rows.set(table, key, after === 0n ? null : String(after));
  return { before, after };
}

function holderKey(token: AssetId, balance: bigint, address: string): string {
  const lack = BEYOND_HELD - balance;
  assert(lack > 0n, `a balance of ${balance} can be held`);
  return `${token}/${String(lack).padStart(24, '0')}/${address}`;
}
