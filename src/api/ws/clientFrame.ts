/**
 * Parses frames from clients. A bad frame (not readable, not an object, no known
 * messageType) is a Failure and counts against the socket; a frame that is well formed but asks
 * for something impossible is not bad and is refused later, under its requestId.
 */
import { decode } from '@msgpack/msgpack';
import { Failure, invalidField } from '../../engine/runtime/errors.ts';
import { epochNumber, type Position } from '../../engine/runtime/position.ts';
import type { RequestId } from '../gateway/frame.ts';
import { isRecord } from '../gateway/input.ts';
import { passesMsgpackPrecheck } from './msgpackPrecheck.ts';

/** Parameters of one subscription; `refused` says which of its fields is invalid. */
export interface SubscribeParams {
  readonly requestId: RequestId;
  readonly topic: unknown;
  readonly data: unknown;
  readonly since: Position | null;
  readonly maxHz: number | null;
  readonly snapshot: boolean;
  /** The client speaks our extension, so it understands `Subscribed`. */
  readonly wantsAck: boolean;
  readonly refused: Failure | null;
}

export interface ConnectFrame {
  readonly kind: 'connect';
  readonly requestId: RequestId;
  readonly acks: boolean;
  /** The API key that it presents; null: none. */
  readonly key: string | null;
}

export type ClientFrame =
  | ConnectFrame
  | { readonly kind: 'subscribe'; readonly subscriptions: readonly SubscribeParams[] }
  | { readonly kind: 'refused'; readonly requestId: RequestId; readonly failure: Failure }
  | { readonly kind: 'unsubscribe'; readonly requestId: RequestId }
  | { readonly kind: 'ping'; readonly requestId: RequestId }
  | { readonly kind: 'pong' };

const LONGEST_REQUEST_ID = 128;
const FRAME_RATES_HZ = [20, 10, 5, 2, 1];
/** The decoder allocates as much as a header declares, before it has read the content. */
const DECODING = {
  maxArrayLength: 1_000,
  maxMapLength: 64,
  maxStrLength: 65_536,
  maxBinLength: 0,
  maxExtLength: 0,
};

export function readFrame(
  bytes: ArrayBuffer,
  isBinary: boolean,
  maxTopics: number,
): ClientFrame | Failure {
  const frame = parse(bytes, isBinary);
  if (frame instanceof Failure) return frame;
  if (!isRecord(frame)) return invalidField('frame', 'must be an object');
  const requestId = requestIdOf(frame.requestId);
  switch (frame.messageType) {
    case 'connect':
      return connectFrame(requestId, isRecord(frame.data) ? frame.data : {});
    case 'subscribe':
      return subscribeFrame(requestId, frame, maxTopics);
    case 'unsubscribe':
      return { kind: 'unsubscribe', requestId };
    case 'ping':
      return { kind: 'ping', requestId };
    case 'pong':
      return { kind: 'pong' };
    default: {
      const known = 'connect, subscribe, unsubscribe, ping or pong';
      return invalidField('messageType', `must be ${known}`);
    }
  }
}

function subscribeFrame(
  requestId: RequestId,
  frame: Record<string, unknown>,
  maxTopics: number,
): ClientFrame {
  const { topics } = frame;
  if (!present(topics)) {
    return { kind: 'subscribe', subscriptions: [readSubscribeParams(frame, frame, false)] };
  }
  if (!Array.isArray(topics) || topics.length === 0) {
    const failure = invalidField('topics', 'must be a list of one subscription or more');
    return { kind: 'refused', requestId, failure };
  }
  if (topics.length > maxTopics) {
    const message = `topics may name at most ${maxTopics}: send the others over another socket`;
    const failure = new Failure('LIMIT_EXCEEDED', message);
    return { kind: 'refused', requestId, failure };
  }
  const items = topics.map((item) => readSubscribeParams(isRecord(item) ? item : {}, frame, true));
  return { kind: 'subscribe', subscriptions: items };
}

function connectFrame(requestId: RequestId, data: Record<string, unknown>): ConnectFrame {
  const { acks, key } = data;
  const presented = present(key) && key !== '' ? String(key) : null;
  return { kind: 'connect', requestId, acks: acks === true, key: presented };
}

function parse(bytes: ArrayBuffer, isBinary: boolean): unknown {
  try {
    if (!isBinary) return JSON.parse(Buffer.from(bytes).toString());
    const msgpack = new Uint8Array(bytes);
    if (passesMsgpackPrecheck(msgpack)) return decode(msgpack, DECODING);
  } catch {
    // Refused below.
  }
  return invalidField(
    'frame',
    isBinary ? 'is not readable as MessagePack' : 'is not readable as JSON',
  );
}

function requestIdOf(value: unknown): RequestId {
  if (typeof value === 'string') return value.length <= LONGEST_REQUEST_ID ? value : null;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** `frame`: where a list of them stands, whose fields are their defaults. */
export function readSubscribeParams(
  item: Record<string, unknown>,
  frame: Record<string, unknown>,
  isOneOfMany: boolean,
): SubscribeParams {
  const requestId = requestIdOf(item.requestId);
  const since = sinceOf(item.since);
  const maxHz = maxHzOf(item.maxHz);
  const snapshot = item.snapshot ?? frame.snapshot ?? true;
  const extended = present(item.since) || present(item.maxHz) || present(frame.snapshot);
  const wantsAck = isOneOfMany || extended || present(item.snapshot);
  const ours = {
    requestId,
    topic: item.topic,
    data: item.data,
    since: since instanceof Failure ? null : since,
    maxHz: maxHz instanceof Failure ? null : maxHz,
    snapshot: snapshot !== false,
    wantsAck,
  };
  return { ...ours, refused: refusal(requestId, since, maxHz, snapshot) };
}

function refusal(
  requestId: RequestId,
  since: Position | Failure | null,
  maxHz: number | Failure | null,
  snapshot: unknown,
): Failure | null {
  if (requestId === null) {
    return invalidField(
      'requestId',
      `must be a text of at most ${LONGEST_REQUEST_ID} characters or an integer`,
    );
  }
  if (since instanceof Failure) return since;
  if (maxHz instanceof Failure) return maxHz;
  return typeof snapshot === 'boolean' ? null : invalidField('snapshot', 'must be true or false');
}

function present(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function sinceOf(value: unknown): Position | Failure | null {
  if (!present(value)) return null;
  if (isRecord(value) && typeof value.epoch === 'string' && typeof value.seq === 'number') {
    const { epoch, seq } = value;
    if (epochNumber(epoch) >= 0 && Number.isSafeInteger(seq) && seq >= 0) return { epoch, seq };
  }
  return invalidField('since', 'must be {epoch, seq} as a frame or X-Position gave them');
}

/** Rounds down to a rate we offer; above the highest one, the highest. */
function maxHzOf(value: unknown): number | Failure | null {
  if (!present(value)) return null;
  const asked = typeof value === 'number' ? value : Number.NaN;
  return (
    FRAME_RATES_HZ.find((pace) => pace <= asked) ?? invalidField('maxHz', 'must be a number from 1')
  );
}
