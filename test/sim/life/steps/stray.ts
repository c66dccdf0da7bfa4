/**
 * Messages of others on every subject of the market: what is no message of ours at all, and what is
 * well formed and says what is not so. No node ends by one, and no position moves by it.
 */
import { openEntry, sealEntry } from '../../../../src/engine/log/entry.ts';
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';
import { MARKET } from './nats.ts';

const LAST = Number.MAX_SAFE_INTEGER;
const HASH = 'ab'.repeat(32);
const GARBAGE = ['', 'null', 'not json', '{}', '[]', '"text"', '[[[[', '{"node":1}'] as const;

/** Where nodes listen or read; texts there that fit, and do not hold. */
const HOSTILE: Readonly<Record<string, readonly object[]>> = {
  [`$KV.${MARKET}-nodes.leader`]: [
    { node: 'stranger', subject: 'nowhere' },
    { node: 'n1', subject: `${MARKET}-leader`, market: { id: HASH, network: 'x', deployment: '' } },
  ],
  // Another process with the name of a living one is `twin`.
  [`$KV.${MARKET}-nodes.process.stranger`]: [
    { node: 'stranger', token: 'a', host: 'there', sinceMs: 0, aheadMs: 86_400_000 },
    { node: 'n1', token: 'a', host: 'there', sinceMs: 0, aheadMs: -86_400_000 },
  ],
  [`$KV.${MARKET}-nodes.node.stranger`]: [
    { node: 'stranger', epoch: '1-x', term: 1, seq: 1, reader: true },
    { node: 'stranger', epoch: '1-x', term: 1, seq: 1, leaseMs: 1, replicas: 1 },
  ],
  [`${MARKET}.entry.notice`]: [
    { beginsAt: LAST, hash: HASH },
    { beginsAt: 1, hash: HASH },
  ],
  [`$O.${MARKET}-files.M.c3RyYW5nZXI=`]: [{ name: 'stranger', nuid: 'abc', chunks: 10_000_000 }],
  [`${MARKET}-leader`]: [
    { name: 'submit', input: null, seq: LAST },
    { name: 'nothing', input: [1], seq: 0 },
  ],
  [`${MARKET}-calls.any`]: [{ name: 'submit', input: {}, seq: 0 }],
};

const SUBJECTS = [
  ...Object.keys(HOSTILE),
  `$KV.${MARKET}-nodes.process.n1`,
  `$KV.${MARKET}-nodes.node.n2`,
  `$O.${MARKET}-files.C.abc`,
  `${MARKET}.entry.epoch`,
  `${MARKET}.entry.t1-abc`,
];

export const STRAY_STEPS: Readonly<Record<string, StepKind>> = {
  stray: stepKind({
    weight: 3,
    alone: 3,
    draw: (draw) => {
      const at = draw.between(0, SUBJECTS.length - 1);
      const subject = SUBJECTS[at] ?? `${MARKET}.entry.time`;
      const texts = [...GARBAGE, ...(HOSTILE[subject] ?? []).map((one) => JSON.stringify(one))];
      return { subject, text: texts[draw.between(0, texts.length - 1)] ?? '' };
    },
    apply(life, { subject, text }) {
      life.deps.nats.publish(subject, text);
      // The log begins again without a message that is none of it; a lease that is overwritten ends
      // the lead.
      life.lost();
    },
  }),
  /** Entries that fit by their form, and continue nothing. */
  strayEntry: stepKind({
    weight: 1,
    alone: 2,
    draw: (draw) => ({
      change: draw.oneOf<StrayEntry>(['seq', 'epoch', 'term', 'hash']),
      subject: draw.oneOf(['t1-abc', 'epoch', 'block']),
    }),
    apply(life, { change, subject }) {
      const text = strayEntry(life, change);
      if (text === null) return;
      life.strangers.add(text);
      life.deps.nats.publish(`${MARKET}.entry.${subject}`, text);
      life.lost();
    },
  }),
};

type StrayEntry = 'seq' | 'epoch' | 'term' | 'hash';

/** The last entry once more, with one field that does not fit. null: there is none. */
function strayEntry({ deps: { nats } }: Life, change: StrayEntry): string | null {
  const text = nats.textAt(MARKET, nats.lastSeq(MARKET));
  if (text === null) return null;
  try {
    const { entry, hash } = openEntry(text);
    const next = { ...entry, seq: entry.seq + 1, prevEntryHash: hash };
    const changes = {
      seq: { seq: LAST },
      epoch: { epoch: '999999999999999-stranger' },
      term: { term: 1_000_000_000_000 },
      hash: { prevEntryHash: HASH },
    };
    return sealEntry({ ...next, ...changes[change] }).text;
  } catch {
    return null;
  }
}
