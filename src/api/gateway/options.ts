/** Options of the gateway, and their defaults. */
import type { Quota } from '../../engine/runtime/tokenBucket.ts';

export interface GatewayOptions {
  /** Other processes may listen on the same port. */
  readonly sharePort: boolean;
  /** Addresses or CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** URL at which clients reach this server; empty: unknown. */
  readonly publicUrl: string;
  /** Whether rate limits apply to loopback addresses too. */
  readonly limitLoopback: boolean;
  readonly reads: Quota;
  readonly builds: Quota;
  readonly launches: Quota;
  /** Token buckets kept; the least recently seen address is forgotten, and gets a full one. */
  readonly maxAddresses: number;
  /** Limit for the JSON body of any route; most routes state less. */
  readonly maxBodyBytes: number;
  /** Limit for the bodies being received, all together; 503 OVERLOADED above. */
  readonly maxArrivingBytes: number;
  /** Limit for one caller's bodies being received; small and large bodies count separately. */
  readonly maxArrivingEach: number;
  /** How long a request or subscription waits for a position we have not reached. */
  readonly positionWaitMs: number;
  readonly maxWaiting: number;
  /** Limit for the waits of one socket; a request waits for one position. */
  readonly maxWaitingEach: number;
  /** Limit for the waits of one caller, over all its connections. */
  readonly maxWaitingCaller: number;
  readonly gzipCacheBytes: number;

  readonly maxSubscriptions: number;
  /** Different streams of one caller, over all its sockets (`ws/streamCounts.ts`). */
  readonly maxStreamsEach: number;
  readonly maxFrameBytes: number;
  readonly framesPerSecond: number;
  readonly maxSocketsPerAddress: number;
  readonly badFrameLimit: number;
  readonly badFrameWindowMs: number;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
  /** How often buffers are checked and a share of the heartbeats is sent. */
  readonly sweepMs: number;
  /** Above this many buffered bytes a socket is behind ... */
  readonly behindBytes: number;
  /** ... and below this many it is brought up to date. */
  readonly wakeBytes: number;
  /**
   * uWebSockets.js drops frames above this; also the limit of bytes that a slow socket may skip.
   */
  readonly bufferBytes: number;
  readonly behindMs: number;
  /** From the Shutdown frame to the close frame. */
  readonly shutdownGraceMs: number;
  /** How long a stop waits for buffers and running requests. */
  readonly stopMs: number;
}

export const GATEWAY_DEFAULTS: GatewayOptions = {
  sharePort: false,
  trustedProxies: [],
  publicUrl: '',
  limitLoopback: false,
  reads: { perSecond: 100, burst: 200 },
  builds: { perSecond: 10, burst: 10 },
  launches: { perSecond: 0.5, burst: 30 },
  maxAddresses: 50_000,
  maxBodyBytes: 1_048_576,
  maxArrivingBytes: 64 * 1_048_576,
  maxArrivingEach: 16 * 1_048_576,
  positionWaitMs: 2_000,
  maxWaiting: 1_000,
  maxWaitingEach: 20,
  maxWaitingCaller: 200,
  gzipCacheBytes: 32 * 1_048_576,

  maxSubscriptions: 500,
  maxStreamsEach: 20_000,
  maxFrameBytes: 65_536,
  framesPerSecond: 50,
  maxSocketsPerAddress: 1_000,
  badFrameLimit: 5,
  badFrameWindowMs: 10_000,
  heartbeatMs: 5_000,
  silenceMs: 30_000,
  sweepMs: 100,
  behindBytes: 262_144,
  wakeBytes: 65_536,
  bufferBytes: 1_048_576,
  behindMs: 30_000,
  shutdownGraceMs: 100,
  stopMs: 2_000,
};
