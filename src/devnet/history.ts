/**
 * A recorded past of a devnet: blocks with the transactions that real scripts and real keys made,
 * for a chain that begins with the same genesis. They were judged when they were recorded. Taken in
 * later, the same slots lie at other times, by which a script might judge otherwise; so they are
 * taken by the checksum of the file and not judged again.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { fromHex } from '../cardano/codec/hex.ts';
import { decodeTransaction, type Transaction } from '../cardano/codec/transaction.ts';
import { Fault } from '../engine/runtime/assert.ts';

/** The content of the file: JSON that brotli compressed. */
export interface RecordedHistory {
  /** Length of a slot; a chain of another length cannot take it in. */
  readonly slotMs: number;
  /** The present begins after it. */
  readonly lastSlot: number;
  /** Checksums of what it was made from: the market's genesis and terms, and its traders. */
  readonly made: { readonly genesis: string; readonly traders: string };
  /** Keys of the market, as in keys.json: worth nothing, and known to everybody. */
  readonly keys: Readonly<Record<string, string>>;
  /** Blocks without a transaction are left out; transactions in hex. */
  readonly blocks: readonly (readonly [slot: number, transactions: readonly string[]])[];
  /** Logos in base64, by their content id. */
  readonly pictures: Readonly<Record<string, string>>;
}

export const HISTORY_FILE = fileURLToPath(new URL('../../config/history.br', import.meta.url));

/** Throws where the file is not the one that the checksum beside it is of. */
export function readHistory(file: string): RecordedHistory {
  const bytes = readFileSync(file);
  const expected = readFileSync(`${file}.sha256`, 'utf8').trim();
  if (hash('sha256', bytes) !== expected) {
    const why = `its SHA-256 is not the one in ${file}.sha256`;
    const remedy = 'install upcurve again, or start with --no-history';
    throw new Fault('damagedFile', `${file} is damaged: ${why}: ${remedy}`);
  }
  // trust: scripts/recordHistory.ts wrote what the checksum is of
  return JSON.parse(brotliDecompressSync(bytes).toString()) as RecordedHistory;
}

export interface RecordedBlock {
  readonly slot: number;
  readonly transactions: readonly Transaction[];
}

export function* recordedBlocks({ blocks }: RecordedHistory): Iterable<RecordedBlock> {
  for (const [slot, transactions] of blocks) {
    yield { slot, transactions: transactions.map((hex) => decodeTransaction(fromHex(hex))) };
  }
}

/** Checksum of what a recording is made from. */
export function sumOf(parts: unknown): string {
  return hash('sha256', JSON.stringify(parts, asJson));
}

function asJson(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  return typeof value === 'bigint' ? `${value}` : value;
}
