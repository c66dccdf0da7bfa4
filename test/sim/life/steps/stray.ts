/**
 * Messages of others on every subject of the market: some are no messages of ours, others are well
 * formed but false. No node ends by one, and no position moves by it.
 */
import {
  type BlockPayload,
  type Entry,
  openEntry,
  type SealedEntry,
  sealEntry,
} from '../../../../src/engine/log/entry.ts';
import type { Life } from '../life.ts';
import type { LifeNats } from '../ports.ts';
import { type StepKind, stepKind } from './kind.ts';
import { MARKET } from './nats.ts';

const LAST = Number.MAX_SAFE_INTEGER;
/** Entries that are read to find a block with trades. */
const MAX_BACK = 200;
const BLOCKS_BACK = 3;
const HASH = 'ab'.repeat(32);
const GARBAGE = ['', 'null', 'not json', '{}', '[]', '"text"', '[[[[', '{"node":1}'] as const;

const PROCESS = { node: 'n1', token: 'a', host: 'there', sinceMs: 0, aheadMs: null };

/** Where nodes listen or read; texts there that fit, and do not hold. */
const HOSTILE: Readonly<Record<string, readonly object[]>> = {
  [`$KV.${MARKET}-nodes.leader`]: [
    { node: 'stranger', subject: 'nowhere' },
    { node: 'n1', subject: `${MARKET}-leader`, market: { id: HASH, network: 'x', deployment: '' } },
  ],
  [`$KV.${MARKET}-nodes.process.stranger`]: [
    { ...PROCESS, node: 'stranger', aheadMs: 86_400_000 },
    { ...PROCESS, node: 'n1', aheadMs: -86_400_000 },
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
  // Another process with the name of a living one, which renews it, is `twin`.
  [`$KV.${MARKET}-nodes.process.n1`]: [PROCESS],
  [`$KV.${MARKET}-nodes.node.n2`]: [
    { node: 'n2', epoch: '1-x', term: 1, seq: 1, leaseMs: 60_000, replicas: 5 },
  ],
};

const SUBJECTS = [
  ...Object.keys(HOSTILE),
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
      // The log begins again without a message that is no entry; a lease that is overwritten ends
      // the lead.
      life.lost();
    },
  }),
  /** Entries that fit by their form, and continue nothing. */
  strayEntry: stepKind({
    weight: 1,
    alone: 2,
    draw: (draw) => ({
      change: draw.oneOf<StrayEntry>(STRAY_ENTRIES),
      subject: draw.oneOf(['t1-abc', 'epoch', 'block']),
      times: draw.oneOf([1, 1, 4]),
    }),
    apply: (life, { change, subject, times }) => writeStray(life, { change, subject, times }),
  }),
};

const AGAIN_MS = 50;
const GIVE_UP_MS = 60_000;

interface StrayWriting {
  readonly change: StrayEntry;
  readonly subject: string;
  /** So often, each time as soon as an epoch starts without the one before; absent: once. */
  readonly times?: number | undefined;
}

function writeStray(
  life: Life,
  { change, subject, times = 1 }: StrayWriting,
  known: Partial<Entry> | null = null,
): void {
  const { nats, clock } = life.deps;
  const end = nats.lastSeq(MARKET);
  const last = readEntry(nats, end);
  if (last === null) return;
  const changed = known ?? changedFields(life, change, last.entry);
  const next = { ...last.entry, seq: last.entry.seq + 1, prevEntryHash: last.hash };
  const { text } = sealEntry({ ...next, ...changed });
  if (!FOLLOWED.has(change)) life.strangers.add(text);
  nats.publish(`${MARKET}.entry.${subject}`, text);
  life.lost();
  if (times === 1) return;
  const untilMs = clock.monotonicMs() + GIVE_UP_MS;
  const look = () => {
    const now = nats.lastSeq(MARKET);
    const isEpoch = now > end + 1 && readEntry(nats, now)?.entry.payload.kind === 'epoch';
    if (isEpoch) writeStray(life, { change, subject, times: times - 1 }, changed);
    else if (clock.monotonicMs() < untilMs) clock.after(AGAIN_MS, look);
  };
  look();
}

const STRAY_ENTRIES = [
  ...(['seq', 'epoch', 'term', 'hash', 'block', 'rollback', 'lead'] as const),
  ...(['market', 'lastEpoch', 'otherMarket', 'unknownBlock', 'deepBlock'] as const),
  ...(['highBlock', 'goneBack', 'feedBlock', 'aheadTime'] as const),
  ...(['futureEpoch', 'oddEpoch', 'backEpoch', 'firstEpoch', 'pastEpoch', 'lostEpoch'] as const),
  ...(['sameEpoch', 'earlierEpoch'] as const),
] as const;
type StrayEntry = (typeof STRAY_ENTRIES)[number];
/** What every node follows: a new leader, and blocks that its chain turns out not to have. */
const FOLLOWED: ReadonlySet<StrayEntry> = new Set([
  ...(['lead', 'market', 'unknownBlock', 'deepBlock', 'goneBack'] as const),
  ...(['backEpoch', 'firstEpoch', 'feedBlock', 'aheadTime'] as const),
]);
const OTHER_MARKET = { id: HASH, network: 'other', deployment: 'other' };
const LAST_EPOCH = '999999999999999-stranger';
const LAST_TERM = 1_000_000_000_000;
const YEAR_MS = 365 * 86_400_000;

