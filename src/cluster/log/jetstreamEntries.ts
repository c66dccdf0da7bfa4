/**
 * Entries as a stream holds them: one message is one entry, and each entry names the hash of the
 * one before it. `audit` checks that in the stream and not in memory: a stream may lose what every
 * node has read, and no new node could get past the gap.
 */
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ENTRY_VERSION, type Entry, openEntry, type SealedEntry } from '../../engine/log/entry.ts';
import { Fault, isFault } from '../../engine/runtime/assert.ts';
import { LAST_DATE_MS } from '../../engine/runtime/limits.ts';
import { epochNumber } from '../../engine/runtime/position.ts';
import { EPOCH_PATTERN, LAST_TERM, Market, Seq } from '../nats/messages.ts';
import type { RangeFetcher } from '../nats/range.ts';
import type { NatsStream, StoredMessage } from '../nats/stream.ts';
import { follows } from './entryWindow.ts';
import { textOf } from './jetstreamAppends.ts';

/** Between two nodes, at most. */
const CLOCKS_DIFFER_MS = 60_000;

/** `latestMs`: the latest time that a leader gives an entry without a block, by our clock. */
export function parseEntry({ seq, data }: StoredMessage, latestMs = LAST_DATE_MS): SealedEntry {
  const fault = `message ${seq} of the stream is no entry`;
  let sealed: SealedEntry;
  try {
    sealed = openEntry(textOf(data));
  } catch (cause) {
    throw new Fault('unreadableEntry', fault, { cause });
  }
  if (!isEntry(sealed.entry)) throw new Fault('unreadableEntry', fault);
  const why = contradictionIn(sealed.entry, seq, latestMs);
  if (why === null) return sealed;
  throw new Fault('unreadableEntry', `message ${seq} of the stream says ${why}`);
}

/**
 * Each leader and each epoch begins with an entry of its own, so neither number is above the
 * entry's. A higher one, or a time far ahead, is a stranger's: nothing could follow it.
 */
function contradictionIn(
  { seq, term, epoch, timeMs, payload }: Entry,
  at: number,
  latestMs: number,
): string | null {
  if (seq !== at) return `it is ${seq}`;
  if (term > seq) return `that ${term} leaders wrote before it`;
  if (epochNumber(epoch) > seq) return `that it is of epoch ${epoch}`;
  const { kind } = payload;
  const from = kind === 'epoch' ? (payload.base?.seq ?? 0) : 0;
  if (from >= seq) return `that it continues entry ${from}`;
  const isByClock = kind === 'block' ? payload.chain === undefined : kind !== 'passed';
  return isByClock && timeMs > latestMs + CLOCKS_DIFFER_MS
    ? `that it is ${new Date(timeMs).toISOString()}`
    : null;
}

/** null: the message is no entry, or not the entry of its seq. */
export function parseEntryOrNull(message: StoredMessage, latestMs?: number): SealedEntry | null {
  try {
    return parseEntry(message, latestMs);
  } catch (error) {
    if (isFault(error, 'unreadableEntry')) return null;
    throw error;
  }
}

/**
 * The first entries that follow each other. If the next entry names another predecessor than the
 * last one, one of those two was not appended there, so the last one is left out as well.
 */
export function inOrder(messages: readonly StoredMessage[], latestMs?: number): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (const message of messages) {
    const before = entries.at(-1);
    const next = parseEntryOrNull(message, latestMs);
    if (before !== undefined && next !== null && isContradicted(before, next)) entries.pop();
    if (next === null || (before !== undefined && !follows(next, before))) break;
    entries.push(next);
  }
  return entries;
}

/**
 * The same, as the stream's leader has them. Throws where the first message is no entry, or the
 * second entry contradicts it: a node that waited for more would wait for ever, and as a candidate
 * keep the lease.
 */
export function entriesOfLeader(messages: readonly StoredMessage[], latestMs?: number) {
  const entries = inOrder(messages, latestMs);
  const [first] = messages;
  if (entries.length > 0 || first === undefined) return entries;
  const { seq } = parseEntry(first, latestMs).entry;
  throw new Fault('unreadableEntry', `entry ${seq + 1} does not follow entry ${seq}`);
}

/** An epoch may begin behind any entry. */
function isContradicted(before: SealedEntry, { entry }: SealedEntry): boolean {
  const isNext = entry.seq === before.entry.seq + 1 && entry.payload.kind !== 'epoch';
  return isNext && entry.prevEntryHash !== before.hash;
}

/**
 * The newest entry of a stream whose last message, `last`, was published by another program. null:
 * the stream has no entry. It is a binary search, because no entry is stored behind such a message.
 */
