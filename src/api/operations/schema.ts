import Type from 'typebox';
import { REASON_CODES } from '../../engine/runtime/reasons.ts';

const Nullable = {
  integer: (description: string) => Type.Union([Type.Integer(), Type.Null()], { description }),
  text: (description: string) => Type.Union([Type.String(), Type.Null()], { description }),
};

const TIP = {
  slot: Nullable.integer('Slot of the newest block; null without a chain.'),
  hash: Nullable.text('Hash of the newest block; null without a chain.'),
  time: Nullable.integer('Market time, Unix seconds.'),
  lagMs: Nullable.integer('Milliseconds between the newest entry and now; null where unknown.'),
};

const COMMON = {
  epoch: Type.String({ description: 'Name of the log: <n>-<random>.' }),
  seq: Type.Integer({ description: 'Newest entry that every answer includes.' }),
  node: Type.String(),
  role: Type.Enum(['leader', 'follower', 'reader'], {
    description: 'A reader never leads (ROLE=reader).',
  }),
  synced: Type.Boolean(),
  stale: Type.Boolean({ description: 'The source of entries is silent: right but old.' }),
};

const Sync = Type.Object(
  {
    slot: Nullable.integer('Slot of the newest block here; null before the first.'),
    tipSlot: Nullable.integer(
      "Slot of the node's newest block; null while the node does not tell.",
    ),
    blocksBehind: Nullable.integer('Blocks that are still to come.'),
    percent: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
      description: "Share of the slots from the start of following to the node's newest block.",
    }),
    blocksPerSecond: Type.Number({ minimum: 0, description: 'Over the last 20 seconds.' }),
    secondsLeft: Nullable.integer('At that pace; null where it cannot be told.'),
  },
  { description: 'How far it has come while it catches up with mainnet, preprod or preview.' },
);

export const Live = Type.Object({ live: Type.Literal(true) });

export const Ready = Type.Object({
  ...COMMON,
  position: Type.String({ description: '<epoch>:<seq>' }),
  leader: Nullable.text('Node that leads, as this one saw it last; null: none, nothing new comes.'),
  term: Type.Integer({ description: 'Term of the leader whose entry was applied last.' }),
  lagEntries: Type.Integer({ description: 'Entries that are written and not applied here yet.' }),
  stateHash: Type.String({ description: 'Hex; equal on every node at this position.' }),
  hashedSeq: Type.Integer({
    minimum: 0,
    description: 'Entry after which stateHash was taken: that of the position.',
  }),
  degraded: Type.Boolean({ description: 'It serves, but something is wrong: see reasons.' }),
  reasons: Type.Array(
    Type.Object({
      code: Type.Enum([...REASON_CODES]),
      message: Type.String({ description: 'Cause, and what to do.' }),
    }),
    { description: 'Faults, and conditions that this node waits for; empty: none.' },
  ),
  quarantinedPools: Type.Integer({ minimum: 0 }),
  stuckPools: Type.Array(Type.String(), {
    description:
      'Tokens of pools with a step (fill, refund, graduation, payout to the creator) that fails; ' +
      'the other steps go on. Told by the leader; at most a hundred. Reasons say more.',
  }),
  mayNotLead: Nullable.text(
    'Why this node of several must not lead (full disk, wrong clock); null: it may.',
  ),
  tip: Type.Object(TIP),
  sync: Type.Union([Sync, Type.Null()], {
    description: 'null: there is nothing to catch up with.',
  }),
});

const Rollback = Type.Object(
  {
    seq: Type.Integer({ description: 'The entry that it was: another one is another rollback.' }),
    toSlot: Nullable.integer('Slot of the newest block that it left; null: none, or no chain.'),
    blocks: Nullable.integer('How many blocks it took away; null without a chain.'),
  },
  { $id: 'Rollback' },
);

export const HealthUpdate = Type.Object({
  ...COMMON,
  tip: Type.Object({
    ...TIP,
    height: Nullable.integer('Height of the newest block; null without a chain.'),
  }),
  rollback: Type.Union([Rollback, Type.Null()], {
    description: 'The newest rollback that holds; null: there was none.',
  }),
  reasons: Type.Array(Type.String(), {
    description: 'Codes of faults, and of conditions that this node waits for: see /health/ready.',
  }),
  submits: Type.Boolean({ description: 'false: submissions answer 503 NOT_READY for now.' }),
});

export const ServerTime = Type.Object({
  timestamp: Type.Integer({ description: 'Wall clock of this node, Unix milliseconds.' }),
});

const ClassLimit = Type.Object({
  limit: Type.Integer({ description: 'Requests that fit into the full bucket.' }),
  remaining: Type.Integer({ description: 'Requests left in it.' }),
  reset: Type.Integer({ description: 'Seconds until it is full again.' }),
});

export const Limits = Type.Object({
  caller: Type.String({ description: 'Name of the API key, or the address (IPv6: the /64).' }),
  scope: Type.Literal('node', { description: 'Each node counts for itself.' }),
  exempt: Type.Boolean({
    description: 'Nothing is counted: a call from the same machine, without an API key.',
  }),
  classes: Type.Object({ read: ClassLimit, build: ClassLimit, launch: ClassLimit }),
  sockets: Type.Object({
    limit: Type.Integer({ description: 'Sockets and event streams that may be open.' }),
    open: Type.Integer({ description: 'Open sockets now.' }),
  }),
});
