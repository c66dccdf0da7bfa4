/** What a ledger gives to a node that has none yet: its beginning, or all of it. */
import { Failure } from '../engine/runtime/errors.ts';
import type { LedgerFile } from './ledgerFile.ts';
import { type GenesisCopy, type PackedFailure, packed, packedFailure } from './messages.ts';

export function genesisOf(file: LedgerFile): GenesisCopy | PackedFailure {
  const [text, outputs] = [file.genesis(), file.genesisOutputs()];
  if (text !== null && outputs !== null) return { text, outputs: outputs.map(packed) };
  const message = 'an older program began this ledger, and its first outputs are forgotten';
  return packedFailure(new Failure('SERVER_ERROR', `${message}: give other nodes a snapshot`));
}

/** Takes as long as writing the whole file does; the ledger waits. */
export function copied(file: LedgerFile, to: string): PackedFailure | null {
  try {
    file.copyTo(to);
    return null;
  } catch (error) {
    return packedFailure(new Failure('SERVER_ERROR', `no copy of the ledger: ${error}`));
  }
}
