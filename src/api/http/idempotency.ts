/**
 * `Idempotency-Key`: a client that lost the answer to a build sends the request again and gets the
 * same transaction, so that a transaction signed twice can happen only once. Answers are kept in
 * the memory of this node; another node, or a new start, builds again.
 *
 * Only answers with 200 are kept. Requests that come while the first one is built wait for it; if
 * that build fails, the next of them is built.
 */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, invalidField } from '../../engine/runtime/errors.ts';
import type { Caller } from '../gateway/address.ts';
import { isRecord } from '../gateway/input.ts';
import type { Answer, Route, RouteRequest } from '../gateway/port.ts';
import { inOneTurn } from '../gateway/route.ts';

type Outcome = Answer | Failure;

interface Kept {
  readonly request: string;
  readonly keptMs: number;
  readonly answer: Answer;
}

/** `outcome` is being made. */
interface Running {
  readonly request: string;
  readonly outcome: Promise<Outcome>;
}

const IDEMPOTENCY_MINUTES = 10;
const KEEP_MS = IDEMPOTENCY_MINUTES * 60_000;
const MAX_BYTES = 64 * 1_048_576;
/** Size of an entry without its answer. */
const ENTRY_BYTES = 512;
const KEY = /^[\x21-\x7e]{1,64}$/;

export class IdempotentAnswers {
  readonly #clock: Clock;
  readonly #running = new Map<string, Running>();
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }) => ENTRY_BYTES + answer.body.length,
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The answer to a request that a client may have sent before under the same `key`. */
  async answer(key: string, caller: Caller, route: Route, request: RouteRequest): Promise<Outcome> {
    const { idempotency } = route;
    if (idempotency === undefined) return inOneTurn(route.handle(request));
    if (!KEY.test(key)) {
      return invalidField('headers.idempotency-key', 'must have 1 to 64 visible ASCII characters');
    }
    const wallet = idempotency.wallet(request);
    const scope = JSON.stringify([caller.key, route.operationId, wallet, key]);
    const asked = fingerprint(route, request);
    for (;;) {
      const running = this.#running.get(scope);
      const known = running ?? this.#fresh(scope);
      if (known === undefined) return this.#make(scope, asked, route, request);
      if (known.request !== asked) return conflict();
      if (running !== undefined) {
        // Kept by then, or it failed and there is nothing.
        await running.outcome.catch(() => null);
        continue;
      }
      const kept = this.#kept.get(scope);
      if (kept === undefined) continue;
      const isCurrent = await idempotency.isCurrent(kept.answer);
      if (isCurrent instanceof Failure) return isCurrent;
      if (isCurrent) return replayed(kept.answer);
      if (this.#kept.peek(scope) === kept) this.#kept.delete(scope);
    }
  }

  #fresh(scope: string): Kept | undefined {
    const kept = this.#kept.get(scope);
    const isOver = kept !== undefined && this.#clock.monotonicMs() - kept.keptMs >= KEEP_MS;
    if (!isOver) return kept;
    this.#kept.delete(scope);
    return undefined;
  }

  async #make(scope: string, asked: string, route: Route, request: RouteRequest): Promise<Outcome> {
    const outcome = Promise.resolve().then(() => inOneTurn(route.handle(request)));
    this.#running.set(scope, { request: asked, outcome });
    try {
      const answer = await outcome;
      if (!(answer instanceof Failure) && (answer.status ?? 200) === 200) {
        this.#kept.set(scope, { request: asked, keptMs: this.#clock.monotonicMs(), answer });
      }
      return answer;
    } finally {
      this.#running.delete(scope);
    }
  }
}

function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } };
}

function conflict(): Failure {
  const message =
    'this Idempotency-Key was sent before with other fields: repeat those, or take a new key';
  return new Failure('IDEMPOTENCY_CONFLICT', message);
}

/**
 * Hash of the input that the route reads: fields in any order, unknown ones left out, files by
 * their content. Two requests that mean the same have one: hex in either case, an amount with zeros
 * before it, a field that is absent or says what its absence means.
 */
function fingerprint(route: Route, { body, files = [] }: RouteRequest): string {
  const { form, idempotency } = route;
  const parts = files.map(({ name, mediaType, bytes }) => [name, mediaType, hash('sha256', bytes)]);
  const meaning = meaningOf(form?.fields ?? route.body, body, idempotency?.likeAbsent ?? {});
  return hash('sha256', JSON.stringify([meaning, parts.sort()]));
}

function meaningOf(
  schema: unknown,
  value: unknown,
  likeAbsent: Readonly<Record<string, unknown>>,
): unknown {
  if (Array.isArray(value)) {
    const items = isRecord(schema) ? choiceWith(schema, 'items')?.items : undefined;
    return value.map((item) => meaningOf(items, item, likeAbsent));
  }
  if (!isRecord(value)) return spelling(schema, value);
  const fields = isRecord(schema) ? choiceWith(schema, 'properties')?.properties : undefined;
  return Object.keys(value)
    .filter((name) => !isRecord(fields) || Object.hasOwn(fields, name))
    .filter((name) => !isDeepStrictEqual(value[name], likeAbsent[name]))
    .sort()
    .map((name) => {
      const inner = isRecord(fields) ? fields[name] : undefined;
      return [name, meaningOf(inner, value[name], likeAbsent)];
    });
}

/** The common spelling of equal values, by the schema's pattern. */
function spelling(schema: unknown, value: unknown): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const pattern = isRecord(schema) ? String(choiceWith(schema, 'pattern')?.pattern) : '';
  if (pattern.includes('a-fA-F')) return String(value).toLowerCase();
  const isDigits = typeof value === 'number' || /^[([^]*0-9\]/.test(pattern);
  return isDigits ? String(value).replace(/^0+(?=\d)/, '') : value;
}

/** The schema itself, or the first of its alternatives that has this keyword. */
function choiceWith(schema: Record<string, unknown>, keyword: string) {
  if (keyword in schema) return schema;
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return choices.find((choice) => isRecord(choice) && keyword in choice);
}
