/**
 * Registers routes on the server and runs the checks around each handler, in this order: ambiguous
 * headers, rate limits, input, the requested position, readiness. Each GET also answers HEAD; other
 * methods get 405. A handler that throws or rejects is answered with 500: an exception that reaches
 * uWebSockets.js would end the process.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { hasReached, parsePosition } from '../../engine/runtime/position.ts';
import { Slices, type Step } from '../../engine/runtime/slices.ts';
import { type Caller, type Callers, withApiKey } from '../gateway/address.ts';
import { type ApiKeys, keyRequired, presentedKey, unknownKey } from '../gateway/apiKeys.ts';
import { bodyLimitsOf } from '../gateway/bodyLimits.ts';
import {
  type Answer,
  type CallerLimits,
  type NodeView,
  type RateClass,
  type Route,
  type RouteRequest,
  SlicedAnswer,
} from '../gateway/port.ts';
import type { PositionWaiters } from '../gateway/positionWaiters.ts';
import type { HttpRequest, HttpResponse, Server } from '../gateway/server.ts';
import {
  type AcceptedBody,
  acceptedJson,
  type BodyBudget,
  BodyReader,
  FORM_TYPE,
  FormReader,
  readBody,
  refuseByHeaders,
  refuseByType,
} from './body.ts';
import { PREFLIGHT_LINES } from './cors.ts';
import { CsvWriter, wantsCsv } from './csv.ts';
import { Exchange } from './exchange.ts';
import type { IdempotentAnswers } from './idempotency.ts';
import type { LocalHostGuard } from './localHostGuard.ts';
import type { PositionHeaders } from './positionHeaders.ts';
import { ParameterReader, QueryReader } from './query.ts';
import type { RateLimits } from './rateLimits.ts';
import type { RequestContext, ResponseWriter } from './responseWriter.ts';

/** Answers with an event stream. */
interface StreamOpener {
  open(context: RequestContext, subscriptions: readonly unknown[], place: string): void;
  refuse(context: RequestContext, failure: Failure): void;
}

/** What all routes share. */
interface HttpDeps {
  readonly nodeView: NodeView;
  readonly clock: Clock;
  readonly responses: ResponseWriter;
  readonly positionWaiters: PositionWaiters;
  readonly callers: Callers;
  readonly apiKeys: ApiKeys;
  readonly limits: RateLimits;
  readonly idempotentAnswers: IdempotentAnswers;
  limitsOf(caller: Caller): CallerLimits;
  readonly positions: PositionHeaders;
  readonly bodyBudget: BodyBudget;
  readonly maxBodyBytes: number;
  readonly localHostGuard: LocalHostGuard;
  readonly eventStreams: StreamOpener;
}

class RouteServer {
  readonly #route: Route;
  readonly #http: HttpDeps;
  readonly #query: QueryReader;
  readonly #parameters: ParameterReader;
  readonly #body: BodyReader;
  readonly #form: FormReader | null;
  readonly #accepted: AcceptedBody;
  readonly #csv: CsvWriter | null;

  constructor(route: Route, http: HttpDeps) {
    this.#route = route;
    this.#http = http;
    this.#query = new QueryReader(route.query);
    this.#parameters = new ParameterReader(route.path, route.params);
    const { form } = route;
    const limits = bodyLimitsOf(form?.fields ?? route.body, route, http.maxBodyBytes);
    this.#body = new BodyReader(route.body, limits);
    this.#form = form === undefined ? null : new FormReader(form, limits);
    this.#csv = route.csv === undefined ? null : new CsvWriter(route.csv);
    this.#accepted =
      form === undefined
        ? acceptedJson(limits.bytes)
        : { maxBytes: form.maxBodyBytes, type: FORM_TYPE, typeName: 'multipart/form-data' };
  }

  serve(res: HttpResponse, req: HttpRequest, isHead: boolean): void {
    const { operationId, rate, method, stream } = this.#route;
    const isStream = stream !== undefined && !isHead;
    const context = enter(this.#http, res, req, { operationId, rate, isHead, isStream });
    if (context === null) return;
    try {
      const input = this.#refusal(context) ?? this.#input(req);
      if (input instanceof Failure) this.#http.responses.failure(context, input);
      else if (method === 'POST') this.#receive(context, input);
      else this.#proceed(context, input);
    } catch (error) {
      this.#http.responses.fault(context, error);
    }
    context.exchange.corked = false;
  }

  #refusal({ exchange, caller }: RequestContext): Failure | null {
    if (this.#route.needsKey === true && caller.apiKey === null) return keyRequired();
    if (this.#route.localOnly !== true) return null;
    return this.#http.localHostGuard.refusal(exchange.host, exchange.origin);
  }

  #input(req: HttpRequest): RouteRequest | Failure {
    const query = this.#query.read(req.getQuery() ?? '');
    if (query instanceof Failure) return query;
    const params = this.#parameters.read((index) => req.getParameter(index) ?? '');
    if (params instanceof Failure) return params;
    return { query: query.value, params: params.value, body: undefined };
  }

  #receive(context: RequestContext, input: RouteRequest): void {
    const { responses } = this.#http;
    const refused = refuseByHeaders(context.exchange, this.#accepted);
    if (refused !== null) {
      responses.failure(context, refused);
      return;
    }
    responses.defer(context);
    readBody(context, this.#accepted.maxBytes, this.#http, (bytes) => {
      try {
        if (bytes instanceof Failure) responses.failure(context, bytes, { close: true });
        else this.#read(context, input, bytes);
      } catch (error) {
        responses.fault(context, error);
      }
    });
  }

