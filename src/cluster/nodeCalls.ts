/**
 * Calls between nodes: named, JSON in and JSON out. A node that cannot do something itself (a
 * reader has no keys and no chain) asks one that can, and its own clients notice nothing:
 *
 * - The call carries the caller's position. The other node answers from there or later, never from
 *   before something that the client has already seen here.
 * - The answer carries the position that shows what was done. The caller waits until it is there,
 *   so that what its client reads next includes it.
 * - A Failure comes back as it was, with cause, message, details, reason, status and Retry-After.
 *
 * Limits are those of the transport (cluster/nats/callClient.ts, cluster/nats/callServer.ts).
 */

import { withDeadline } from '../engine/runtime/abort.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import {
  CATALOGUE,
  type Cause,
  Failure,
  type FailureMore,
  Unavailable,
} from '../engine/runtime/errors.ts';
import type { CallHandler } from './nats/callServer.ts';

export interface NodeCall {
  readonly name: string;
  /** What JSON can carry. */
  readonly input: unknown;
  /** Done twice it does no harm. */
  readonly mayRepeat: boolean;
  /**
   * When this node has not reached the position of the answer in time: `answer` all the same, or
   * `retry`, a Failure, for what is answered the same again.
   */
  readonly whenBehind: 'answer' | 'retry';
}

interface Question {
  readonly name: string;
  readonly input: unknown;
  /** Newest entry that the caller has applied. */
  readonly seq: number;
}

interface Reply {
  /** Newest entry that the answering node had applied then. */
  readonly seq: number;
  readonly output?: unknown;
  readonly failure?: { readonly cause: string; readonly message: string } & FailureMore;
}

/** What both sides need of the node that they run in. */
export interface CallingNode {
  /** Newest entry that is applied. */
  appliedSeq(): number;
  /** Resolves once `seq` is applied; rejects when it will not be, or that is given up. */
  reached(seq: number, givenUp: AbortSignal): Promise<void>;
  readonly clock: Clock;
}

/** What a node does when it is called by that name. */
export type NodeMethod = (input: unknown) => Promise<unknown>;

/** How long one node waits until it is where the other one is. */
const WAIT_MS = 1_000;

export class NodeCaller {
  readonly #node: CallingNode;
  readonly #send: (bytes: Uint8Array, mayRepeat: boolean) => Promise<Uint8Array | Failure>;

  constructor(
    node: CallingNode,
    send: (bytes: Uint8Array, mayRepeat: boolean) => Promise<Uint8Array | Failure>,
  ) {
    this.#node = node;
    this.#send = send;
  }

  async ask({ name, input, mayRepeat, whenBehind }: NodeCall): Promise<unknown> {
    const question: Question = { name, input, seq: this.#node.appliedSeq() };
    const bytes = await this.#send(Buffer.from(JSON.stringify(question)), mayRepeat);
    if (bytes instanceof Failure) return bytes;
    // trust: written by `answering` in a node of this market
    const { seq, output, failure } = JSON.parse(Buffer.from(bytes).toString()) as Reply;
    if (failure !== undefined) {
      const { cause, message, ...more } = failure;
      return new Failure(causeOf(cause), message, more);
    }
    const isHere = await reachedInTime(this.#node, seq);
    return isHere || whenBehind === 'answer' ? output : notReady(BEHIND);
  }
}

const BEHIND = 'it was accepted, but this node has not seen it yet: ask again';
const EARLIER = 'the node that was asked is behind this one: try again';

/** The other side, for the transport. A fault of `works` is told to `failed`, by its name. */
export function callHandler(
  works: ReadonlyMap<string, NodeMethod>,
  node: CallingNode,
  failed: (name: string, error: unknown) => void,
): CallHandler {
  return async (bytes) => {
    // trust: written by `ask` in a node of this market
    const { name, input, seq } = JSON.parse(Buffer.from(bytes).toString()) as Question;
    const isHere = await reachedInTime(node, seq);
    const output = isHere ? await perform(works, name, input, failed) : notReady(EARLIER);
    const reply: Reply =
      output instanceof Failure
        ? { seq: node.appliedSeq(), failure: plain(output) }
        : { seq: node.appliedSeq(), output };
    return Buffer.from(JSON.stringify(reply));
  };
}

async function perform(
  works: ReadonlyMap<string, NodeMethod>,
  name: string,
  input: unknown,
  failed: (name: string, error: unknown) => void,
): Promise<unknown> {
  const work = works.get(name);
  if (work === undefined) {
    return new Failure('SERVER_ERROR', `no node does ${name}: update the nodes that lead first`);
  }
  try {
    return await work(input);
  } catch (error) {
    if (error instanceof Unavailable) return error.failure;
    failed(name, error);
    return new Failure('SERVER_ERROR', 'the server failed; it is logged, try again');
  }
}

async function reachedInTime({ reached, clock }: CallingNode, seq: number): Promise<boolean> {
  try {
    await withDeadline(clock, WAIT_MS, (signal) => reached(seq, signal));
    return true;
  } catch {
    return false;
  }
}

function plain({ cause, message, details, retryAfterSeconds, reason, status, retry }: Failure) {
  return {
    cause,
    message,
    status,
    retry,
    ...(details === undefined ? {} : { details }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function notReady(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}

function causeOf(cause: string): Cause {
  return isCause(cause) ? cause : 'SERVER_ERROR';
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}
