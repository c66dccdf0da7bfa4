import Type from 'typebox';
import { type Topic, topic } from '../topics/port.ts';
import { HealthUpdate } from './schema.ts';
import type { NodeStatus } from './status.ts';

/** The state of the node once a second. It is not of the log, so there is nothing to resume. */
export function healthTopic(status: NodeStatus): Topic {
  return topic({
    name: 'Health',
    summary: 'Tip, position and role of the node that serves this socket, once a second',
    cadenceMs: 1000,
    periodic: true,
    data: Type.Unknown({ description: 'None, or {}.' }),
    update: HealthUpdate,
    open: () => ({
      key: 'Health',
      tags: [],
      snapshot: () => health(status),
      since: () => null,
    }),
  });
}

function health(status: NodeStatus) {
  const { slot, hash, time, lagMs, height } = status.tip();
  const { epoch, seq } = status.applied();
  const undone = status.rollback();
  return {
    tip: { slot, hash, time, lagMs, height },
    rollback:
      undone === null ? null : { seq: undone.seq, toSlot: undone.toSlot, blocks: undone.blocks },
    epoch,
    seq,
    node: status.node,
    role: status.role(),
    synced: status.synced(),
    stale: status.stale(),
    reasons: status.reasons().map(({ code }) => code),
    submits: status.submits(),
  };
}
