/**
 * Each step alone, in a market that trades: its disturbance happens, and no rule breaks. The seeds
 * of `cluster.slow.test.ts` draw the same steps among others, so CI plays only those.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONG_ONLY } from '../support/long.ts';
import { runSchedule } from './life/run.ts';
import type { Field, LifeSettings, Schedule } from './life/schedule.ts';
import { MARKET } from './life/steps/nats.ts';

const LIMIT_MS = 300_000;
const AT_MS = 60_000;
const CALM_MS = 240_000;

const SETTINGS: LifeSettings = {
  nodes: 3,
  natsServers: 3,
  copies: 3,
  natsVersion: '2.12',
  leaseMs: 2_000,
  horizonBlocks: 20,
  snapshotEvery: 100,
  blockEveryMs: 5_000,
};

interface Step {
  readonly step: string;
  readonly forMs?: number;
  readonly delayMs?: number;
  readonly [field: string]: Field | undefined;
}

interface Played {
  readonly steps: readonly Step[];
  readonly settings?: Partial<LifeSettings>;
  /** Lines that nodes must have logged about it. */
  readonly says?: RegExp;
}

/** The first entry of those 20 s. */
const MISSED = { percent: 0, forMs: 20_000 };

const RESTORED = { step: 'restore', forMs: 60_000 };

const THROUGH_READER = {
  step: 'askReader',
  readerMs: 300,
  othersMs: 4_000,
  orders: 6,
  seed: 12,
  forMs: 60_000,
};

function stray(subject: string, text: string): Step {
  return { step: 'stray', subject, text };
}

const LAST = Number.MAX_SAFE_INTEGER;

