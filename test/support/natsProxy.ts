/** A TCP proxy in front of a NATS server, which drops, delays or alters what a test chooses. */
import type { Socket } from 'node:net';
import { TcpProxy } from './tcpProxy.ts';

export class NatsProxy extends TcpProxy {
  /** Drops the server's bytes and forwards the client's. */
  deaf = false;
  /** Drops the client's bytes and forwards the server's. */
  mute = false;
  /** Delays all bytes by this much, in both directions. */
  delayMs = 0;
  /** Called with a client's text before it is passed on. */
  heard: (text: string) => void = () => {};
  /** Replaces a client's text by one of the same length. */
  rewrite: (text: string) => string = (text) => text;

  override get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  protected override toServer(data: Buffer, server: Socket): void {
    const text = data.toString('latin1');
    this.heard(text);
    const said = Buffer.from(this.rewrite(text), 'latin1');
    if (!this.mute) this.#later(() => server.write(said));
  }

  protected override toClient(data: Buffer, client: Socket): void {
    if (!this.deaf) this.#later(() => client.write(data));
  }

  #later(write: () => void): void {
    if (this.delayMs === 0) write();
    else setTimeout(write, this.delayMs);
  }
}

/**
 * For `rewrite`: consumers that are created meanwhile are filtered for a subject without messages.
 * They answer like those on a replica whose copy of the stream lags: 404, or heartbeats alone.
 */
export function consumersThatLag(stream: string): (text: string) => string {
  const start = /"deliver_policy":"by_start_sequence","opt_start_seq":\d+/g;
  const nothing = `"filter_subject":"${stream}.entry.none"`;
  return (text) => text.replaceAll(start, (found) => nothing.padEnd(found.length));
}

/** Also hides every message of the stream but the last: then no message behind it can be read. */
export function nothingToRead(stream: string): (text: string) => string {
  const lag = consumersThatLag(stream);
  return (text) => lag(text).replaceAll('"next_by_subj":">"', '"next_by_subj":"x"');
}
