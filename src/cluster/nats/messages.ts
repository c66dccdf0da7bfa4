/**
 * The decoder of everything that NATS delivers: values of buckets, entries and notices of the log,
 * descriptions of files, calls between nodes, acknowledgements. Any program with the right to
 * publish may have written it, so each kind has a schema with bounds. A message that does not fit
 * is dropped and reported.
 *
 * Fields that a schema does not name are kept: a newer version may have added them.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { LAST_DATE_MS, MAX_LEASE_MS } from '../../engine/runtime/limits.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;
/** A term begins with each leader: at one a second, 30,000 years. */
export const LAST_TERM = 1_000_000_000_000;

export const Seq = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Ms = Type.Integer({ minimum: 0, maximum: LAST_DATE_MS });
const Term = Type.Integer({ minimum: 0, maximum: LAST_TERM });
export const EPOCH_PATTERN = '^[0-9]{1,15}-[A-Za-z0-9_-]{1,24}$';
const Epoch = Type.String({ pattern: EPOCH_PATTERN });
/** SHA-256 as 64 hex digits; empty: none. */
const Hash = Type.String({ maxLength: 64, pattern: '^[0-9a-f]*$' });
const Name = Type.String({ minLength: 1, maxLength: 256 });
export const Market = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  network: Type.String({ maxLength: 64 }),
  deployment: Type.String({ maxLength: 256 }),
});

const Lease = Type.Object({ node: Name, subject: Name, market: Type.Optional(Market) });

const Announcement = Type.Object({
  node: Name,
  epoch: Epoch,
  term: Term,
  seq: Seq,
  reader: Type.Optional(Type.Literal(true)),
  market: Type.Optional(Market),
  // Values of the bucket live as long as the longest announced lease.
  leaseMs: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LEASE_MS })),
  replicas: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
});

const Process = Type.Object({
  node: Name,
  token: Name,
  host: Type.String({ maxLength: 256 }),
  sinceMs: Ms,
  aheadMs: Type.Union([
    Type.Number({ minimum: -LAST_DATE_MS, maximum: LAST_DATE_MS }),
    Type.Null(),
  ]),
});