  #read(context: RequestContext, input: RouteRequest, bytes: Buffer): void {
    const { exchange } = context;
    const refused = bytes.length > 0 ? refuseByType(exchange, this.#accepted) : null;
    if (refused !== null || this.#form === null) {
      const body = refused ?? this.#body.read(bytes);
      if (body instanceof Failure) this.#http.responses.failure(context, body);
      else this.#begin(context, { ...input, body: body.value });
      return;
    }
    this.#form
      .read(exchange.contentType, bytes)
      .then((form) => {
        if (form instanceof Failure) this.#http.responses.failure(context, form);
        else if (exchange.alive) this.#begin(context, { ...input, ...form });
      })
      .catch((error) => this.#http.responses.fault(context, error));
  }

  /** An exclusive request starts in the next turn: by then a pipelined request has been read. */
  #begin(context: RequestContext, request: RouteRequest): void {
    const cost = this.#route.cost?.(request) ?? 1;
    if (cost > 1) context.allowance = context.allowance.charge(cost - 1);
    if (this.#route.exclusive !== true) {
      this.#proceed(context, request);
      return;
    }
    this.#http.clock.soon(() => {
      if (!context.exchange.alive) return;
      context.exchange.pause();
      this.#proceed(context, request);
    });
  }

  /** Waits for the requested position, then runs the handler. */
  #proceed(context: RequestContext, request: RouteRequest): void {
    const { nodeView, responses, positionWaiters } = this.#http;
    const { minPosition } = context.exchange;
    if (this.#route.positioned && minPosition !== '') {
      const asked = parsePosition(minPosition);
      if (asked === null) {
        responses.failure(context, invalid('headers.x-min-position', 'must be <epoch>:<seq>'));
        return;
      }
      if (!hasReached(nodeView.applied(), asked)) {
        if (!context.exchange.deferred) responses.defer(context);
        const owner = { of: context.exchange, caller: context.caller };
        positionWaiters.wait(owner, asked, (outcome) => {
          if (!context.exchange.alive) return;
          // One of an epoch that is gone will never come: the answer's own position says where it
          // is. One beyond the end of this epoch may come yet.
          const isOtherEpoch = nodeView.applied().epoch !== asked.epoch;
          if (outcome === 'arrived' || (outcome === 'gone' && isOtherEpoch)) {
            this.#run(context, request);
          } else
            responses.failure(context, notReady('this node has not reached X-Min-Position yet'));
        });
        return;
      }
    }
    this.#run(context, request);
  }

  #run(context: RequestContext, request: RouteRequest): void {
    const { stream } = this.#route;
    if (stream !== undefined) {
      const items = stream.subscriptions(request);
      if (items instanceof Failure) this.#http.responses.failure(context, items);
      else this.#http.eventStreams.open(context, items, stream.place);
      return;
    }
    const { nodeView, responses, positions } = this.#http;
    if (this.#route.needsSync && !nodeView.synced()) {
      responses.failure(context, notReady('this node is still syncing'));
      return;
    }
    try {
      const positionLines = this.#route.positioned ? positions.now() : '';
      const answer = this.#handle(context, request);
      const csv = wantsCsv(context.exchange.accept, request.query) ? this.#csv : null;
      if (answer instanceof SlicedAnswer) {
        this.#runInSlices(context, answer, csv);
        return;
      }
      if (!(answer instanceof Promise)) {
        this.#finish(context, answer, positionLines, csv);
        return;
      }
      if (!context.exchange.deferred) responses.defer(context);
      answer
        .then((settled) => this.#finish(context, settled, positionLines, csv))
        .catch((error) => responses.fault(context, error));
    } catch (error) {
      responses.fault(context, error);
    }
  }

  #handle({ caller, exchange }: RequestContext, request: RouteRequest) {
    const { idempotencyKey } = exchange;
    if (idempotencyKey !== null && this.#route.idempotency !== undefined) {
      return this.#http.idempotentAnswers.answer(idempotencyKey, caller, this.#route, request);
    }
    const { needsKey, tellsLimits } = this.#route;
    if (needsKey === true && caller.apiKey !== null) {
      return this.#route.handle({ ...request, apiKey: caller.apiKey.name });
    }
    if (tellsLimits !== true) return this.#route.handle(request);
    return this.#route.handle({ ...request, limits: this.#http.limitsOf(caller) });
  }

  #runInSlices(context: RequestContext, answer: SlicedAnswer, csv: CsvWriter | null): void {
    const { responses, clock, positions, nodeView } = this.#http;
    const { exchange, caller } = context;
    const slices = Slices.of(clock);
    let lines: string | null = null;
    const step: Step = (isOver) => {
      if (!exchange.alive) {
        answer.held?.release();
        return true;
      }
      if (this.#route.needsSync && !nodeView.synced()) {
        answer.held?.release();
        responses.failure(context, notReady('this node is still syncing'));
        return true;
      }
      if (answer.held?.isHeld() !== true || lines === null) {
        lines = this.#route.positioned ? positions.now() : '';
      }
      const made = answer.step(isOver);
      if (made !== null) this.#finish(context, made, lines, csv);
      return made !== null;
    };
    const isOver = slices.atOnce(caller.key);
    if (isOver !== null && step(isOver)) return;
    if (!exchange.deferred) responses.defer(context);
    slices.add(caller.key, step, (error) => responses.fault(context, error));
  }

  #finish(
    context: RequestContext,
    answer: Answer | Failure,
    positionLines: string,
    csv: CsvWriter | null,
  ): void {
    const { responses } = this.#http;
    if (answer instanceof Failure) responses.failure(context, answer);
    else responses.answer(context, this.#route, csv?.answer(answer) ?? answer, positionLines);
  }
}

