/**
 * One JetStream stream, by single requests. The stream's leader answers them, never a replica that
 * lags (no direct gets).
 *
 * Errors: throws `streamMissing` when there is no such stream, `natsSilent` when NATS gives no
 * answer in time or cannot give one now; the request may then be repeated.
 */
import {
  type ConsumerConfig,
  type ConsumerInfo,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  JetStreamError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Fault } from '../../engine/runtime/assert.ts';
import { type Msg, type NatsLink, nanos } from './connection.ts';
import type { Messages } from './messages.ts';

export { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
export type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamConfig };
export { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType };

export interface StreamState {
  /** Seq of the oldest message; 0 when there is none. */
  readonly first: number;
  /** Seq of the last message, deleted or not: the next message gets the seq after it. */
  readonly last: number;
  readonly messages: number;
}

export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
}

interface StreamShape {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly replicas: number;
  readonly maxMessageBytes: number;
  readonly dedupeMs: number;
}

/** On disk: survives the process. */
export const storageOfFiles = StorageType.File;

const STREAM_NOT_FOUND = 10059;
const WRONG_LAST = [10071, 10164];
/** How long a request waits for an answer. */
export const ANSWER_MS = 2_000;

export async function manager(link: NatsLink, answerMs = ANSWER_MS): Promise<JetStreamManager> {
  return jetstreamManager(link.connection, { checkAPI: false, timeout: answerMs });
}

/** For the key-value and object stores, which are streams underneath. */
export function jetstreamOf(link: NatsLink, timeoutMs: number): JetStreamClient {
  return jetstream(link.connection, { timeout: timeoutMs });
}

/** Makes the stream if it is missing. Does not change an existing one. */
export async function ensureStream(
  link: NatsLink,
  shape: StreamShape,
  answerMs = ANSWER_MS,
): Promise<'made' | 'there'> {
  const jsm = await manager(link, answerMs);
  try {
    await link.whileConnected(() => jsm.streams.info(shape.name));
    return 'there';
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const settings = {
    name: shape.name,
    subjects: [...shape.subjects],
    retention: RetentionPolicy.Limits,
    storage: storageOfFiles,
    discard: DiscardPolicy.New,
    num_replicas: shape.replicas,
    max_msg_size: shape.maxMessageBytes,
    duplicate_window: nanos(shape.dedupeMs),
  };
  await link.whileConnected(() => jsm.streams.add(settings));
  return 'made';
}

/** A message as a consumer delivers it, read from its reply subject. */
interface Delivery {
  /** In the stream. */
  readonly seq: number;
  /** In this consumer, from 1 without gaps. */
  readonly consumerSeq: number;
  /** How many are left in the stream after it. */
  readonly pending: number;
}

/**
 * Reads `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<consumer seq>.<time>.<pending>`, or that
 * with two more tokens (domain, account) after `ACK` and one at the end. null for anything else.
 */
export function deliveryOf({ reply = '' }: Msg): Delivery | null {
  if (!reply.startsWith('$JS.ACK.')) return null;
  const tokens = reply.split('.');
  const skip = tokens.length >= 11 ? 2 : 0;
  const [seq, consumerSeq, , pending] = tokens.slice(5 + skip).map(Number);
  if (seq === undefined || consumerSeq === undefined || pending === undefined) return null;
  const areNumbers = [seq, consumerSeq, pending].every((number) => Number.isSafeInteger(number));
  return areNumbers ? { seq, consumerSeq, pending } : null;
}

export class NatsStream {
  readonly name: string;
  readonly messages: Messages;
  readonly #link: NatsLink;
  readonly #jsm: JetStreamManager;

  constructor(link: NatsLink, jsm: JetStreamManager, name: string) {
    this.name = name;
    this.messages = link.messages;
    this.#link = link;
    this.#jsm = jsm;
  }

  async state(): Promise<StreamState> {
    const { state } = await this.ask(() => this.#jsm.streams.info(this.name));
    const { messages, first_seq, last_seq } = state;
    return { first: messages === 0 ? 0 : first_seq, last: last_seq, messages };
  }

  async at(seq: number): Promise<StoredMessage | null> {
    if (seq < 1) return null;
    return stored(await this.ask(() => this.#jsm.streams.getMessage(this.name, { seq })));
  }

  /** The last message whose subject fits. */
  async lastOf(subject: string): Promise<StoredMessage | null> {
    const query = { last_by_subj: subject };
    return stored(await this.ask(() => this.#jsm.streams.getMessage(this.name, query)));
  }

  /** The first message at or after `seq` with this subject. */
  async nextOf(subject: string, seq: number): Promise<StoredMessage | null> {
    const query = { seq, next_by_subj: subject };
    return stored(await this.ask(() => this.#jsm.streams.getMessage(this.name, query)));
  }

  /** Deletes messages below `seq`. Beyond the end: all, and the next message gets `seq`. */
  async purgeBelow(seq: number): Promise<void> {
    await this.ask(() => this.#jsm.streams.purge(this.name, { seq }));
  }

  /** Deletes one message, if it is there. */
  async remove(seq: number): Promise<void> {
    if ((await this.at(seq)) === null) return;
    await this.ask(() => this.#jsm.streams.deleteMessage(this.name, seq));
  }

  /** Replaces the stream by an empty one with the same settings: only that lowers its next seq. */
  async remake(): Promise<void> {
    const { config } = await this.ask(() => this.#jsm.streams.info(this.name));
    await this.ask(() => this.#jsm.streams.delete(this.name));
    await this.ask(() => this.#jsm.streams.add(config));
  }

  /** A request about this stream; its errors are those above. */
  async ask<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.#link.whileConnected(run);
    } catch (error) {
      if (isMissing(error)) throw new Fault('streamMissing', `NATS has no stream ${this.name}`);
      // As 503 while it has no leader.
      const isUnable = error instanceof JetStreamError;
      throw isUnable ? new Fault('natsSilent', error.message, { cause: error }) : error;
    }
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;
}

/** Refused, because another message was written meanwhile. */
export function isWrongLast(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST.includes(error.code);
}

function stored(message: StoredMsg | null): StoredMessage | null {
  if (message === null) return null;
  const { seq, subject, data } = message;
  return { seq, subject, data };
}