/** A log is about to begin at `beginsAt`, with the entry of this hash. */
const Notice = Type.Object({
  beginsAt: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Manifest = Type.Object({
  version: Type.Literal(1),
  state: Name,
  checkpoint: Type.Object({
    epoch: Epoch,
    seq: Seq,
    term: Term,
    entryHash: Hash,
    stateHash: Hash,
    hashedSeq: Seq,
    marketMs: Ms,
    openedMs: Ms,
    seenMs: Ms,
    market: Type.Optional(Market),
  }),
});

/** The object store's description of a file. */
const FileInfo = Type.Object({
  name: Name,
  nuid: Type.String({ pattern: '^[A-Za-z0-9]{1,64}$' }),
  chunks: Type.Integer({ minimum: 0, maximum: 10_000_000 }),
  digest: Type.Optional(Type.String({ maxLength: 128 })),
  deleted: Type.Optional(Type.Boolean()),
});

/** Nodes of an older version name no epoch in calls. */
const CallRequest = Type.Object({
  name: Name,
  input: Type.Unknown(),
  epoch: Type.Optional(Epoch),
  seq: Seq,
});

const CallReply = Type.Object({
  epoch: Type.Optional(Epoch),
  seq: Seq,
  output: Type.Optional(Type.Unknown()),
  failure: Type.Optional(
    Type.Object({
      cause: Name,
      message: Type.String({ maxLength: 64 * KIB }),
      status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
      retryAfterSeconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
      reason: Type.Optional(Type.String({ maxLength: 256 })),
    }),
  ),
});

const Mark = Type.Union([
  Type.Object({ seq: Seq, prev: Type.Union([Seq, Type.Null()]) }),
  Type.Null(),
]);
const MsOrNull = Type.Union([Ms, Type.Null()]);
const WebhookTopic = Type.Object({
  topic: Name,
  data: Type.Optional(Type.Unknown()),
  requestId: Type.Union([Type.String({ maxLength: KIB }), Type.Number()]),
  since: Type.Optional(Type.Object({ epoch: Epoch, seq: Seq })),
  snapshot: Type.Boolean(),
  maxHz: Type.Optional(Type.Number({ minimum: 0 })),
});
const Webhook = Type.Object({
  webhook: Type.Object({
    id: Name,
    owner: Name,
    url: Type.String({ maxLength: 8 * KIB }),
    secret: Type.String({ maxLength: KIB }),
    topics: Type.Array(WebhookTopic, { maxItems: 1_000 }),
    createdMs: Ms,
  }),
  progress: Type.Object({
    epoch: Type.Union([Epoch, Type.Null()]),
    marks: Type.Array(Mark, { maxItems: 1_000 }),
    failures: Seq,
    failingSinceMs: MsOrNull,
    nextTryMs: MsOrNull,
    lastError: Type.Union([
      Type.Object({ atMs: Ms, message: Type.String({ maxLength: 64 * KIB }) }),
      Type.Null(),
    ]),
    deliveredMs: MsOrNull,
    isStopped: Type.Boolean(),
  }),
});

const Acknowledgement = Type.Object({
  seq: Type.Optional(Seq),
  duplicate: Type.Optional(Type.Boolean()),
  error: Type.Optional(
    Type.Object({
      code: Type.Integer(),
      err_code: Type.Optional(Type.Integer()),
      description: Type.Optional(Type.String({ maxLength: 64 * KIB })),
    }),
  ),
});

/** Each kind: its schema, and the longest text that is read at all. */
const KINDS = {
  lease: [Lease, 4 * KIB],
  announcement: [Announcement, 4 * KIB],
  process: [Process, 4 * KIB],
  notice: [Notice, KIB],
  manifest: [Manifest, 64 * KIB],
  file: [FileInfo, 64 * KIB],
  callRequest: [CallRequest, 16 * MIB],
  callReply: [CallReply, 16 * MIB],
  webhook: [Webhook, MIB],
  acknowledgement: [Acknowledgement, 64 * KIB],
} as const satisfies Record<string, readonly [TSchema, number]>;

type Decoded = keyof typeof KINDS;
type MessageKind = Decoded | 'entry';

/** Reports why a message was dropped, without its content. */
type Drop = (kind: MessageKind, why: string) => void;

const checks = new Map<TSchema, ReturnType<typeof Compile>>();

function check(schema: TSchema): ReturnType<typeof Compile> {
  let compiled = checks.get(schema);
  if (compiled === undefined) {
    compiled = Compile(schema);
    checks.set(schema, compiled);
  }
  return compiled;
}

export class Messages {
  readonly #listeners = new Set<Drop>();

  /** Calls back at each message that is dropped. */
  onDropped(listener: Drop): void {
    this.#listeners.add(listener);
  }

  /** null: it does not fit, and was told of. */
  read<Kind extends Decoded>(
    kind: Kind,
    data: string | Uint8Array,
  ): Static<(typeof KINDS)[Kind][0]> | null {
    const [schema, most] = KINDS[kind];
    if (data.length > most) return this.#drop(kind, `it has ${data.length} bytes`);
    let value: unknown;
    try {
      value = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString());
    } catch {
      return this.#drop(kind, 'it is no JSON');
    }
    // trust: the schema was checked
    if (check(schema).Check(value)) return value as Static<(typeof KINDS)[Kind][0]>;
    const [first] = check(schema).Errors(value);
    return this.#drop(
      kind,
      `${first?.instancePath ?? ''} ${first?.message ?? 'does not fit'}`.trim(),
    );
  }

  /** Says that a message is dropped which another part found unfit. */
  dropped(kind: MessageKind, why: string): void {
    this.#drop(kind, why);
  }

  #drop(kind: MessageKind, why: string): null {
    for (const listener of this.#listeners) listener(kind, why);
    return null;
  }
}
