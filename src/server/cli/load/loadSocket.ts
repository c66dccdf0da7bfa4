/**
 * One connection of the load, over the client's own links: it subscribes, checks every frame, and
 * connects again when it is lost or cut, from the positions that it knows.
 */

import { socketUrl } from '../../../client/nodes.ts';
import type { Chance, Clock, Fetch, Timer } from '../../../client/platform.ts';
import { RETRY } from '../../../client/socket/connection.ts';
import { EventLink } from '../../../client/socket/eventLink.ts';
import { type Decode, type Frame, isRecord } from '../../../client/socket/frame.ts';
import { FrameSocket } from '../../../client/socket/frameSocket.ts';
import type { Link, LinkEvents } from '../../../client/socket/link.ts';
import { backoffMs } from '../../../engine/runtime/backoff.ts';
import { openSocket, type PausedSocket } from './openSocket.ts';
import type { SocketGroup } from './scenario.ts';
import { StreamCheck } from './streamCheck.ts';
import type { ThreadCounts } from './threadCounts.ts';

export interface LoadSocketDeps {
  readonly url: string;
  readonly key: string | undefined;
  readonly staleMs: number;
  /** Added to this clock it is the server's. */
  readonly skewMs: number;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly fetch: Fetch;
  readonly decode: Readonly<Record<'json' | 'msgpack', Decode>>;
  readonly counts: ThreadCounts;
}

type Wanted = Pick<SocketGroup, 'transport' | 'topics' | 'readKibPerSecond'>;

const SILENCE_MS = 15_000;
/** A reader that is slow on purpose hears pings late. */
const SLOW_SILENCE_MS = 120_000;
const ASK_AGAIN_MS = 500;
const KIB = 1024;
const MS_PER_S = 1000;

export class LoadSocket {
  readonly #deps: LoadSocketDeps;
  readonly #wanted: Wanted;
  readonly #checks: readonly StreamCheck[];
  #link: Link | null = null;
  #socket: PausedSocket | null = null;
  #startMs = 0;
  #isHeard = false;
  #tries = 0;
  #retry: Timer | null = null;
  #isClosed = false;
  /** Until then a slow reader has enough to read. */
  #readUntilMs = 0;
  #resume: Timer | null = null;

