/**
 * The error catalogue: every cause a client can see, once. Operating errors are values (`Failure`)
 * that functions return. Thrown errors are a `Fault` if a caller tells them apart, else an `Error`.
 *
 * Source: protocol.md sections 0, 3, 5 and 6.2. `status` is the usual one; where a route answers a
 * cause with another (the builder's ASSET_NOT_FOUND is 500), its Failure says so.
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
  FORBIDDEN: { code: 1011, status: 403, retry: false },
  NOT_CONFIGURED: { code: 1012, status: 404, retry: false },
  UNKNOWN_KEY: { code: 1013, status: 401, retry: false },
  IDEMPOTENCY_CONFLICT: { code: 1014, status: 409, retry: false },
  KEY_REQUIRED: { code: 1015, status: 401, retry: false },
  EPOCH_CHANGED: { code: 1016, status: 409, retry: false },
  TOPIC_NOT_FOUND: { code: 1101, status: 404, retry: false },
  LIMIT_EXCEEDED: { code: 1102, status: 429, retry: false },
  MIN_TRADE_AMOUNT: { code: 1201, status: 500, retry: false },
  MAX_TRADE_AMOUNT: { code: 1202, status: 500, retry: false },
  PROTOCOL_CONFIG: { code: 1203, status: 500, retry: false },
  OPERATIONS_CONFIG: { code: 1204, status: 500, retry: false },
  UNKNOWN: { code: 1205, status: 500, retry: false },
  PROTOCOL_CONFIG_NETWORK_MISMATCH: { code: 1206, status: 500, retry: false },
  CONTRACTS_CONFIG_NETWORK_MISMATCH: { code: 1207, status: 500, retry: false },
  PRICE_MOVED: { code: 1208, status: 409, retry: false },
  INVALID_LOCK_END: { code: 1301, status: 400, retry: false },
  INVALID_AMOUNT: { code: 1302, status: 400, retry: false },
  UTxO_NOT_FOUND: { code: 1303, status: 404, retry: false },
  UTxO_SPENT: { code: 1304, status: 400, retry: false },
  INVALID_DATUM: { code: 1305, status: 400, retry: false },
  NOT_OWNER: { code: 1306, status: 403, retry: false },
  LOCK_NOT_EXPIRED: { code: 1307, status: 400, retry: true },
  ORDER_NOT_FOUND: { code: 1401, status: 404, retry: false },
} as const;

export type Cause = keyof typeof CATALOGUE;

export interface Detail {
  /** Where in the input, as a dotted path: `query.from`, `data.pair.base`. */
  readonly path: string;
  readonly message: string;
}

export interface FailureMore {
  readonly details?: readonly Detail[];
  readonly retryAfterSeconds?: number;
  readonly reason?: string;
  /** Instead of the status of the catalogue. */
  readonly status?: number;
  /** Overrides the catalogue: whether a repeat may succeed. */
  readonly retry?: boolean;
}

/** Reasons of a SERVER_ERROR after which a repeat may succeed; others blame the transaction. */
const PASSING_REASONS: readonly (string | undefined)[] = [
  undefined,
  'MEMPOOL_FULL',
  'NO_ANSWER',
  'REFUSED',
];

/** An operating error: what happened and what to do, for a person, under a cause for a machine. */
export class Failure {
  readonly cause: Cause;
  readonly message: string;
  readonly details: readonly Detail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The exact refusal, for a machine: INPUT_SPENT under SERVER_ERROR. */
  readonly reason: string | undefined;
  readonly status: number;
  readonly retry: boolean;

  constructor(cause: Cause, message: string, more: FailureMore = {}) {
    this.cause = cause;
    this.message = message;
    this.details = more.details;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.reason = more.reason;
    this.status = more.status ?? CATALOGUE[cause].status;
    const isPassing = cause !== 'SERVER_ERROR' || PASSING_REASONS.includes(more.reason);
    this.retry = more.retry ?? (isPassing && CATALOGUE[cause].retry);
  }
}

/** 400 for one thing wrong with the input. */
export function invalid(path: string, message: string): Failure {
  return new Failure('INVALID_PARAMS', message, { details: [{ path, message }] });
}

/** The same where `rule` begins with a verb: the message begins with the field. */
export function invalidField(path: string, rule: string): Failure {
  return new Failure('INVALID_PARAMS', `${path} ${rule}`, { details: [{ path, message: rule }] });
}

/** 503: this server cannot answer yet. Clients ask again after a second. */
export function notReady(message: string, reason?: string): Failure {
  const more = reason === undefined ? {} : { reason };
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1, ...more });
}

/** The same about a part of the input. */
export function failureIn(part: string, { cause, message, details = [] }: Failure): Failure {
  const moved = details.map((each) => ({ ...each, path: `${part}.${each.path}` }));
  return new Failure(cause, `${part}: ${message}`, { details: moved });
}

const RETRY_AFTER_S = 2;

/** 503 if a dependency of this server (disk, NATS, another server) refuses for now. */
export function notNow(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: RETRY_AFTER_S });
}

/**
 * Thrown where a function can only throw: another server does not answer now. A route that meets it
 * answers with the failure; nothing is wrong with the program.
 */
export class Unavailable extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** The code of a system, of SQLite or of zlib (ENOENT); null: the error has none. */
export function systemCode(error: unknown): string | null {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
  return typeof code === 'string' ? code : null;
}

/** The message of a thrown value, for a log line or a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The first `most` characters, and an ellipsis where that left some out. */
export function beginningOf(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
