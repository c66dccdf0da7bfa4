/**
 * What went wrong with a call, as a value. `cause` is the server's (api.md section 0), or one of
 * ours: UNREACHABLE, TIMEOUT, STOPPED, BAD_ANSWER, BAD_TRANSACTION, NOT_WHAT_WAS_ASKED.
 */
export interface FailureDetails {
  /** null where no answer came. */
  readonly status?: number | null;
  readonly reason?: string | null;
  readonly retryAfterSeconds?: number | null;
}

export class ApiFailure {
  readonly cause: string;
  /** For a person. */
  readonly message: string;
  readonly status: number | null;
  readonly reason: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(cause: string, message: string, details: FailureDetails = {}) {
    this.cause = cause;
    this.message = message;
    this.status = details.status ?? null;
    this.reason = details.reason ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }

  /** The server is busy or away: come back later, more slowly. */
  get isBusy(): boolean {
    if (this.status !== null) return this.status === 429 || this.status === 503;
    return this.cause === 'UNREACHABLE' || this.cause === 'TIMEOUT';
  }
}
