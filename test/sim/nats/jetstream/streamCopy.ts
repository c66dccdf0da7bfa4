/**
 * One copy of a stream: applies operations, and checks the expectations of publishes. nats-server
 * 2.9 and 2.12 compare in another order and at other times; `rules` says which.
 */
import type { MsgHdrs } from '@nats-io/transport-node';
import { headerBytes, type Packet } from '../packet.ts';
import { type ApiError, apiErrors } from './apiError.ts';
import { NANOS_PER_MS, type StreamConfig } from './config.ts';
import { type StoredMessage, StreamStore } from './store.ts';

export interface StreamRules {
  readonly version: '2.9' | '2.12';
  /** Several copies: publishes are agreed on before they are applied. */
  readonly isClustered: boolean;
}

export type Operation =
  | { readonly op: 'publish'; readonly packet: Packet; readonly timeMs: number }
  | { readonly op: 'purge'; readonly filter: string; readonly seq: number; readonly keep: number }
  | { readonly op: 'remove'; readonly seq: number };

export type Applied =
  | { readonly applied: 'stored'; readonly message: StoredMessage }
  | { readonly applied: 'duplicate'; readonly seq: number }
  | { readonly applied: 'refused'; readonly error: ApiError }
  | { readonly applied: 'removed'; readonly count: number };

/** Publishes that were proposed and are not applied yet. */
interface InFlight {
  readonly count: number;
  readonly subjects: ReadonlyMap<string, number>;
}

