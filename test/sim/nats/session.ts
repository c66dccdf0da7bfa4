/** The two ends of a connection, as each sees the other. */
import type { ServerInfo } from '@nats-io/transport-node';
import type { Packet } from './packet.ts';

/** Calls of a client to its server. Each call arrives later, in order, or never. */
export interface ServerSession {
  readonly info: ServerInfo;
  publish(packet: Packet): void;
  subscribe(sid: number, subject: string, queue: string | undefined): void;
  /** `max`: after that many messages. */
  unsubscribe(sid: number, max?: number): void;
  /** `answered` comes after everything that the server sent before. */
  ping(answered: () => void): void;
  /** The client gives the connection up. */
  close(): void;
}

/** Calls of a server to its client. */
export interface ClientEnd {
  deliver(sid: number, packet: Packet): void;
  /** The connection is broken. */
  broken(): void;
}

/** Where connections are made. */
export interface Dialing {
  readonly servers: number;
  /** Rejects where nothing listens; never settles where nothing answers. */
  dial(server: number, end: ClientEnd): Promise<ServerSession>;
}
