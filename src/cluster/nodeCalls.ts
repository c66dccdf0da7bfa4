/**
 * Calls between nodes, by method name, with JSON input and output. A reader has no keys and no
 * chain: it calls a node that has, and its clients notice no difference:
 *
 * - A call carries the caller's position. The other node answers from that position or a later one,
 *   never from a state before the changes that the client has seen here.
 * - The answer carries the position that includes its effect. The caller waits for that position,
 *   so that the client's next request sees the effect.
 * - A Failure comes back unchanged, with cause, message, details, reason, status and Retry-After.
 *
 * The transport sets the limits (cluster/nats/callClient.ts, cluster/nats/callServer.ts).
 */
import { withDeadline } from '../engine/runtime/abort.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import {
  CATALOGUE,
  type Cause,
  Failure,
  type FailureMore,
  notReady,
  Unavailable,
} from '../engine/runtime/errors.ts';
import type { Position } from '../engine/runtime/position.ts';
import type { CallHandler } from './nats/callServer.ts';
import type { Messages } from './nats/messages.ts';

export interface NodeCall {
  readonly name: string;
  /** A JSON value. */
  readonly input: unknown;
  /** Idempotent. */
  readonly mayRepeat: boolean;
  /**
   * When this node does not reach the position of the answer in time: `answer` all the same, or
   * fail with a `retry`, for calls that a repetition answers in the same way.
   */
  readonly whenBehind: 'answer' | 'retry';
}

/** With what the caller has applied. */
interface CallRequest extends Position {
  readonly name: string;
  readonly input: unknown;
}

/** With what the answering node has applied. */
interface CallReply extends Position {
  readonly output?: unknown;
  readonly failure?: { readonly cause: string; readonly message: string } & FailureMore;
}

/** The parts of a node that both sides need. */
export interface CallingNode {
  applied(): Position;
  /** Resolves once that is applied; rejects when it never will be, or `givenUp` is aborted. */
  reached(position: Position, givenUp: AbortSignal): Promise<void>;
  readonly clock: Clock;
}

interface WirePosition {
  readonly epoch?: string;
  readonly seq: number;
}

/** Serves the calls of one name. */
type NodeMethod = (input: unknown) => Promise<unknown>;

/** How long a node waits to reach the position of the other one. */
const WAIT_MS = 1_000;

export class NodeCaller {
  readonly #node: CallingNode;
  readonly #send: (bytes: Uint8Array, mayRepeat: boolean) => Promise<Uint8Array | Failure>;
  readonly #messages: Messages;

  constructor(
    node: CallingNode,
    send: (bytes: Uint8Array, mayRepeat: boolean) => Promise<Uint8Array | Failure>,
    messages: Messages,
  ) {
    this.#node = node;
    this.#send = send;
    this.#messages = messages;
  }

  async ask({ name, input, mayRepeat, whenBehind }: NodeCall): Promise<unknown> {
    const request: CallRequest = { name, input, ...this.#node.applied() };
    const bytes = await this.#send(Buffer.from(JSON.stringify(request)), mayRepeat);
    if (bytes instanceof Failure) return bytes;
    const reply = this.#messages.read('callReply', bytes);
    if (reply === null) return notReady(UNREADABLE);
    const { output, failure } = reply;
    if (failure !== undefined) {
      const { cause, message, ...more } = failure;
      return new Failure(causeOf(cause), message, more);
    }
    const isHere = await reachedInTime(this.#node, reply);
    return isHere || whenBehind === 'answer' ? output : notReady(BEHIND);
  }
}

const BEHIND = 'it was accepted, but this node has not seen it yet: ask again';
const UNREADABLE = 'the answer of the node that was asked cannot be read: try again';
const EARLIER = 'the node that was asked is behind this one: try again';

/** The answering side. Reports an exception of a method to `failed`, with its name. */
export function callHandler(
  methods: ReadonlyMap<string, NodeMethod>,
  node: CallingNode,
  failed: (name: string, error: unknown) => void,
  messages: Messages,
): CallHandler {
  return async (bytes) => {
    const request = messages.read('callRequest', bytes);
    if (request === null) return unreadable(node);
    const { name, input } = request;
    const isHere = await reachedInTime(node, request);
    const output = isHere ? await perform(methods, name, input, failed) : notReady(EARLIER);
    const reply: CallReply =
      output instanceof Failure
        ? { ...node.applied(), failure: plain(output) }
        : { ...node.applied(), output };
    return Buffer.from(JSON.stringify(reply));
  };
}

function unreadable(node: CallingNode): Uint8Array {
  const failure = plain(new Failure('INVALID_PARAMS', 'this is no call of a node'));
  return Buffer.from(JSON.stringify({ ...node.applied(), failure }));
}

async function perform(
  methods: ReadonlyMap<string, NodeMethod>,
  name: string,
  input: unknown,
  failed: (name: string, error: unknown) => void,
): Promise<unknown> {
  const method = methods.get(name);
  if (method === undefined) {
    return new Failure('SERVER_ERROR', `no node does ${name}: update the nodes that lead first`);
  }
  try {
    return await method(input);
  } catch (error) {
    if (error instanceof Unavailable) return error.failure;
    failed(name, error);
    return new Failure('SERVER_ERROR', 'the server failed; it is logged, try again');
  }
}

/** Without an epoch it is this node's: the other one has an older version. */
async function reachedInTime(
  node: CallingNode,
  { epoch = node.applied().epoch, seq }: WirePosition,
): Promise<boolean> {
  try {
    await withDeadline(node.clock, WAIT_MS, (signal) => node.reached({ epoch, seq }, signal));
    return true;
  } catch {
    // Not in time, or never: it stops, or takes another epoch.
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

function causeOf(cause: string): Cause {
  return isCause(cause) ? cause : 'SERVER_ERROR';
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}