/**
 * Reads the headers, finds out who calls and takes a rate-limit token; null: refused, and answered.
 * Who guesses keys is counted by address.
 */
function enter(
  http: HttpDeps,
  res: HttpResponse,
  req: HttpRequest,
  kind: { operationId: string; rate: RateClass; isHead: boolean; isStream?: boolean },
): RequestContext | null {
  const exchange = new Exchange(res, req, kind.isHead);
  const peer = http.callers.of(res, exchange.forwardedFor);
  const secret = presentedKey(exchange.authorization);
  const apiKey = secret === null ? null : http.apiKeys.find(secret);
  const caller = apiKey === null ? peer : withApiKey(peer, apiKey);
  const allowance = http.limits.takeToken(kind.rate, caller);
  const startedMs = http.clock.monotonicMs();
  const context = { exchange, caller, operationId: kind.operationId, startedMs, allowance };
  if (exchange.ambiguous) {
    const message =
      'send one Host, at most one Content-Length (a number), and no Transfer-Encoding but chunked';
    http.responses.failure(context, invalid('headers', message), { close: true });
    return null;
  }
  const isUnknown = secret !== null && apiKey === null;
  if (allowance.granted && !isUnknown) return context;
  if (allowance.granted) {
    http.responses.failure(context, unknownKey());
    exchange.corked = false;
    return null;
  }
  const { retryAfterSeconds } = allowance;
  const message = `too many requests: try again in ${retryAfterSeconds} s`;
  const refused = new Failure('RATE_LIMITED', message, { retryAfterSeconds });
  if (kind.isStream === true) http.eventStreams.refuse(context, refused);
  else http.responses.failure(context, refused);
  exchange.corked = false;
  return null;
}

function notReady(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}

type Unrouted = (res: HttpResponse, req: HttpRequest) => void;

export function mount(server: Server, routes: readonly Route[], http: HttpDeps): void {
  const methodsOf = new Map<string, Set<string>>();
  for (const route of routes) {
    const wrapper = new RouteServer(route, http);
    const methods = methodsOf.get(route.path) ?? new Set<string>();
    methodsOf.set(route.path, methods.add(route.method));
    if (route.method === 'GET') {
      methods.add('HEAD');
      server.handle('get', route.path, (res, req) => wrapper.serve(res, req, false));
      server.handle('head', route.path, (res, req) => wrapper.serve(res, req, true));
    } else {
      const method = route.method === 'POST' ? 'post' : 'del';
      server.handle(method, route.path, (res, req) => wrapper.serve(res, req, false));
    }
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods, 'OPTIONS'].join(', ');
    server.handle('options', path, preflight(http));
    server.handle('any', path, methodNotAllowed(http, allow));
  }
  server.handle('options', '/*', preflight(http));
  server.handle('any', '/*', notFound(http));
}

/** Without rate limits, so that a browser can always read why its request was refused. */
function preflight(http: HttpDeps): Unrouted {
  const kind = { operationId: 'preflight', rate: 'free', isHead: false } as const;
  return (res, req) => {
    const context = enter(http, res, req, kind);
    if (context !== null) http.responses.empty(context, PREFLIGHT_LINES);
  };
}

function methodNotAllowed(http: HttpDeps, allow: string): Unrouted {
  const failure = new Failure('METHOD_NOT_ALLOWED', `this path takes ${allow}`);
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    if (context !== null)
      http.responses.failure(context, failure, { lines: `\r\nAllow: ${allow}` });
  };
}

function notFound(http: HttpDeps): Unrouted {
  return (res, req) => {
    const context = enter(http, res, req, unrouted(req));
    if (context === null) return;
    const message = `no such route: ${req.getUrl().slice(0, 200)}; see /v1/docs/openapi`;
    http.responses.failure(context, new Failure('NOT_FOUND', message));
  };
}

function unrouted(req: HttpRequest) {
  return { operationId: 'unknown', rate: 'read', isHead: req.getMethod() === 'head' } as const;
}
