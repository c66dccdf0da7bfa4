/**
 * Registers routes on the server and runs the checks around each handler, in this order: ambiguous
 * headers, rate limits, input, the requested position, readiness. Each GET also answers HEAD; other
 * methods get 405. A handler that throws or rejects is answered with 500: an exception that reaches
 * uWebSockets.js would end the process.
 */
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { hasReached, parsePosition } from '../../engine/runtime/position.ts';
import { Slices, type Step } from '../../engine/runtime/slices.ts';
import { keyRequired } from '../gateway/apiKeys.ts';
import { bodyLimitsOf } from '../gateway/bodyLimits.ts';
import { type Answer, type Route, type RouteRequest, SlicedAnswer } from '../gateway/port.ts';
import type { HttpRequest, HttpResponse, Server } from '../gateway/server.ts';
import {
  type AcceptedBody,
  acceptedJson,
  BodyReader,
  FORM_TYPE,
  FormReader,
  readBody,
  refuseByHeaders,
  refuseByType,
} from './body.ts';
import { CsvWriter, wantsCsv } from './csv.ts';
import { enter, type HttpDeps, unmetExpectation } from './enter.ts';
import { innerCall } from './innerCalls.ts';
import { ParameterReader, QueryReader } from './query.ts';
import { changed, type RequestContext } from './responseWriter.ts';
import { methodNotAllowed, notFound, preflight, wantsPage } from './unrouted.ts';

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
      const unmet = unmetExpectation(context.exchange);
      const input = unmet ?? this.#refusal(context) ?? this.#input(req);
      const close = unmet !== null;
      if (input instanceof Failure) this.#http.responses.failure(context, input, { close });
      else if (method === 'POST') this.#receive(context, input);
      else this.#begin(context, input);
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
    this.#http.responses.wait(context);
    this.#form
      .read(exchange.contentType, bytes)
      .then((form) => {
        if (form instanceof Failure) this.#http.responses.failure(context, form);
        else if (exchange.alive) this.#begin(context, { ...input, ...form });
      })
      .catch((error) => this.#http.responses.fault(context, error));
  }

  /**
   * An exclusive request starts in the next turn: by then a pipelined request has been read. A GET
   * has no effect, so it starts at once.
   */
  #begin(context: RequestContext, request: RouteRequest): void {
    const cost = this.#route.cost?.(request) ?? 1;
    if (cost > 1) context.allowance = context.allowance.charge(cost - 1);
    context.cost = cost;
    const { exclusive, method } = this.#route;
    if (exclusive !== true || method === 'GET') {
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
    const { stream, etag, method } = this.#route;
    const { ifMatch } = context.exchange;
    if (ifMatch !== '' && ifMatch.trim() !== '*' && !(etag && method === 'GET')) {
      this.#http.responses.failure(context, changed());
      return;
    }
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
      responses.wait(context);
      answer
        .then((settled) => this.#finish(context, settled, positionLines, csv))
        .catch((error) => responses.fault(context, error));
    } catch (error) {
      responses.fault(context, error);
    }
  }

  #handle(context: RequestContext, request: RouteRequest) {
    const { caller, exchange } = context;
    const { idempotencyKey } = exchange;
    if (idempotencyKey !== null && this.#route.idempotency !== undefined) {
      return this.#http.idempotentAnswers.answer(idempotencyKey, caller, this.#route, request);
    }
    const { needsKey, tellsLimits, callsRoutes } = this.#route;
    if (callsRoutes === true) {
      const call: RouteRequest['call'] = (route, inner) =>
        innerCall(this.#http, context, route, inner);
      return this.#route.handle({ ...request, call });
    }
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

function notReady(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}

/** `missing`: what a browser gets for a path that no route takes. */
export function mount(
  server: Server,
  routes: readonly Route[],
  http: HttpDeps,
  missing: Route | null,
): void {
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
    server.handle('options', path, preflight(http, `\r\nAllow: ${allow}`));
    server.handle('any', path, methodNotAllowed(http, allow));
  }
  server.handle('options', '/*', preflight(http, ''));
  const refuse = notFound(http);
  const page = missing === null ? null : new RouteServer(missing, http);
  server.handle('any', '/*', (res, req) => {
    if (page === null || !wantsPage(req)) refuse(res, req);
    else page.serve(res, req, req.getCaseSensitiveMethod() === 'HEAD');
  });
}
