/**
 * Encodes frames. A frame is a head (request id, event) and a tail (data, position, time). All
 * subscribers of a stream share the tail, so it is encoded once, and another request id costs one
 * concatenation. A MessagePack map is built from encoded pieces in the same way.
 *
 * Source: protocol.md sections 6.2, 6.4 and 6.5.
 */
import { Encoder } from '@msgpack/msgpack';
import type { Json } from '../../engine/runtime/json.ts';

export type RequestId = string | number | null;
/** `events`: JSON in an event of a server-sent stream, without the blank line that ends it. */
export type Encoding = 'json' | 'msgpack' | 'events';

/** The fields of a frame besides its data. */
export interface FrameMeta {
  readonly epoch: string;
  readonly seq: number;
  /** Null on a snapshot and on frames that are not of a stream. */
  readonly prev: number | null;
  readonly tsMs: number;
  readonly snapshot?: boolean;
}

/** One for all: making one costs ten times as much as encoding a number with it. */
const encoder = new Encoder();
const FIELDS = 8;
const FIXMAP = 0x80;
const KEYS = {
  requestId: encode('requestId'),
  event: encode('event'),
  messageType: encode('messageType'),
  data: encode('data'),
  epoch: encode('epoch'),
  seq: encode('seq'),
  prev: encode('prev'),
  snapshot: encode('snapshot'),
  ts: encode('ts'),
};
const TRUE = encode(true);

function encode(value: Json): Uint8Array {
  return encoder.encode(value);
}

/** Data that is encoded at most once per encoding. */
export class EncodedPayload {
  readonly #data: Json;
  #json: string | null = null;
  #packed: Uint8Array | null = null;

  constructor(data: Json) {
    this.#data = data;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#data);
    return this.#json;
  }

  get msgpack(): Uint8Array {
    this.#packed ??= encode(this.#data);
    return this.#packed;
  }
}

export function headOf(
  encoding: Encoding,
  requestId: RequestId,
  event: string,
  more: { snapshot?: boolean; messageType?: 'Response' | 'Request' } = {},
): Uint8Array {
  const { snapshot = false, messageType = 'Response' } = more;
  if (encoding !== 'msgpack') {
    const id = JSON.stringify(requestId);
    const name = JSON.stringify(event);
    const json = `{"requestId":${id},"event":${name},"messageType":"${messageType}","data":`;
    return Buffer.from(encoding === 'json' ? json : `event: ${event}\ndata: ${json}`);
  }
  return Buffer.concat([
    Uint8Array.of(FIXMAP | (snapshot ? FIELDS + 1 : FIELDS)),
    KEYS.requestId,
    encode(requestId),
    KEYS.event,
    encode(event),
    KEYS.messageType,
    encode(messageType),
    KEYS.data,
  ]);
}

export function tailOf(encoding: Encoding, data: EncodedPayload, facts: FrameMeta): Uint8Array {
  const { epoch, seq, prev, tsMs, snapshot = false } = facts;
  if (encoding !== 'msgpack') {
    const flag = snapshot ? ',"snapshot":true' : '';
    const end = encoding === 'json' ? '' : '\n';
    return Buffer.from(
      `${data.json},"epoch":"${epoch}","seq":${seq},"prev":${prev}${flag},"ts":${tsMs}}${end}`,
    );
  }
  const pieces = [data.msgpack, KEYS.epoch, encode(epoch), KEYS.seq, encode(seq)];
  pieces.push(KEYS.prev, encode(prev));
  if (snapshot) pieces.push(KEYS.snapshot, TRUE);
  pieces.push(KEYS.ts, encode(tsMs));
  return Buffer.concat(pieces);
}

const HEAD_ROOM = 256;

/**
 * Builds frames that share a tail, in one buffer. It copies each head in front of the tail, so
 * another request id costs neither memory nor a copy of the data. The next call overwrites the
 * frame.
 */
export class FrameBuilder {
  readonly tail: Uint8Array;
  readonly #bytes: Uint8Array;
  #frame: Uint8Array;

  constructor(tail: Uint8Array) {
    this.tail = tail;
    this.#bytes = Buffer.allocUnsafe(HEAD_ROOM + tail.length);
    this.#bytes.set(tail, HEAD_ROOM);
    this.#frame = this.#bytes;
  }

  frame(head: Uint8Array): Uint8Array {
    if (head.length > HEAD_ROOM) return joinFrame(head, this.tail);
    const start = HEAD_ROOM - head.length;
    this.#bytes.set(head, start);
    // Making a view costs more than copying a head, and most heads have the same length.
    if (this.#frame.length !== head.length + this.tail.length) {
      this.#frame = this.#bytes.subarray(start);
    }
    return this.#frame;
  }
}

export function joinFrame(head: Uint8Array, tail: Uint8Array): Uint8Array {
  return Buffer.concat([head, tail], head.length + tail.length);
}
