/**
 * The calling side of calls between nodes. It returns to the node that answered last, so that an
 * answer includes the effects of earlier ones. When that node is gone, unable or silent, it calls
 * any other node that is able.
 *
 * Limits: calls in flight, bytes, a deadline. A call that was refused, or that no node received,
 * had no effect and goes to another node. A call that was taken but not answered may have had its
 * effect; a call that no node confirmed may still have it. Both are repeated only if they are
 * idempotent (`mayRepeat`).
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, notReady } from '../../engine/runtime/errors.ts';
import {
  type CallRefusal,
  type CallSubjects,
  isUnheard,
  MAX_CALL_BYTES,
  Pieces,
  piecesHeader,
  piecesIn,
  piecesOf,
  refusalOf,
  takerOf,
} from './callWire.ts';
import { createInbox, type Msg, type NatsLink } from './connection.ts';

interface CallClientDeps {
  readonly link: NatsLink;
  readonly subjects: CallSubjects;
  readonly clock: Clock;
}

export interface CallClientLimits {
  readonly maxActive: number;
  /** How long a node may take to confirm that it has the call. */
  readonly takenMs: number;
  /** Time limit of the whole call, all attempts included. */
  readonly deadlineMs: number;
}

const LIMITS: CallClientLimits = { maxActive: 256, takenMs: 2_000, deadlineMs: 15_000 };
const ATTEMPTS = 4;

type Outcome =
  | { readonly outcome: 'answered'; readonly bytes: Uint8Array }
  /** Without effect: no node listens, or the node gave a reason. */
  | { readonly outcome: 'unheard' }
  | { readonly outcome: 'refused'; readonly reason: CallRefusal }
  /** `silent`: no node confirmed the call. `unanswered`: one did, but did not answer. */
  | { readonly outcome: 'silent' }
  | { readonly outcome: 'unanswered' }
  | { readonly outcome: 'disconnected' };

export class CallClient {
  readonly #deps: CallClientDeps;
  readonly #limits: CallClientLimits;
  #active = 0;
  /** Address of the node that answered last; null: any node. */
  #known: string | null = null;

  constructor(deps: CallClientDeps, limits: Partial<CallClientLimits> = {}) {
    this.#deps = deps;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** `mayRepeat`: it is idempotent. All Failures except PAYLOAD_TOO_LARGE may be retried. */
  async call(bytes: Uint8Array, mayRepeat: boolean): Promise<Uint8Array | Failure> {
    if (bytes.length > MAX_CALL_BYTES) return tooLarge();
    if (this.#active >= this.#limits.maxActive) return overloaded('this node asks for too much');
    this.#active += 1;
    try {
      return await this.#attempts(bytes, mayRepeat);
    } finally {
      this.#active -= 1;
    }
  }

  async #attempts(bytes: Uint8Array, mayRepeat: boolean): Promise<Uint8Array | Failure> {
    const { clock, link } = this.#deps;
    const deadlineMs = clock.monotonicMs() + this.#limits.deadlineMs;
    let last: Outcome = { outcome: 'unheard' };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      if (!link.connected) return failureOf({ outcome: 'disconnected' });
      const address = this.#known;
      last = await this.#ask(address, bytes, leftMs);
      if (last.outcome === 'answered') return last.bytes;
      if (this.#known === address) this.#known = null;
      if (!shouldRepeat(last, address, mayRepeat)) break;
    }
    return failureOf(last);
  }

  #ask(address: string | null, bytes: Uint8Array, leftMs: number): Promise<Outcome> {
    const { link, subjects, clock } = this.#deps;
    const { connection } = link;
    const inbox = createInbox();
    const [first = new Uint8Array(), ...others] = piecesOf(bytes);
    let taker: string | null = null;
    let answer: Pieces | null = null;
    const over = Promise.withResolvers<Outcome>();
    const heard = (message: Msg) => {
      if (isUnheard(message)) return over.resolve({ outcome: 'unheard' });
      const reason = refusalOf(message);
      if (reason !== null) return over.resolve({ outcome: 'refused', reason });
      const count = piecesIn(message);
      if (count === 0) {
        taker = takerOf(message);
        for (const piece of others) connection.publish(message.reply ?? '', piece);
        return;
      }
      answer ??= new Pieces(count);
      const whole = answer.addPiece(message.data);
      if (whole === null) return;
      this.#known = taker;
      over.resolve({ outcome: 'answered', bytes: whole });
    };
    const takenMs = Math.min(leftMs, this.#limits.takenMs);
    const timers = [
      clock.after(takenMs, () => taker === null && over.resolve({ outcome: 'silent' })),
      clock.after(leftMs, () => over.resolve({ outcome: 'unanswered' })),
    ];
    const unlisten = link.onStatus(({ status }) => {
      if (status !== 'reconnected') over.resolve({ outcome: 'disconnected' });
    });
    try {
      const subscription = connection.subscribe(inbox, {
        callback: (_error, message) => heard(message),
      });
      const subject = address === null ? subjects.any : subjects.node(address);
      const headers = piecesHeader(1 + others.length);
      connection.publish(subject, first, { reply: inbox, headers });
      // A subscription that cannot be ended has ended with its connection.
      over.promise.then(() => subscription.unsubscribe()).catch(() => {});
    } catch {
      // A connection that is being closed takes neither subscription nor message.
      over.resolve({ outcome: 'disconnected' });
    }
    return over.promise.finally(() => {
      for (const timer of timers) timer.cancel();
      unlisten();
    });
  }
}

function shouldRepeat(last: Outcome, address: string | null, mayRepeat: boolean): boolean {
  if (last.outcome === 'refused') return last.reason !== 'too large';
  if (last.outcome === 'unheard') return address !== null;
  return last.outcome === 'silent' && mayRepeat;
}

function failureOf(last: Outcome): Failure {
  switch (last.outcome) {
    case 'refused':
      if (last.reason === 'too large') return tooLarge();
      if (last.reason === 'busy') return overloaded('the nodes that can do this are busy');
      return notReady('the nodes that can do this are not ready: try again', 'NO_NODE');
    case 'disconnected':
      return notReady('this node has no connection to NATS: try again', 'NO_CONNECTION');
    case 'unheard':
      return notReady('no node that can do this is there: try again', 'NO_NODE');
    default:
      return notReady(
        'the node that was asked gave no answer; what it was asked for may be done: look first',
        'NO_ANSWER',
      );
  }
}

function overloaded(message: string): Failure {
  return new Failure('OVERLOADED', message, { retryAfterSeconds: 1 });
}

function tooLarge(): Failure {
  return new Failure('PAYLOAD_TOO_LARGE', `at most ${MAX_CALL_BYTES} bytes between nodes`);
}
