import Type from 'typebox';

const Nullable = {
  integer: (description: string) => Type.Union([Type.Integer(), Type.Null()], { description }),
  text: (description: string) => Type.Union([Type.String(), Type.Null()], { description }),
};

const TIP = {
  slot: Nullable.integer('Slot of the newest block; null without a chain.'),
  hash: Nullable.text('Hash of the newest block; null without a chain.'),
  lagMs: Nullable.integer('Milliseconds between the newest entry and now; null where unknown.'),
};

const COMMON = {
  epoch: Type.String({ description: 'Name of the log: <n>-<random>.' }),
  seq: Type.Integer({ description: 'Newest entry that every answer includes.' }),
  node: Type.String(),
  role: Type.Enum(['leader', 'follower']),
  synced: Type.Boolean(),
  stale: Type.Boolean({ description: 'The source of entries is silent: right but old.' }),
};

export const Live = Type.Object({ live: Type.Literal(true) });

export const Ready = Type.Object({
  ...COMMON,
  position: Type.String({ description: '<epoch>:<seq>' }),
  term: Type.Integer({ description: 'Of the leader whose entry was applied last.' }),
  lagEntries: Type.Integer({ description: 'Entries that are written and not applied here yet.' }),
  stateHash: Type.String({ description: 'Hex; equal on every node at this position.' }),
  degraded: Type.Boolean({ description: 'Some pools are quarantined; the others are served.' }),
  quarantinedPools: Type.Integer({ minimum: 0 }),
  tip: Type.Object(TIP),
});

export const HealthUpdate = Type.Object({
  ...COMMON,
  tip: Type.Object({ ...TIP, time: Nullable.integer('Market time, Unix seconds.') }),
});

export const ServerTime = Type.Object({
  timestamp: Type.Integer({ description: 'Wall clock of this node, Unix milliseconds.' }),
});
