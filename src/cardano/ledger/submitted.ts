/** What somebody submits: bytes, until they are read. */
import { MalformedCbor } from '../codec/cbor.ts';
import { decodeTransaction, type Transaction } from '../codec/transaction.ts';
import { PROTOCOL } from './parameters.ts';
import type { Refusal } from './refusals.ts';

export function decoded(bytes: Uint8Array): Transaction | Refusal {
  if (bytes.length > PROTOCOL.maxTransactionBytes) {
    const most = PROTOCOL.maxTransactionBytes;
    const message = `Too large: ${bytes.length} bytes, at most ${most}`;
    return { reason: 'LIMITS_EXCEEDED', message };
  }
  try {
    return decodeTransaction(bytes);
  } catch (error) {
    // Whatever a stranger's bytes make the decoder throw is the fault of the bytes.
    const cause = error instanceof MalformedCbor ? error.message : 'it cannot be read';
    return { reason: 'MALFORMED', message: `This is no transaction: ${cause}` };
  }
}
