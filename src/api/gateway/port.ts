/**
 * The interface between the gateway and the node: routes and topics that the gateway serves, and
 * questions that it asks the node. The gateway knows uWebSockets.js and no market.
 *
 * A route's handler gets checked input and answers bytes; everything HTTP (limits, CORS, ETag,
 * gzip, HEAD, aborts) happens around it. A handler may be asynchronous; it runs between batches of
 * the fold, so its reads before the first await are at `NodeView.applied()`.
 */
import type { TObject, TSchema } from 'typebox';
import type { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { Position } from '../../engine/runtime/position.ts';

/** A request after its checks, as the gateway hands it on; `route()` types it for the handler. */
export interface RouteRequest {
  /** Checked against `Route.query`; integers are numbers, absent and empty fields are left out. */
  readonly query: unknown;
  /** Path parameters by name. */
  readonly params: unknown;
  /**
   * Checked against `Route.body`, or the fields of `Route.form`; undefined where the route takes
   * none or the body was empty.
   */
  readonly body: unknown;
  /** The files of a form, in the order in which they came; each name once. */
  readonly files?: readonly FormFile[];
  /** Where the route `tellsLimits`. */
  readonly limits?: CallerLimits;
  /** Name of the caller's API key, where the route `needsKey`. */
  readonly apiKey?: string;
  /** Where the route `callsRoutes`: runs another one for the same caller, at its cost. */
  readonly call?: (route: Route, request: InnerRequest) => Promise<Answer | Failure>;
}

/** A request to a route from within another one; it is checked like a request that came alone. */
export interface InnerRequest {
  /** Path and query. */
  readonly target: string;
  /** JSON or a form; null: none. */
  readonly body: { readonly type: string; readonly bytes: Uint8Array } | null;
}

/** The limits of a request's caller, and the remaining amounts. */
export interface CallerLimits {
  /** Name of its API key, or its address (IPv6: the /64). */
  readonly caller: string;
  /** Each node counts for itself. */
  readonly scope: 'node';
  /** Whether nothing is counted: a caller on this machine, without an API key. */
  readonly exempt: boolean;
  readonly classes: Readonly<Record<'read' | 'build' | 'launch', ClassLimit>>;
  readonly sockets: { readonly limit: number; readonly open: number };
}

interface ClassLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** A file of a multipart body. The handler checks the bytes. */
export interface FormFile {
  readonly name: string;
  /** The client's name for it, without folders; empty where it gave none. */
  readonly filename: string;
  /** As declared, in lower case and without parameters; the bytes may differ. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A multipart/form-data body; parts of other names are ignored. */
export interface FormShape {
  /** Whole body; 413 above. */
  readonly maxBodyBytes: number;
  /**
   * Each property is a part that holds JSON: a text field or a part with a file name. Checked, they
   * are the `body` of the request.
   */
  readonly fields: TObject;
  readonly files: Readonly<Record<string, FilePart>>;
}

interface FilePart {
  readonly description: string;
  readonly required: boolean;
  /** For the documents; the handler refuses others. */
  readonly mediaTypes: readonly string[];
}

export interface Answer {
  readonly status?: number;
  /** Serialised already; `type` defaults to application/json. */
  readonly body: string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A permanent name of these bytes, such as a content id. A route with `etag` uses it as the ETag,
   * and hashes the body where it is absent. Printable ASCII without quotes.
   */
  readonly tag?: string;
  /**
   * The same for every caller, for ever: caches may keep it. Without position and limits, which
   * are of one caller at one moment.
   */
  readonly unchanging?: true;
  /** The body compressed already, for a route with `gzip` and a body that never changes. */
  readonly encoded?: { readonly br: Uint8Array; readonly gzip: Uint8Array };
}

/** The token bucket that a request draws from; `free` for health and metrics. */
export type RateClass = 'read' | 'build' | 'launch' | 'free';

/** One kind of answer, for the documents. */
export interface AnswerShape {
  readonly description: string;
  readonly schema?: TSchema;
  /** Media type; JSON when absent. */
  readonly type?: string;
  /** Additional headers: name to description. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How the rows of a JSON answer become CSV. */
export interface CsvShape {
  /** Name of the downloaded file, without `.csv`. */
  readonly file: string;
  /** Its fields are the columns. */
  readonly row: TObject;
  /** The rows of the parsed JSON answer. */
  rows(answer: unknown): readonly unknown[];
}

/** How a route answers a request again that came before under the same `Idempotency-Key`. */
export interface Idempotency {
  /** The wallet of the request: a key of one wallet does not apply to another. */
  wallet(request: RouteRequest): string;
  /** Whether an answer of this route may be given again; a Failure: that cannot be known now. */
  isCurrent(answer: Answer): Promise<boolean | Failure>;
  /** By field, at any depth: the value that means the same as its absence. */
  readonly likeAbsent?: Readonly<Record<string, unknown>>;
}

/** A cause of the catalogue, or a cause that this route answers with another status. */
type RouteCause = string | { readonly cause: string; readonly status: number };

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `:name` is a path parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Checks path parameters after percent-decoding; without it any text is accepted. */
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TSchema;
  /** Limit of the body, or of each field of the form; `SMALL_BODY_BYTES` where it is left out. */
  readonly maxBodyBytes?: number;
  /** The body is a form; `body` is left out then. */
  readonly form?: FormShape;
  readonly answers: Readonly<Record<number, AnswerShape>>;
  /** Causes this route may answer beyond the common ones, for the documents. */
  readonly causes?: readonly RouteCause[];
  readonly rate: RateClass;
  /** How many tokens a request takes; 1 where it is left out. See `Allowance.charge`. */
  cost?(request: RouteRequest): number;
  /** 503 NOT_READY until the node is synced. Health, metrics and documents do not. */
  readonly needsSync: boolean;
  /** Carries X-Position (with a chain X-Slot, X-Block-Hash) and honours X-Min-Position. */
  readonly positioned: boolean;
  /** Weak or strong ETag of the body and If-None-Match. */
  readonly etag: boolean;
  /** gzip over 1 kB when the client takes it: for bodies that are not live. */
  readonly gzip: boolean;
  /** Also served as CSV, to `format=csv` (`Format` in the query) or by Accept. */
  readonly csv?: CsvShape;
  /**
   * A POST that must not take effect unless its client can get the answer. The library closes a
   * connection on which it reads a request while an answer is pending. So this route does not start
   * if the rest of such a request arrived together with it.
   */
  readonly exclusive?: boolean;
  /** Honours `Idempotency-Key`. */
  readonly idempotency?: Idempotency;
  /** 401 KEY_REQUIRED without an API key. */
  readonly needsKey?: boolean;
  /** Its requests carry the limits of their caller. */
  readonly tellsLimits?: boolean;
  /** Its handler runs other routes for its caller. */
  readonly callsRoutes?: boolean;
  /** Answers only calls from this host: see `http/localHostGuard.ts`. */
  readonly localOnly?: boolean;
  /**
   * Answered with an event stream of these subscriptions, each as a client sent it; `handle` is not
   * called then. `place` names them in messages.
   */
  readonly stream?: {
    readonly place: string;
    subscriptions(request: RouteRequest): readonly unknown[] | Failure;
  };
  handle(request: RouteRequest): Handled | Promise<Answer | Failure>;
}

/**
 * An answer that may take longer than the loop should be held for: the gateway makes it in slices.
 * Only for an answer that is long anyhow: the connection is closed if it pipelines behind an answer
 * that took more than a moment.
 */
export class SlicedAnswer {
  /**
   * Does some of it, until `isOver`. null: there is more. Unless `held`, each slice reads the
   * present state, and the answer is at the position of the last slice.
   */
  readonly step: (isOver: () => boolean) => Answer | Failure | null;
  /** For a state that is kept from the first slice on. */
  readonly held: HeldState | null;

  constructor(step: SlicedAnswer['step'], held: HeldState | null = null) {
    this.step = step;
    this.held = held;
  }
}

interface HeldState {
  /** The answer is at the position of the slice before which this became true. */
  isHeld(): boolean;
  /** The client is gone: no other step follows. */
  release(): void;
}

export type Handled = Answer | Failure | SlicedAnswer;

export interface Tip {
  readonly slot: number | null;
  readonly hash: string | null;
  readonly lagMs: number | null;
}

/** The node's part of the gateway's interface. */
export interface NodeView {
  /** Position every reader sees. */
  applied(): Position;
  synced(): boolean;
  /**
   * Where the log itself ends, asked after this call; null: unknown. Absent: always unknown.
   * Rejects where the log does not answer.
   */
  logEnd?(): Promise<Position | null>;
  tip(): Tip;
  /** Runs `listener` after each batch, until the returned function is called. */
  onApplied(listener: () => void): () => void;
}

/** JSON for an error body, protocol.md section 0. */
export interface ErrorBody {
  readonly cause: string;
  readonly message: string;
  readonly details?: Json;
  readonly reason?: string;
  /** On a 500 that is no fault of the server: the same request would be refused again. */
  readonly retry?: false;
}