const STEPS: Readonly<Record<string, Played>> = {
  'the disk of the leader is full': {
    steps: [{ step: 'fullDisk', node: 'leader', forMs: 50_000 }],
    says: /n\d +error mayNotLead .*its disk takes nothing/,
  },
  'the clock of the leader is wrong': {
    steps: [{ step: 'clockJump', node: 'leader', ms: 60_000, forMs: 50_000 }],
    says: /n\d +error mayNotLead .*its clock/,
  },
  'NATS has no room': { steps: [{ step: 'natsFull', forMs: 20_000 }] },
  'one copy of an entry is damaged': {
    steps: [0, 1, 2].map((server) => ({ ...MISSED, step: 'damageOneCopy', server })),
  },
  'one copy has another entry': {
    steps: [{ ...MISSED, step: 'twoHistories', server: 1 }],
  },
  'a copy is given up and made again': {
    steps: [{ step: 'removePeer', server: 1, forMs: 20_000 }],
  },
  'copies are raised by the nodes': {
    steps: [{ step: 'raiseReplicas', by: 'nodes', forMs: 30_000 }],
    settings: { copies: 1 },
  },
  'the disk of the devnet is full': { steps: [{ step: 'devnetDiskFull', forMs: 20_000 }] },
  'a backup of an earlier epoch comes back': {
    steps: [{ step: 'restore', node: 'follower', losses: 1, forMs: 60_000 }],
  },
  'backups of an earlier epoch come back on two nodes at once': {
    steps: [0, 1].map((node) => ({ ...RESTORED, node, losses: 1 - node })),
  },
  'backups of an earlier epoch come back on all nodes at once': {
    steps: [0, 1, 2].map((node) => ({ ...RESTORED, node, losses: node === 0 ? 1 : 0 })),
  },
  'a node of the version before leads': {
    steps: [{ step: 'olderLeader', version: 4, entries: 5, forMs: 10_000 }],
    says: /appended behind \d+: true, true, true, true, true/,
  },
  'orders wait while the leader hands over': {
    steps: [{ step: 'handOver', orders: 3, seed: 7, how: 'stop', afterMs: 1_500, forMs: 20_000 }],
    settings: { blockEveryMs: 20_000 },
  },
  'a leader that has more comes back to an epoch from less': {
    steps: [{ step: 'furtherButCut', blocks: 4, forMs: 50_000 }],
    says: /epochStarted/,
  },
  'the words of a leader come late': {
    steps: [{ step: 'lateWords', way: 'both', everyMs: 200, leases: 1, lagMs: 10_000 }],
  },
  'strangers write on every subject of the market': {
    steps: [
      stray(`$KV.${MARKET}-nodes.leader`, 'null'),
      stray(`$KV.${MARKET}-nodes.leader`, '{"node":"stranger","subject":"nowhere"}'),
      stray(`$KV.${MARKET}-nodes.process.n1`, 'not json'),
      stray(
        `$KV.${MARKET}-nodes.process.n1`,
        '{"node":"n1","token":"a","host":"there","sinceMs":0,"aheadMs":null}',
      ),
      stray(`$KV.${MARKET}-nodes.node.n2`, '{}'),
      stray(`$O.${MARKET}-files.M.c3RyYW5nZXI=`, '[]'),
      stray(`${MARKET}-calls.any`, '{"name":"submit","input":{},"seq":0}'),
      stray(`${MARKET}-leader`, '[[[['),
      stray(`${MARKET}.entry.notice`, `{"beginsAt":${LAST},"hash":"${'ab'.repeat(32)}"}`),
      stray(`${MARKET}.entry.t1-abc`, '{"node":1}'),
      { step: 'strayEntry', change: 'hash', subject: 'block' },
    ].map((step, at) => ({ ...step, delayMs: 2_500 * at })),
  },
  'a node starts while a stranger announces five copies and a long lease': {
    steps: [
      stray(
        `$KV.${MARKET}-nodes.node.n9`,
        '{"node":"n9","epoch":"1-x","term":1,"seq":1,"leaseMs":60000,"replicas":5}',
      ),
      { step: 'stop', node: 'follower', delayMs: 1, forMs: 100 },
    ],
  },
  'a message is no entry, and there are older snapshots': {
    steps: [{ step: 'stranger', text: 'no entry' }],
    settings: { snapshotEvery: 20 },
  },
  'an entry that fits repeats a block': {
    steps: [{ step: 'strayEntry', change: 'block', subject: 'block' }],
    says: /n1 +error logDiverged .*cannot be applied/,
  },
  'an entry that fits goes back to where nothing is known, and all nodes start behind it': {
    steps: [
      { step: 'strayEntry', change: 'rollback', subject: 'block' },
      { step: 'killAll', delayMs: 1, forMs: 2_000 },
    ],
    says: /n1 +error logDiverged .*cannot be applied/,
  },
  'an entry of another leader fits': {
    steps: [{ step: 'strayEntry', change: 'lead', subject: 'block' }],
  },
  'an entry that fits names another market': {
    steps: [{ step: 'strayEntry', change: 'market', subject: 'block' }],
  },
  'an entry begins the last epoch that a log can have': {
    steps: [
      { step: 'strayEntry', change: 'lastEpoch', subject: 'epoch' },
      { step: 'killAll', delayMs: 1, forMs: 2_000 },
    ],
  },
  'an entry begins an epoch of another market': {
    steps: [
      { step: 'strayEntry', change: 'otherMarket', subject: 'epoch' },
      { step: 'killAll', delayMs: 1, forMs: 2_000 },
    ],
  },
  'an entry that fits is a block that the chain does not have, a year ahead': {
    steps: [{ step: 'strayEntry', change: 'unknownBlock', subject: 'block' }],
  },
  'an entry that fits is a block that nothing could undo': {
    steps: [{ step: 'strayEntry', change: 'deepBlock', subject: 'block' }],
  },
  'an entry that fits is a block too high to go back from': {
    steps: [{ step: 'strayEntry', change: 'highBlock', subject: 'block' }],
    says: /n1 +error logDiverged .*cannot be applied/,
  },
  'an entry that fits goes back three blocks': {
    steps: [{ step: 'strayEntry', change: 'goneBack', subject: 'block' }],
  },
  'an entry that cannot be applied comes again in each epoch, four times between two blocks': {
    steps: [{ step: 'strayEntry', change: 'rollback', subject: 'block', times: 4 }],
    settings: { blockEveryMs: 20_000 },
    says: /n1 +error logDiverged .*cannot be applied[\s\S]*n1 +error logDiverged/,
  },
  'strangers begin epochs from what no node has, or knows': {
    steps: (
      [
        ['futureEpoch', 1],
        ['oddEpoch', 1],
        ['pastEpoch', 1],
        ['lostEpoch', 3],
        ['sameEpoch', 1],
        ['earlierEpoch', 1],
      ] as const
    ).map(([change, times], at) => {
      return { step: 'strayEntry', change, subject: 'epoch', times, delayMs: 15_000 * at };
    }),
  },
  'an epoch begins behind an entry that says it has the last number': {
    steps: ['seq', 'backEpoch'].map((change) => {
      return { step: 'strayEntry', change, subject: 'epoch' };
    }),
  },
  'entries that fit move time a year ahead, with trades and without': {
    steps: ['feedBlock', 'aheadTime'].map((change, at) => {
      return { step: 'strayEntry', change, subject: 'block', delayMs: 15_000 * at };
    }),
  },
  'people order through a reader that streams reach late': {
    steps: [{ ...THROUGH_READER, late: 'reader' }],
  },
  'people order through a reader while streams reach the others late': {
    steps: [{ ...THROUGH_READER, late: 'others' }],
    settings: { natsServers: 1, copies: 1 },
  },
  'the leader begins the log again, and its purge is late': {
    steps: [{ step: 'lateBegin', blocks: 8, write: 2, afterMs: 14, forMs: 300_000 }],
    says: /epochStarted .*log lost/,
  },
  'a fork drops what its blocks held': {
    steps: [{ step: 'fork', depth: 10, resubmit: 'none' }],
  },
};

function scheduleOf({ steps, settings }: Played): Schedule {
  const seed = 7;
  const trade = { atMs: 1_000, step: 'trade', everyMs: 3_000, seed: 983_258, forMs: 120_000 };
  const forMs = Math.max(...steps.map((step) => step.forMs ?? 0)) + 15_000;
  const lastMs = Math.max(...steps.map(({ delayMs = 0 }) => delayMs));
  const calm = { atMs: AT_MS + lastMs + forMs, step: 'calm', forMs: CALM_MS };
  const timed = steps.map(({ delayMs = 0, ...step }) => ({ ...step, atMs: AT_MS + delayMs }));
  const endMs = calm.atMs + 60_000;
  return { seed, settings: { ...SETTINGS, ...settings }, steps: [trade, ...timed, calm], endMs };
}

for (const [name, played] of Object.entries(STEPS)) {
  test(`${name}: no rule breaks`, { timeout: LIMIT_MS, ...LONG_ONLY }, async (t) => {
    const { broken, timeline, positions } = await runSchedule(scheduleOf(played));
    if (broken !== null) {
      for (const line of [...timeline, ...positions]) t.diagnostic(line);
      assert.fail(`${broken.invariant}: ${broken.why}`);
    }
    if (played.says !== undefined) assert.match(timeline.join('\n'), played.says);
  });
}
