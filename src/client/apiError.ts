/** Causes that this client adds to the API's causes (protocol.md section 0). */
export type LocalCause =
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'BAD_ANSWER'
  /** This side ended it. */
  | 'STOPPED'
  /** The server closed the socket for good. */
  | 'CLOSED'
  /** The server built bytes that are no transaction. */
  | 'BAD_TRANSACTION'
  /** The server built something else than was requested, or submitted another transaction. */
  | 'NOT_WHAT_WAS_ASKED'
  /** The wallet refused, failed, or none is connected. */
  | 'WALLET';

interface ErrorFacts {
  /** HTTP status; null where there was no answer, and for errors of a socket. */
  readonly status?: number | null;
  /** On 400: the field of the input, and its fault. */
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  /** Why a transaction was refused, for a machine. */
  readonly reason?: string | null;
  readonly retryAfterSeconds?: number | null;
}

const TRANSIENT = ['UNREACHABLE', 'TIMEOUT', 'NOT_READY', 'OVERLOADED', 'RATE_LIMITED'];

/** The only error of the client: a refusal, or no answer; `message` is for a person. */
export class ApiError extends Error {
  /** A cause from the API's catalogue, or a `LocalCause`. */
  override readonly cause: string;
  readonly status: number | null;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  readonly reason: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(cause: string, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.name = 'ApiError';
    this.cause = cause;
    this.status = facts.status ?? null;
    this.details = facts.details ?? [];
    this.reason = facts.reason ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
  }

  /** Another node, or the same one later, may answer. */
  get isPassing(): boolean {
    return this.isBusy || TRANSIENT.includes(this.cause);
  }

  /** The server answered that it is busy (429, 503) and did nothing: it may be asked again. */
  get isBusy(): boolean {
    return this.status === 503 || (this.status === 429 && !this.#isFull);
  }

  /** No time makes room, unless the server names one: webhooks of a key, for example. */
  get #isFull(): boolean {
    return this.cause === 'LIMIT_EXCEEDED' && this.retryAfterSeconds === null;
  }
}
