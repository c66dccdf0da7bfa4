/** A message on its way. Its headers and data never change. */
import {
  Empty,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Payload,
  type PublishOptions,
  type ReviverFn,
  TD,
} from '@nats-io/transport-node';

export interface Packet {
  readonly subject: string;
  /** Empty: no answer is wanted. */
  readonly reply: string;
  readonly headers: MsgHdrs | undefined;
  readonly data: Uint8Array;
}

const utf8 = new TextEncoder();

export function packetOf(
  subject: string,
  payload: Uint8Array | string = Empty,
  { reply = '', headers }: { reply?: string; headers?: MsgHdrs } = {},
): Packet {
  const data = typeof payload === 'string' ? utf8.encode(payload) : Uint8Array.from(payload);
  // Empty ones are not sent.
  const [any] = headers ?? [];
  return { subject, reply, headers: any === undefined ? undefined : headers, data };
}

/** A message of the server that says how a request stands: `503`, `100 Idle Heartbeat` … */
export function statusPacket(
  subject: string,
  code: number,
  description: string,
  about: Readonly<Record<string, string>> = {},
  reply = '',
): Packet {
  // The client's own headers do not take a code without a text, which a server sends.
  const all = headers(code, description === '' ? ' ' : description);
  for (const [name, value] of Object.entries(about)) all.set(name, value);
  return { subject, reply, headers: all, data: Empty };
}

/** In bytes, as the protocol writes them. */
export function headerBytes({ headers }: Packet): number {
  if (headers === undefined) return 0;
  let bytes = 'NATS/1.0\r\n\r\n'.length;
  for (const [name, values] of headers) {
    for (const value of values) bytes += name.length + Buffer.byteLength(value) + ': \r\n'.length;
  }
  return bytes;
}

/** A message as a subscriber receives it. */
export class DeliveredMessage implements Msg {
  readonly sid: number;
  readonly #packet: Packet;
  readonly #answer: Pick<NatsConnection, 'publish'>;

  constructor(packet: Packet, sid: number, answer: Pick<NatsConnection, 'publish'>) {
    this.#packet = packet;
    this.sid = sid;
    this.#answer = answer;
  }

  get subject(): string {
    return this.#packet.subject;
  }

  get reply(): string {
    return this.#packet.reply;
  }

  get data(): Uint8Array {
    return this.#packet.data;
  }

  get headers(): MsgHdrs {
    // trust: undefined where there are none, as in a message of the client
    return this.#packet.headers as MsgHdrs;
  }

  respond(payload?: Payload, options?: PublishOptions): boolean {
    if (this.reply === '') return false;
    this.#answer.publish(this.reply, payload, options);
    return true;
  }

  json<T>(reviver?: ReviverFn): T {
    // trust: the caller names the expected shape, as with a message of the client
    return JSON.parse(this.string(), reviver) as T;
  }

  string(): string {
    return TD.decode(this.data);
  }
}
