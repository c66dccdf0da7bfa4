/** Beside those of the API (api.md section 0): what happened before there was an answer. */
export type LocalCause =
  | 'UNREACHABLE'
  | 'TIMEOUT'
  | 'BAD_ANSWER'
  /** This side ended it. */
  | 'STOPPED'
  /** The server closed the socket for good. */
  | 'CLOSED';

export interface ErrorFacts {
  /** Of HTTP; null where there was no answer, and for errors of a socket. */
  readonly status?: number | null;
  /** On 400: where in the input, and what is wrong there. */
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  /** Of a refused transaction, for a machine. */
  readonly reason?: string | null;
  readonly retryAfterSeconds?: number | null;
}

/** A refusal by the server, or a call that got no answer; `message` is for a person. */
export class ApiError extends Error {
  /** Of the API's catalogue, or a `LocalCause`. */
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
    const passing = ['UNREACHABLE', 'TIMEOUT', 'NOT_READY', 'OVERLOADED', 'RATE_LIMITED'];
    return passing.includes(this.cause);
  }
}
