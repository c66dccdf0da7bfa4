/**
 * The answering side of calls between nodes. Nodes that can serve calls form a queue group, so each
 * call reaches one node. Each node also has an address, by which a caller can return to it.
 *
 * Limits: calls under way, and bytes of calls that arrive in pieces, over all callers; a further
 * call is refused at once. A call whose pieces do not arrive in time is dropped.
 * Never: starts a call that it refused.
 */
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import {
  type CallRefusal,
  type CallSubjects,
  MAX_CALL_BYTES,
  MAX_PIECES,
  PIECE_BYTES,
  Pieces,
  piecesHeader,
  piecesIn,
  piecesOf,
  refusedHeader,
  takenHeader,
} from './callWire.ts';
import { createInbox, type Msg, type NatsLink } from './connection.ts';

export type CallHandler = (bytes: Uint8Array) => Promise<Uint8Array>;

interface CallServerDeps {
  readonly link: NatsLink;
  readonly subjects: CallSubjects;
  /** Unique to this process. */
  readonly address: string;
  readonly clock: Clock;
  readonly handle: CallHandler;
  /** Whether this node can serve calls now. */
  isAble(): boolean;
  /** A call ended with an error, and its caller gets no answer. */
  failed(error: unknown): void;
}

export interface CallServerLimits {
  readonly maxActive: number;
  /** Limit for the bytes of all calls that arrive in pieces. */
  readonly maxHeldBytes: number;
  /** How long the pieces of one call may take. */
  readonly piecesMs: number;
  /** Interval of `isAble` checks. */
  readonly checkMs: number;
  /** How long calls that are under way may take after `stop`. */
  readonly stopMs: number;
}

const LIMITS: CallServerLimits = {
  maxActive: 128,
  maxHeldBytes: 64 * 1024 * 1024,
  piecesMs: 5_000,
  checkMs: 500,
  stopMs: 2_000,
};
const GROUP = 'able';

interface Subscription {
  unsubscribe(): void;
  /** Unsubscribes after the messages that were sent before. */
  drain(): Promise<void>;
}

export class CallServer implements Service {
  readonly name = 'calls of other nodes';
  readonly #deps: CallServerDeps;
  readonly #limits: CallServerLimits;
  readonly #running = new Set<Promise<void>>();
  #held = 0;
  #own: Subscription | null = null;
  #group: Subscription | null = null;
  readonly #task: Task;

  constructor(deps: CallServerDeps, limits: Partial<CallServerLimits> = {}) {
    this.#deps = deps;
    this.#limits = { ...LIMITS, ...limits };
    this.#task = new Task({ clock: deps.clock });
  }

  start(): void {
    const { subjects, address } = this.#deps;
    this.#own = this.#listen(subjects.node(address));
    this.#task.start(async () => {
      do this.#joinOrLeaveGroup();
      while (await this.#task.pause(this.#limits.checkMs));
    });
  }

  /** Takes no more calls and answers those under way, if they end within `stopMs`. */
  async stop(): Promise<void> {
    await this.#task.stop();
    const ended = this.#end();
    await sleepUnless(this.#deps.clock, this.#limits.stopMs, ended);
  }

  async #end(): Promise<void> {
    await Promise.all([this.#own, this.#group].map((subscription) => drained(subscription)));
    await Promise.all(this.#running);
  }

  #joinOrLeaveGroup(): void {
    const { subjects, isAble } = this.#deps;
    if (isAble()) this.#group ??= this.#listen(subjects.any, GROUP);
    else this.#leaveGroup();
  }

  #leaveGroup(): void {
    void drained(this.#group);
    this.#group = null;
  }

  #listen(subject: string, queue?: string): Subscription | null {
    const callback = (_error: unknown, message: Msg) => this.#called(message);
    try {
      const { connection } = this.#deps.link;
      return connection.subscribe(
        subject,
        queue === undefined ? { callback } : { queue, callback },
      );
    } catch {
      // The connection is being closed.
      return null;
    }
  }

  #called(message: Msg): void {
    const count = piecesIn(message);
    if (count === 0 || message.reply === undefined || message.reply === '') return;
    const refusal = this.#refusal(count);
    if (refusal !== null) {
      send(message, new Uint8Array(), { headers: refusedHeader(refusal) });
      return;
    }
    const running = this.#serve(message, count).catch(this.#deps.failed);
    this.#running.add(running);
    running.finally(() => this.#running.delete(running));
  }

  #refusal(count: number): CallRefusal | null {
    if (count > MAX_PIECES) return 'too large';
    if (!this.#deps.isAble()) {
      // First leave the group: the caller's next attempt must not come back here.
      this.#leaveGroup();
      return 'unable';
    }
    const { maxActive, maxHeldBytes } = this.#limits;
    const isFull = this.#held + heldBy(count) > maxHeldBytes;
    return isFull || this.#running.size >= maxActive ? 'busy' : null;
  }

  async #serve(first: Msg, count: number): Promise<void> {
    const taken = { headers: takenHeader(this.#deps.address) };
    const pieces = new Pieces(count);
    const whole = pieces.addPiece(first.data);
    let bytes: Uint8Array | null = whole;
    if (whole === null) bytes = await this.#collect(first, count, pieces);
    else send(first, new Uint8Array(), taken);
    // Its caller is gone.
    if (bytes === null) return;
    const answer = await this.#deps.handle(bytes);
    if (answer.length > MAX_CALL_BYTES) {
      send(first, new Uint8Array(), { headers: refusedHeader('too large') });
      return;
    }
    const parts = piecesOf(answer);
    for (const part of parts) send(first, part, { headers: piecesHeader(parts.length) });
  }

  /** All pieces of a call, joined; null: they did not arrive in time. */
  async #collect(first: Msg, count: number, pieces: Pieces): Promise<Uint8Array | null> {
    const { link, clock, address } = this.#deps;
    const inbox = createInbox();
    const arrived = Promise.withResolvers<Uint8Array | null>();
    const subscription = link.connection.subscribe(inbox, {
      callback: (_error, { data }) => {
        const whole = pieces.addPiece(data);
        if (whole !== null) arrived.resolve(whole);
      },
    });
    const timer = clock.after(this.#limits.piecesMs, () => arrived.resolve(null));
    this.#held += heldBy(count);
    try {
      send(first, new Uint8Array(), { headers: takenHeader(address), reply: inbox });
      return await arrived.promise;
    } finally {
      this.#held -= heldBy(count);
      timer.cancel();
      subscription.unsubscribe();
    }
  }
}

function heldBy(count: number): number {
  return count * PIECE_BYTES;
}

function send(message: Msg, bytes: Uint8Array, options: Parameters<Msg['respond']>[1]): void {
  try {
    message.respond(bytes, options);
  } catch {
    // The connection is gone, and with it the caller.
  }
}

async function drained(subscription: Subscription | null): Promise<void> {
  try {
    await subscription?.drain();
  } catch {
    // It ended with its connection.
  }
}