/**
 * The fields in which a stranger's entry differs from the entry that would follow `entry`. It holds
 * the last trades once more, a rollback to an unknown point, another leader, or a value that would
 * stop a market for ever if nodes believed it.
 */
function changedFields({ deps: { nats } }: Life, change: StrayEntry, entry: Entry): Partial<Entry> {
  const place = { slot: 9_000_000, hash: HASH, height: heightOf(nats) + 1 };
  const aheadMs = entry.timeMs + YEAR_MS;
  const lead = { kind: 'leader', node: 'stranger' };
  const passed = { ...place, kind: 'passed', atMs: aheadMs, blocks: 1 };
  const feed = { kind: 'block', atMs: aheadMs, trades: [] };
  const chain = { ...place, events: [], settled: [], dropped: [] };
  const changes = {
    seq: { seq: LAST },
    epoch: { epoch: LAST_EPOCH },
    term: { term: LAST_TERM },
    hash: { prevEntryHash: HASH },
    block: { payload: lastTrades(nats) ?? entry.payload },
    rollback: { payload: { kind: 'rollback', toSeq: 0 } },
    lead: { payload: lead, term: entry.term + 1 },
    market: { payload: { ...lead, market: OTHER_MARKET }, term: entry.term + 1 },
    unknownBlock: { timeMs: aheadMs, payload: { ...feed, chain } },
    deepBlock: { timeMs: aheadMs, payload: passed },
    highBlock: { payload: { ...passed, atMs: entry.timeMs, height: LAST } },
    goneBack: { payload: { kind: 'rollback', toSeq: blockBefore(nats) } },
    feedBlock: { payload: feed },
    aheadTime: { timeMs: aheadMs, payload: { kind: 'time', phase: 'end' } },
    ...epochFields(nats, entry),
  };
  // trust: a stranger's fields need not be of an entry's types
  return changes[change] as Partial<Entry>;
}

/** First entries of epochs. */
function epochFields(nats: LifeNats, { seq, epoch }: Entry) {
  const number = Number.parseInt(epoch, 10);
  const next = `${number + 1}-stranger`;
  const payload = { kind: 'epoch', reason: 'new' };
  const base = { seq, stateHash: HASH };
  const backTo = (to: number) => ({ kind: 'epoch', reason: 'rollback', base: { seq: to } });
  return {
    lastEpoch: { epoch: LAST_EPOCH, term: LAST_TERM, payload },
    otherMarket: { epoch: next, payload: { ...payload, market: OTHER_MARKET } },
    // A later version; then an earlier one, whose fields nodes do not check.
    futureEpoch: { epoch: next, payload, version: 1_000_000 },
    oddEpoch: { epoch: next, payload: { ...payload, base: null, cursor: null }, version: 3 },
    backEpoch: { epoch: next, payload: backTo(blockBefore(nats)) },
    firstEpoch: { epoch: next, payload: backTo(1) },
    pastEpoch: { epoch: next, payload: backTo(seq + 1_000) },
    lostEpoch: { epoch: next, payload: { kind: 'epoch', reason: 'log lost', base } },
    // This epoch once more, and one that nodes have left.
    sameEpoch: { payload: backTo(blockBefore(nats)) },
    earlierEpoch: { epoch: `${number - 1}-stranger`, payload: backTo(blockBefore(nats)) },
  };
}

/** Seq of a block a few blocks back, or of the entry before where there is none. */
function blockBefore(nats: LifeNats): number {
  const end = nats.lastSeq(MARKET);
  let left = BLOCKS_BACK;
  for (let seq = end; seq > 0; seq -= 1) {
    if (readEntry(nats, seq)?.entry.payload.kind === 'block') left -= 1;
    if (left === 0) return seq;
  }
  return end;
}

/** Of the newest block. */
function heightOf(nats: LifeNats): number {
  for (let seq = nats.lastSeq(MARKET); seq > 0; seq -= 1) {
    const payload = readEntry(nats, seq)?.entry.payload;
    if (payload?.kind === 'passed') return payload.height;
    if (payload?.kind === 'block' && payload.chain !== undefined) return payload.chain.height;
  }
  return 0;
}

/** The newest block that changed something. null: there is none among the last entries. */
function lastTrades(nats: LifeNats): BlockPayload | null {
  const end = nats.lastSeq(MARKET);
  for (let seq = end; seq > Math.max(0, end - MAX_BACK); seq -= 1) {
    const payload = readEntry(nats, seq)?.entry.payload;
    if (payload?.kind === 'block' && (payload.chain?.events.length ?? 0) > 0) return payload;
  }
  return null;
}

function readEntry(nats: LifeNats, seq: number): SealedEntry | null {
  const text = nats.textAt(MARKET, seq);
  try {
    return text === null ? null : openEntry(text);
  } catch {
    return null;
  }
}
