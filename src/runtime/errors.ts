/**
 * The error catalogue: every cause a client can see, once. Operating errors are values (`Failure`)
 * that functions return; a thrown error is a fault of the program.
 *
 * Source: api.md sections 0 and 6.2.
 */
export const CATALOGUE = {
  INVALID_PARAMS: { code: 1001, status: 400, retry: false },
  NOT_FOUND: { code: 1002, status: 404, retry: false },
  ASSET_NOT_FOUND: { code: 1003, status: 404, retry: false },
  METHOD_NOT_ALLOWED: { code: 1004, status: 405, retry: false },
  PAYLOAD_TOO_LARGE: { code: 1005, status: 413, retry: false },
  UNSUPPORTED_MEDIA_TYPE: { code: 1006, status: 415, retry: false },
  RATE_LIMITED: { code: 1007, status: 429, retry: true },
  NOT_READY: { code: 1008, status: 503, retry: true },
  OVERLOADED: { code: 1009, status: 503, retry: true },
  SERVER_ERROR: { code: 1010, status: 500, retry: true },
  TOPIC_NOT_FOUND: { code: 1101, status: 404, retry: false },
  LIMIT_EXCEEDED: { code: 1102, status: 429, retry: false },
} as const;

export type Cause = keyof typeof CATALOGUE;

export interface Detail {
  /** Where in the input, as a dotted path: `query.from`, `data.pair.base`. */
  readonly path: string;
  readonly message: string;
}

/** An operating error: what happened and what to do, for a person, under a cause for a machine. */
export class Failure {
  readonly cause: Cause;
  readonly message: string;
  readonly details: readonly Detail[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    cause: Cause,
    message: string,
    more: { details?: readonly Detail[]; retryAfterSeconds?: number } = {},
  ) {
    this.cause = cause;
    this.message = message;
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  get status(): number {
    return CATALOGUE[this.cause].status;
  }

  get retry(): boolean {
    return CATALOGUE[this.cause].retry;
  }
}

/** 400 for one thing wrong with the input. */
export function invalid(path: string, message: string): Failure {
  return new Failure('INVALID_PARAMS', message, { details: [{ path, message }] });
}
