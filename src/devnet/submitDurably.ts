/**
 * Submits so that the answer holds whatever happens to this process: a transaction is accepted once
 * the log has it, waiting or in a block. On the node that leads. What was done to the chain is
 * waited for in the same way.
 *
 * Assumes: all that waits is written down (`FollowerPlace.withRaw`), and the fold follows the log.
 */

import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import { isOnChain } from '../chain/onChain.ts';
import type { ChainSource } from '../chain/port.ts';
import { pointKey, TIP } from '../engine/actors/chainRows.ts';
import type { Node } from '../engine/actors/node.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { type PointRecord, readRecord } from '../engine/store/records.ts';
import type { EmulatedChain } from './emulated.ts';

const LIMIT_MS = 1_000;

/** NOT_READY: whether the market has it is unknown; the same may be submitted again, anywhere. */
export async function submitDurably(
  chain: Pick<EmulatedChain, 'submit' | 'blockOf' | 'role'>,
  node: Node,
  bytes: Uint8Array,
  clock: Clock,
): Promise<SubmitOutcome | Failure> {
  if (chain.role !== 'leader') return notReady('this node does not lead');
  const outcome = await chain.submit(bytes);
  if (outcome.outcome === 'refused') {
    return chain.role === 'leader' ? outcome : notReady('this node leads no more');
  }
  return untilWritten(outcome, chain, node, clock);
}

/** What the ledger accepted counts once the log has it. */
export async function untilWritten(
  outcome: SubmitOutcome,
  chain: Pick<EmulatedChain, 'blockOf'>,
  node: Node,
  clock: Clock,
): Promise<SubmitOutcome | Failure> {
  if (outcome.outcome === 'refused') return outcome;
  const isWritten = await writtenInTime(outcome.txHash, chain, node, clock);
  return isWritten ? outcome : notReady('the transaction is not in the log yet');
}

function notReady(what: string): Failure {
  return new Failure('NOT_READY', `${what}: submit it again`, { retryAfterSeconds: 1 });
}

/**
 * Resolves once the fold shows the chain as it is, `height` blocks of it or more; in any case after
 * a second: what was done to the chain is done.
 */
export async function untilShown(
  height: number,
  chain: ChainSource,
  node: Node,
  clock: Clock,
): Promise<void> {
  await foundInTime(node, clock, async (tip) => {
    if (tip === null) return height === 0;
    const point = readRecord<PointRecord>(tip);
    return point.height >= height && isOnChain(chain, point);
  });
}

async function writtenInTime(
  id: string,
  chain: Pick<EmulatedChain, 'blockOf'>,
  node: Node,
  clock: Clock,
): Promise<boolean> {
  const isWaiting = () => node.fold.mempool.has(id);
  return foundInTime(node, clock, () => isInBlock(id, chain, node), isWaiting);
}

/** Looks at each new tip of the chain, and for what is `quick` to find at each entry. */
async function foundInTime(
  node: Node,
  clock: Clock,
  look: (tip: string | null) => Promise<boolean>,
  quick = () => false,
): Promise<boolean> {
  let isLate = false;
  let wake = () => {};
  const unlisten = node.onApplied(() => wake());
  const timer = clock.after(LIMIT_MS, () => {
    isLate = true;
    wake();
  });
  try {
    for (let lookedAt: string | null | undefined; ; ) {
      if (quick()) return true;
      const tip = node.fold.store.get('market', TIP);
      if (tip !== lookedAt) {
        lookedAt = tip;
        if (await look(tip)) return true;
        continue;
      }
      if (isLate) return false;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    unlisten();
    timer.cancel();
  }
}

async function isInBlock(
  id: string,
  chain: Pick<EmulatedChain, 'blockOf'>,
  node: Node,
): Promise<boolean> {
  const head = await chain.blockOf(id);
  if (head === null) return false;
  const text = node.fold.store.get('points', pointKey(head.height));
  return text !== null && readRecord<PointRecord>(text).hash === head.hash;
}