export async function newestBefore(
  last: StoredMessage,
  stream: NatsStream,
  latestMs: number,
): Promise<SealedEntry | null> {
  let newest: SealedEntry | null = null;
  let [low, high] = [(await stream.state()).first, last.seq - 1];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const message = await stream.at(middle);
    const found = message === null ? null : parseEntryOrNull(message, latestMs);
    newest = found ?? newest;
    if (found === null) high = middle - 1;
    else low = middle + 1;
  }
  return newest;
}

/** `sound` up to `nextSeq`, where the next audit starts, or the seq of the damage. */
export type Audited =
  | { readonly audited: 'sound'; readonly nextSeq: number; readonly atEnd: boolean }
  | { readonly audited: 'damaged'; readonly seq: number };

/** Checks at most `limit` entries from `fromSeq` on. */
export async function audit(
  range: RangeFetcher,
  stream: NatsStream,
  fromSeq: number,
  limit: number,
  latestMs: number,
): Promise<Audited> {
  const messages = await range.read(fromSeq, limit);
  const { first, last } = await stream.state();
  // Entries that were trimmed meanwhile are not missing.
  const from = Math.max(fromSeq, first);
  const there = messages.filter(({ seq }) => seq >= from);
  const isMissing = there[0] === undefined ? from <= last : there[0].seq > from;
  const suspect = isMissing ? from : brokenAt(there, latestMs);
  if (suspect === null) {
    const nextSeq = there.at(-1)?.seq ?? from;
    return { audited: 'sound', nextSeq, atEnd: nextSeq >= last };
  }
  // A consumer gets an entry later than the stream has it: read the entry itself.
  if (await isDamaged(stream, suspect, latestMs)) return { audited: 'damaged', seq: suspect };
  return { audited: 'sound', nextSeq: suspect, atEnd: false };
}

/**
 * The entry at `seq` is missing, is none, or does not follow the one before it, as the stream's
 * leader has them.
 */
export async function isDamaged(
  stream: NatsStream,
  seq: number,
  latestMs: number,
): Promise<boolean> {
  const { first } = await stream.state();
  if (seq < first) return false;
  const message = await stream.at(seq);
  if (message === null) return true;
  const before = seq > first ? await stream.at(seq - 1) : null;
  return brokenAt(before === null ? [message] : [before, message], latestMs) !== null;
}

/** The first seq after the first message at which the next entry is not found. */
function brokenAt(messages: readonly StoredMessage[], latestMs: number): number | null {
  let before: SealedEntry | null = null;
  for (const [index, message] of messages.entries()) {
    const expected = (messages[0]?.seq ?? 0) + index;
    const next = message.seq === expected ? parseEntryOrNull(message, latestMs) : null;
    if (next === null || (before !== null && !follows(next, before))) return expected;
    before = next;
  }
  return null;
}

// The shape of an entry, which any program with the right to publish may have written. If an entry
// has another version, only the fields that all versions share are checked.
const Text = Type.String({ maxLength: 65_536 });
const Id = Type.String({ maxLength: 256 });
const TextOrNull = Type.Union([Text, Type.Null()]);
const Amount = Type.String({ pattern: '^-?[0-9]{1,80}$' });
const Ms = Type.Integer({ minimum: 0, maximum: LAST_DATE_MS });
const Decimals = Type.Integer({ minimum: 0, maximum: 30 });
const Side = Type.Enum(['buy', 'sell']);
const MAX_ITEMS = 100_000;

function listOf<Item extends TSchema>(item: Item) {
  return Type.Array(item, { maxItems: MAX_ITEMS });
}

const Reserves = Type.Object({
  venue: Type.Enum(['CURVE', 'AMM']),
  x: Amount,
  y: Amount,
  owed: Amount,
  splash: Type.Optional(Type.Object({ feeNum: Amount, treasuryFee: Amount, royaltyFee: Amount })),
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

/** A run of empty blocks ends at a height that 1,000 divides. */
const Run = Type.Integer({ minimum: 1, maximum: 1_000 });

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
  passed: { atMs: Ms, slot: Seq, hash: Id, height: Type.Integer(), blocks: Run },
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
  payload: Type.Object({ kind: Type.String({ maxLength: 64 }), market: Type.Optional(Market) }),
});

const envelope = Compile(Envelope);
const payloads = new Map(
  Object.entries(PAYLOADS).map(([kind, fields]) => [kind, Compile(Type.Object(fields))]),
);

function isEntry(value: unknown): value is Entry {
  if (!envelope.Check(value)) return false;
  const { version, payload } = value;
  return version !== ENTRY_VERSION || payloads.get(payload.kind)?.Check(payload) === true;
}