const STORE_OVERHEAD = 30;
const HEADER_OVERHEAD = 4;
const DURATION = /^(\d+)(ms|s|m|h)?$/;
const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export class StreamCopy {
  store: StreamStore;
  readonly #rules: StreamRules;
  /** Ids of the window, the oldest first. */
  #ids = new Map<string, { readonly seq: number; readonly timeMs: number }>();
  #lastId = '';
  /** The last sequence as 2.9 counts: a purge beyond the end does not move it. */
  #counted = 0;

  constructor(config: StreamConfig, rules: StreamRules) {
    this.store = new StreamStore(config, rules.version !== '2.9');
    this.#rules = rules;
  }

  get last(): number {
    return this.#rules.version === '2.9' ? this.#counted : this.store.last;
  }

  apply(operation: Operation, nowMs: number, index = 0): Applied {
    this.store.expire(nowMs);
    switch (operation.op) {
      case 'publish':
        return this.#publish(operation.packet, operation.timeMs, index);
      case 'purge':
        return { applied: 'removed', count: this.#purge(operation) };
      case 'remove':
        return { applied: 'removed', count: this.store.remove(operation.seq) ? 1 : 0 };
    }
  }

  /** The check of a cluster's leader before it proposes; null: it proposes. */
  judgeProposal(packet: Packet, inFlight: InFlight, nowMs: number): Applied | null {
    this.store.expire(nowMs);
    const { subject, headers } = packet;
    if (headers === undefined) return null;
    if (this.#rules.version === '2.9') {
      // Two that expect the same are both stored when the second comes before the first is applied.
      const expected = numberIn(headers, 'Nats-Expected-Last-Subject-Sequence');
      return expected === null || expected === 0
        ? null
        : refused(this.#wrongLastOf(subject, expected));
    }
    const duplicate = this.#duplicateOf(headers, nowMs);
    if (duplicate !== null) return duplicate;
    const last = numberIn(headers, 'Nats-Expected-Last-Sequence');
    const end = this.store.last + inFlight.count;
    if (last !== null && last !== end) return refused(apiErrors.wrongLast(end));
    const ofSubject = numberIn(headers, 'Nats-Expected-Last-Subject-Sequence');
    if (ofSubject === null) return null;
    if (inFlight.subjects.has(subject)) return refused(apiErrors.wrongLastInFlight);
    return refused(this.#wrongLastOf(subject, ofSubject));
  }

  /** A server starts and reads its disk. */
  restart(nowMs: number): void {
    this.store.reopen();
    this.#ids.clear();
    this.#lastId = '';
    this.#counted = this.store.last;
    const kept: StoredMessage[] = [];
    for (const message of this.store.newest()) {
      if (!this.#isInWindow(message.timeMs, nowMs)) break;
      kept.push(message);
    }
    for (const { seq, timeMs, headers } of kept.reverse()) {
      const id = headers?.get('Nats-Msg-Id') ?? '';
      if (id !== '') this.#ids.set(id, { seq, timeMs });
      if (seq === this.store.last) this.#lastId = id;
    }
  }

  /**
   * Takes the messages of another copy that it lacks. Servers remember the ids among them, but not
   * which was the last: what expects that id is refused here, and stored where the others are.
   */
  catchUp(other: StreamCopy, nowMs: number): void {
    this.store.adopt(other.store);
    this.restart(nowMs);
    this.#lastId = '';
  }

  copy(): StreamCopy {
    const copy = new StreamCopy(this.store.config, this.#rules);
    copy.store = this.store.copy();
    copy.#ids = new Map(this.#ids);
    copy.#lastId = this.#lastId;
    copy.#counted = this.#counted;
    return copy;
  }

  #publish(packet: Packet, timeMs: number, index: number): Applied {
    const { subject, headers, data } = packet;
    if (headers !== undefined) {
      const judged = this.#judge(subject, headers, timeMs);
      if (judged !== null) return judged;
    }
    const { max_msg_size, allow_rollup_hdrs } = this.store.config;
    const about = headerBytes(packet);
    if (max_msg_size > 0 && about + data.length > max_msg_size) return refuse(apiErrors.tooLarge);
    const rollup = headers?.get('Nats-Rollup') ?? '';
    if (rollup !== '' && !allow_rollup_hdrs) return refuse(apiErrors.rollup);
    const overhead = STORE_OVERHEAD + (about > 0 ? HEADER_OVERHEAD : 0);
    const bytes = overhead + subject.length + about + data.length;
    const why = this.store.refusalOf(subject, bytes);
    if (why !== null) return refuse(apiErrors.notStored(why));
    if (this.#isMiscounted()) {
      this.#counted = this.store.last;
      return refuse(apiErrors.notStored('expected sequence does not match store'));
    }
    const ttlMs = this.#rules.version === '2.9' ? null : ttlIn(headers);
    const expiresMs = ttlMs === null ? null : timeMs + ttlMs;
    const message = this.store.add({ subject, headers, data, timeMs, bytes, expiresMs, index });
    this.#counted += 1;
    this.#remember(headers?.get('Nats-Msg-Id') ?? '', message);
    if (rollup === 'sub') this.store.removeOf(subject, 0, 1);
    if (rollup === 'all') this.store.removeBelow(message.seq);
    return { applied: 'stored', message };
  }

  #judge(subject: string, headers: MsgHdrs, nowMs: number): Applied | null {
    const { version, isClustered } = this.#rules;
    const stream = headers.get('Nats-Expected-Stream');
    if (stream !== '' && stream !== this.store.config.name) return refused(apiErrors.otherStream);
    if (version === '2.12') {
      const isTtl = headers.get('Nats-TTL') !== '';
      if (isTtl && this.store.config.allow_msg_ttl !== true) return refused(apiErrors.noTtl);
      // A cluster has compared these before the proposal.
      if (isClustered) return refused(this.#wrongLastId(headers));
      return (
        refused(this.#wrongSubject(subject, headers)) ??
        refused(this.#wrongLast(headers)) ??
        this.#duplicateOf(headers, nowMs) ??
        refused(this.#wrongLastId(headers))
      );
    }
    return (
      this.#duplicateOf(headers, nowMs) ??
      refused(this.#wrongSubject(subject, headers)) ??
      refused(this.#wrongLast(headers)) ??
      refused(this.#wrongLastId(headers))
    );
  }

  #wrongSubject(subject: string, headers: MsgHdrs): ApiError | null {
    const expected = numberIn(headers, 'Nats-Expected-Last-Subject-Sequence');
    if (expected === null || (this.#rules.isClustered && expected > 0)) return null;
    return this.#wrongLastOf(subject, expected);
  }

  #wrongLastOf(subject: string, expected: number): ApiError | null {
    const last = this.store.lastOf(subject)?.seq ?? 0;
    return last === expected ? null : apiErrors.wrongLast(last);
  }

  #wrongLast(headers: MsgHdrs): ApiError | null {
    const expected = numberIn(headers, 'Nats-Expected-Last-Sequence');
    return expected === null || expected === this.last ? null : apiErrors.wrongLast(this.last);
  }

  #wrongLastId(headers: MsgHdrs): ApiError | null {
    const expected = headers.get('Nats-Expected-Last-Msg-Id');
    if (expected === '' || expected === this.#lastId) return null;
    return apiErrors.wrongLastId(this.#lastId);
  }

  #duplicateOf(headers: MsgHdrs, nowMs: number): Applied | null {
    const id = headers.get('Nats-Msg-Id');
    const there = id === '' ? undefined : this.#ids.get(id);
    if (there === undefined || !this.#isInWindow(there.timeMs, nowMs)) return null;
    return { applied: 'duplicate', seq: there.seq };
  }

  #remember(id: string, { seq, timeMs }: StoredMessage): void {
    this.#lastId = id;
    for (const [old, there] of this.#ids) {
      if (this.#isInWindow(there.timeMs, timeMs)) break;
      this.#ids.delete(old);
    }
    if (id !== '') this.#ids.set(id, { seq, timeMs });
  }

  #isInWindow(timeMs: number, nowMs: number): boolean {
    return timeMs + this.store.config.duplicate_window / NANOS_PER_MS > nowMs;
  }

  /** Several servers of 2.9 store by their own count. */
  #isMiscounted(): boolean {
    const { version, isClustered } = this.#rules;
    return version === '2.9' && isClustered && this.#counted !== this.store.last;
  }

  #purge({ filter, seq, keep }: Operation & { op: 'purge' }): number {
    if (filter !== '') return this.store.removeOf(filter, seq, keep);
    if (keep > 0) return this.store.removeOf('>', seq, keep);
    return seq > 1 ? this.store.removeBelow(seq) : this.store.clear();
  }
}

function refuse(error: ApiError): Applied {
  return { applied: 'refused', error };
}

function refused(error: ApiError | null): Applied | null {
  return error === null ? null : refuse(error);
}

function numberIn(headers: MsgHdrs, name: string): number | null {
  const text = headers.get(name);
  return text === '' ? null : Number(text);
}

/** In seconds, or as `2m`. */
function ttlIn(headers: MsgHdrs | undefined): number | null {
  const [, count = '', unit = 's'] = DURATION.exec(headers?.get('Nats-TTL') ?? '') ?? [];
  // trust: the expression allows only these units
  return count === '' ? null : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
