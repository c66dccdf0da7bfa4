/** Outputs that are watched, and what addresses hold of the tokens that were launched. */
import type { MarketEvent, RefText } from '../market/events.ts';
import { assert } from '../runtime/assert.ts';
import { type OutputRecord, readRecord } from '../store/records.ts';
import type { RowDraft } from './rowDraft.ts';

export function makeOutput(rows: RowDraft, event: MarketEvent & { kind: 'made' }): void {
  const { ref, address, pkh, isOurs, lovelace, assets, datum } = event;
  const record: OutputRecord = { address, pkh, isOurs, lovelace, assets, datum };
  rows.set('outputs', ref, JSON.stringify(record));
  hold(rows, record, 1n);
}

export function spendOutput(rows: RowDraft, ref: RefText): void {
  const text = rows.get('outputs', ref);
  assert(text !== null, `${ref} is in outputs`);
  hold(rows, readRecord<OutputRecord>(text), -1n);
  rows.set('outputs', ref, null);
}

/** Adds an output's tokens to what its address holds, or takes them away. */
function hold(rows: RowDraft, { address, assets }: OutputRecord, sign: bigint): void {
  for (const [token, amount] of Object.entries(assets)) {
    if (rows.get('pools', token) === null) continue;
    const key = `${token}/${address}`;
    const held = BigInt(rows.get('holdings', key) ?? 0) + sign * BigInt(amount);
    assert(held >= 0n, `${address} holds what it spends`);
    rows.set('holdings', key, held === 0n ? null : String(held));
  }
}
