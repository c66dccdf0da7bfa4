/**
 * Submits, and answers once this node shows the transaction, after a second at the latest. A
 * transaction that was submitted before is answered the same again, also when other transactions
 * have spent all that it made.
 */
import { MalformedCbor } from '../cardano/codec/cbor.ts';
import { decodeTransaction } from '../cardano/codec/transaction.ts';
import type { SubmitOutcome, Submitter, UtxoLookup } from '../cardano/ledger/port.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Unavailable } from '../engine/runtime/errors.ts';
import type { MempoolOverlay } from './mempoolOverlay.ts';

const SHOWN_MS = 1_000;

export function shownSubmitter(
  source: Submitter,
  view: MempoolOverlay,
  utxos: UtxoLookup,
  clock: Clock,
): Submitter {
  return {
    async submit(bytes) {
      const outcome = await source.submit(bytes);
      if (outcome.outcome === 'refused')
        return (await knownBefore(bytes, outcome, utxos)) ?? outcome;
      await view.untilShown(outcome.txHash, clock, SHOWN_MS);
      return outcome;
    },
  };
}

/** null: it is new, or the index of outputs cannot be asked. */
async function knownBefore(
  bytes: Uint8Array,
  { reason }: Extract<SubmitOutcome, { outcome: 'refused' }>,
  utxos: UtxoLookup,
): Promise<SubmitOutcome | null> {
  if (reason !== 'INPUT_SPENT') return null;
  try {
    const { id: txHash } = decodeTransaction(bytes);
    const [first] = await utxos.byRefs([{ txHash, index: 0 }]);
    return first === undefined || first.state === 'unknown'
      ? null
      : { outcome: 'accepted', txHash };
  } catch (error) {
    if (error instanceof MalformedCbor || error instanceof Unavailable) return null;
    throw error;
  }
}