  constructor(wanted: Wanted, deps: LoadSocketDeps) {
    this.#deps = deps;
    this.#wanted = wanted;
    const maxAgeMs = wanted.readKibPerSecond === undefined ? deps.staleMs : null;
    this.#checks = wanted.topics.map(
      (topic) => new StreamCheck(topic, maxAgeMs, (fault) => deps.counts.fault(fault)),
    );
  }

  open(): void {
    if (this.#isClosed) return;
    const { clock, url, key, fetch } = this.#deps;
    this.#startMs = clock.monotonicMs();
    this.#isHeard = false;
    const events = { onFrame: (frame: Frame) => this.#receive(frame), onEnd: this.#ended };
    if (this.#wanted.transport === 'sse') {
      const decode = this.#counting(this.#deps.decode.json);
      const common = { node: url, key, decode, fetch, clock, silenceMs: SILENCE_MS };
      this.#link = new EventLink({ ...common, ...events, onOpen: () => {} });
      this.#subscribe();
    } else this.#link = this.#openSocket(events);
  }

  /** The connection breaks from this side, and is opened again at once. */
  cut(): void {
    if (this.#link === null || this.#isClosed) return;
    this.#dropped();
    this.open();
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    if (this.#link !== null) this.#dropped();
  }

  #openSocket(events: Pick<LinkEvents, 'onFrame' | 'onEnd'>): Link {
    const { url, key, clock, decode } = this.#deps;
    const encoding = this.#wanted.transport === 'msgpack' ? 'msgpack' : 'json';
    const link: Link = new FrameSocket({
      url: socketUrl(url),
      ...{ encoding, clock, ...events },
      decode: this.#counting(decode[encoding]),
      silenceMs: this.#wanted.readKibPerSecond === undefined ? SILENCE_MS : SLOW_SILENCE_MS,
      openSocket: (...address) => {
        this.#socket = openSocket(...address);
        return this.#socket;
      },
      onOpen: () => {
        link.send({ messageType: 'connect', requestId: 'connect', data: { acks: true, key } });
        this.#subscribe();
      },
    });
    return link;
  }

  #dropped(): void {
    const link = this.#link;
    this.#link = null;
    this.#resume?.cancel();
    this.#resume = null;
    if (this.#isHeard) this.#deps.counts.open -= 1;
    this.#isHeard = false;
    link?.close('cut by the load');
  }

  readonly #ended = (code: number, reason: string): void => {
    if (this.#link === null) return;
    const { clock, chance, counts } = this.#deps;
    this.#dropped();
    counts.lost(reason === '' ? `code ${code}` : `code ${code}: ${reason.slice(0, 80)}`);
    this.#retry = clock.after(backoffMs(this.#tries, RETRY, chance), () => this.open());
    this.#tries += 1;
  };

  #subscribe(indices: readonly number[] = [...this.#checks.keys()]): void {
    const topics = indices.flatMap((index) => {
      const topic = this.#wanted.topics[index];
      const known = this.#checks[index]?.known ?? null;
      const since = known === null ? {} : { since: known };
      return topic === undefined ? [] : [{ requestId: `${index}`, ...topic, ...since }];
    });
    this.#link?.request(topics);
  }

  /** Counts the bytes of frames; a slow reader stops reading until they are due. */
  #counting(decode: Decode): Decode {
    const { counts } = this.#deps;
    return (data) => {
      const bytes = data instanceof ArrayBuffer ? data.byteLength : Buffer.byteLength(String(data));
      counts.bytes(bytes);
      counts.frame();
      const { readKibPerSecond } = this.#wanted;
      if (readKibPerSecond !== undefined) this.#readSlowly(bytes / (readKibPerSecond * KIB));
      return decode(data);
    };
  }

  #readSlowly(seconds: number): void {
    const { clock } = this.#deps;
    const socket = this.#socket;
    const nowMs = clock.monotonicMs();
    this.#readUntilMs = Math.max(nowMs, this.#readUntilMs) + seconds * MS_PER_S;
    if (this.#resume !== null) return;
    socket?.pause();
    this.#resume = clock.after(this.#readUntilMs - nowMs, () => {
      this.#resume = null;
      if (this.#socket === socket) socket?.resume();
    });
  }

  #receive(frame: Frame): void {
    const { clock, counts, skewMs } = this.#deps;
    if (!this.#isHeard) {
      this.#isHeard = true;
      this.#tries = 0;
      counts.opened(clock.monotonicMs() - this.#startMs);
    }
    const { event, data, epoch, requestId, ts } = frame;
    if (event === 'Ping') {
      this.#link?.send({ messageType: 'pong', requestId: null });
      const seq = isRecord(data) ? data.seq : null;
      if (typeof seq === 'number') for (const check of this.#checks) check.ping({ epoch, seq });
      return;
    }
    if (event === 'Error') {
      this.#refused(frame);
      return;
    }
    const check = this.#checks[Number(requestId ?? Number.NaN)];
    if (check === undefined || event === 'Unsubscribed') return;
    if (event === 'Subscribed') check.accepted(isRecord(data) && data.recovered === true);
    else if (event === 'Resync') {
      counts.resync();
      check.resync();
    } else {
      const ageMs = ts === undefined ? 0 : clock.nowMs() + skewMs - ts;
      // A snapshot is made on request, so its age is not counted. A slow reader's delay comes from
      // its own pace.
      const isLive = !frame.snapshot && this.#wanted.readKibPerSecond === undefined;
      if (isLive) counts.frameAge(ageMs);
      check.frame(frame, ageMs);
    }
  }

  #refused({ data, requestId }: Frame): void {
    const { cause, retry } = isRecord(data) ? data : {};
    this.#deps.counts.refused(String(cause));
    const index = Number(requestId ?? Number.NaN);
    const link = this.#link;
    if (retry !== true || !(index in this.#checks)) return;
    this.#deps.clock.after(ASK_AGAIN_MS, () => {
      if (link !== null && link === this.#link)
        this.#subscribe(link.requestsAll ? undefined : [index]);
    });
  }
}
