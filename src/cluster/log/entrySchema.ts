/**
 * The shape of an entry in NATS, where any program with the right to publish may have written it.
 * Checks what readers and the fold rely on: kinds, fields, integers in texts, bounds. An entry of
 * another version than ours is checked as far as all versions are the same.
 */
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ENTRY_VERSION, type Entry } from '../../engine/log/entry.ts';
import { EPOCH_PATTERN, LAST_MS, LAST_TERM, Market, Seq } from '../nats/messages.ts';

const Text = Type.String({ maxLength: 65_536 });
const Id = Type.String({ maxLength: 256 });
const TextOrNull = Type.Union([Text, Type.Null()]);
const Amount = Type.String({ pattern: '^-?[0-9]{1,80}$' });
const Ms = Type.Integer({ minimum: 0, maximum: LAST_MS });
const Decimals = Type.Integer({ minimum: 0, maximum: 30 });
const Side = Type.Enum(['buy', 'sell']);
const MOST_ITEMS = 100_000;

function listOf<Item extends TSchema>(item: Item) {
  return Type.Array(item, { maxItems: MOST_ITEMS });
}

const Reserves = Type.Object({
  venue: Type.Enum(['CURVE', 'AMM']),
  x: Amount,
  y: Amount,
  owed: Amount,
});

const Pool = Type.Object({
  nft: Id,
  token: Id,
  aNum: Amount,
  bNum: Amount,
  supply: Amount,
  thresholdLovelace: Amount,
  executor: Text,
  seed: TextOrNull,
  author: Type.Object({ pkh: Text, skh: Text, address: Text }),
  name: Text,
  ticker: Text,
  logoCID: Text,
  description: Text,
  launchType: Type.Number(),
  socials: Type.Object({ twitter: Text, discord: Text, telegram: Text, website: Text }),
  metadataRef: TextOrNull,
});

const rest = {
  ref: Id,
  amount: Amount,
  feeLovelace: Amount,
  depositLovelace: Amount,
  heldTokens: Type.Optional(Amount),
};

const Order = Type.Object({
  ...rest,
  at: Id,
  token: Id,
  side: Side,
  worstPrice: Type.Object({ numerator: Amount, denominator: Amount }),
  refundAfterMs: Type.Number(),
  address: Text,
  pkh: Text,
  beacon: Text,
});

const Lock = Type.Object({
  ref: Id,
  token: Id,
  amount: Amount,
  unlockMs: Amount,
  owner: Text,
  ownerAddress: Text,
});

/** Fields of each kind of event, beside `tx` and `kind`. */
const EVENTS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  launched: { pool: Pool },
  adopted: { pool: Pool },
  filled: {
    at: Id,
    token: Id,
    order: Type.Union([Id, Type.Null()]),
    side: Side,
    tokens: Amount,
    lovelace: Amount,
    after: Reserves,
  },
  moved: { token: Id, ref: Id, to: Reserves },
  graduated: { token: Id, nft: Type.Optional(Id) },
  collected: { token: Id, lovelace: Amount },
  placed: { order: Order },
  executed: { order: Id, received: Amount, unspent: Type.Optional(Amount) },
  partlyExecuted: {
    order: Id,
    from: Id,
    amount: Amount,
    received: Amount,
    feeLovelace: Amount,
    rest: Type.Object(rest),
  },
  refunded: { order: Id },
  cancelled: { order: Id },
  locked: { lock: Lock },
  withdrawn: { lock: Id },
  settings: { ref: Id, executor: Text, feeAddress: Text },
  made: {
    ref: Id,
    address: Text,
    pkh: TextOrNull,
    isOurs: Type.Boolean(),
    lovelace: Amount,
    assets: Type.Record(Type.String(), Amount),
    datum: Type.Union([Type.String(), Type.Null()]),
  },
  spent: { ref: Id },
};

const Events = listOf(
  Type.Union(
    Object.entries(EVENTS).map(([kind, fields]) =>
      Type.Object({ tx: Id, kind: Type.Literal(kind), ...fields }),
    ),
  ),
);

const Dropped = listOf(Type.Object({ id: Id, reason: Text }));
const Cursor = Type.Object({ feed: Text, line: Seq });

const Trade = Type.Object({
  base: Id,
  quote: Id,
  baseDecimals: Decimals,
  quoteDecimals: Decimals,
  id: Id,
  baseAmount: Amount,
  quoteAmount: Amount,
});

const Chain = Type.Object({
  slot: Seq,
  hash: Id,
  height: Type.Integer(),
  events: Events,
  settled: listOf(Id),
  dropped: Dropped,
});

/** Fields of each kind of payload, beside `kind`. */
const PAYLOADS: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  block: {
    atMs: Ms,
    trades: listOf(Trade),
    cursor: Type.Optional(Cursor),
    chain: Type.Optional(Chain),
  },
  passed: { atMs: Ms, slot: Seq, hash: Id, height: Type.Integer(), blocks: Seq },
  rollback: { toSeq: Seq, cursor: Type.Optional(Cursor) },
  time: { phase: Type.Enum(['end', 'start']) },
  epoch: {
    reason: Type.Enum(['new', 'rollback', 'log lost']),
    base: Type.Optional(
      Type.Object({
        seq: Seq,
        stateHash: Type.Optional(Id),
        entryHash: Type.Optional(Id),
      }),
    ),
    cursor: Type.Optional(Cursor),
    market: Type.Optional(Market),
  },
  mempool: {
    seenMs: Ms,
    whole: Type.Boolean(),
    added: listOf(Type.Object({ id: Id, events: Events })),
    removed: Dropped,
    absent: Type.Optional(listOf(Id)),
  },
  leader: { node: Id, market: Type.Optional(Market) },
};

const Envelope = Type.Object({
  version: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  epoch: Type.String({ pattern: EPOCH_PATTERN }),
  seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  term: Type.Integer({ minimum: 0, maximum: LAST_TERM }),
  prevEntryHash: Type.String({ maxLength: 64 }),
  timeMs: Ms,
  payload: Type.Object({ kind: Type.String({ maxLength: 64 }) }),
});

const envelope = Compile(Envelope);
const payloads = new Map(
  Object.entries(PAYLOADS).map(([kind, fields]) => [kind, Compile(Type.Object(fields))]),
);

export function isEntry(value: unknown): value is Entry {
  if (!envelope.Check(value)) return false;
  const { version, payload } = value;
  return version !== ENTRY_VERSION || payloads.get(payload.kind)?.Check(payload) === true;
}
