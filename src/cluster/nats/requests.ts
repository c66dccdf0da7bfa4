/**
 * Request and reply between nodes: a follower asks the leader. A Failure of the other side comes
 * back as a Failure; whether something was done before an answer failed to come is unknown.
 */
import type { Cause, FailureMore } from '../../engine/runtime/errors.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { headers, type Msg, type NatsLink } from './connection.ts';

export type Handler = (bytes: Uint8Array) => Promise<Uint8Array | Failure>;

export interface RequestLimits {
  /** Of a question and of an answer; 512 KiB unless told. */
  readonly maxBytes?: number;
  /** Of `ask`. */
  readonly timeoutMs?: number;
  /** Of `serve`: questions under way at once; more are refused. */
  readonly maxActive?: number;
}

const MAX_BYTES = 512 * 1024;
const TIMEOUT_MS = 5_000;
const MAX_ACTIVE = 256;
const FAILURE_HEADER = 'Upcurve-Failure';

/** Answers each question on `subject`; a handler that throws answers SERVER_ERROR. */
export function serve(
  link: NatsLink,
  subject: string,
  handler: Handler,
  { maxBytes = MAX_BYTES, maxActive = MAX_ACTIVE }: RequestLimits = {},
): { stop(): void } {
  let active = 0;
  const answer = async (message: Msg): Promise<Uint8Array | Failure> => {
    if (message.data.length > maxBytes) return tooLarge(maxBytes);
    if (active >= maxActive) {
      return new Failure('OVERLOADED', 'the leader has too much to do', { retryAfterSeconds: 1 });
    }
    active += 1;
    try {
      const bytes = await handler(message.data);
      if (bytes instanceof Failure || bytes.length <= maxBytes) return bytes;
      return new Failure('SERVER_ERROR', `the leader's answer has ${bytes.length} bytes`);
    } catch (error) {
      return new Failure('SERVER_ERROR', `the leader failed: ${String(error)}`);
    } finally {
      active -= 1;
    }
  };
  const subscription = link.connection.subscribe(subject, {
    callback: (_error, message) => void answer(message).then((said) => reply(message, said)),
  });
  return { stop: () => subscription.unsubscribe() };
}

export async function ask(
  link: NatsLink,
  subject: string,
  bytes: Uint8Array,
  { maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS }: RequestLimits = {},
): Promise<Uint8Array | Failure> {
  if (bytes.length > maxBytes) return tooLarge(maxBytes);
  if (!link.connected) return noLeader('this node has no connection to NATS');
  try {
    const asked = () => link.connection.request(subject, bytes, { timeout: timeoutMs });
    const answer = await link.whileConnected(asked);
    const failed = answer.headers?.get(FAILURE_HEADER) ?? '';
    return failed === '' ? answer.data : failureOf(failed);
  } catch (error) {
    if (isNoResponder(error)) return noLeader('no node leads right now');
    return new Failure('SERVER_ERROR', `the leader gave no answer: ${String(error)}`, {
      reason: 'NO_ANSWER',
    });
  }
}

function reply(message: Msg, answer: Uint8Array | Failure): void {
  if (message.reply === undefined || message.reply === '') return;
  try {
    if (!(answer instanceof Failure)) {
      message.respond(answer);
      return;
    }
    const { cause, details, retryAfterSeconds, reason, status, retry } = answer;
    const more = { details, retryAfterSeconds, reason, status, retry };
    const about = headers();
    // A header holds Latin letters only; a message may have others.
    about.set(FAILURE_HEADER, encodeURIComponent(JSON.stringify([cause, answer.message, more])));
    message.respond(new Uint8Array(), { headers: about });
  } catch {
    // The connection is gone, and with it who asked.
  }
}

function failureOf(text: string): Failure {
  // trust: written by `reply` of a node of this market
  const [cause, message, more] = JSON.parse(decodeURIComponent(text)) as [
    Cause,
    string,
    FailureMore,
  ];
  return new Failure(cause, message, more);
}

function isNoResponder(error: unknown): boolean {
  const seen = error instanceof Error ? `${error.name} ${String(error.cause)}` : '';
  return seen.includes('NoResponders');
}

function noLeader(message: string): Failure {
  const more = { reason: 'NO_LEADER', retryAfterSeconds: 1 };
  return new Failure('NOT_READY', message, more);
}

function tooLarge(maxBytes: number): Failure {
  return new Failure('PAYLOAD_TOO_LARGE', `at most ${maxBytes} bytes`);
}
