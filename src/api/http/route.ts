/**
 * Registers routes on the server and runs the checks around each handler, in this order: ambiguous
 * headers, rate limits, input, the requested position, readiness. Each GET also answers HEAD; other
 * methods get 405. A handler that throws or rejects is answered with 500: an exception that reaches
 * uWebSockets.js would end the process.
 */
import { Failure, invalidField, notReady } from '../../engine/runtime/errors.ts';
import { hasReached, parsePosition } from '../../engine/runtime/position.ts';
import type { Answer, Route, RouteRequest } from '../gateway/port.ts';
import type { HttpRequest, HttpResponse, Server } from '../gateway/server.ts';
import { readBody, refuseByHeaders, refuseByType } from './body.ts';
import { CsvWriter, wantsCsv } from './csv.ts';
import { enter, type HttpDeps, unmetExpectation } from './enter.ts';
import { changed, type RequestContext } from './responseWriter.ts';
import { RouteCalls } from './routeCalls.ts';
import { methodNotAllowed, notFound, preflight, wantsPage } from './unrouted.ts';

class RouteServer {
  readonly #calls: RouteCalls;
  readonly #http: HttpDeps;
  readonly #csv: CsvWriter | null;

  constructor(calls: RouteCalls, http: HttpDeps) {
    this.#calls = calls;
    this.#http = http;
    const { csv } = calls.route;
    this.#csv = csv === undefined ? null : new CsvWriter(csv);
  }

  serve(res: HttpResponse, req: HttpRequest, isHead: boolean): void {
    const { operationId, rate, method, stream } = this.#calls.route;
    const isStream = stream !== undefined && !isHead;
    const context = enter(this.#http, res, req, { operationId, rate, isHead, isStream });
    if (context === null) return;
    try {
      const unmet = unmetExpectation(context.exchange);
      const input = unmet ?? this.#refusal(context) ?? this.#input(context, req);
      const close = unmet !== null;
      if (input instanceof Failure) this.#http.responses.failure(context, input, { close });
      else if (method === 'POST') this.#receive(context, input);
      else this.#begin(context, input);
    } catch (error) {
      this.#http.responses.fault(context, error);
    }
    context.exchange.corked = false;
  }

  #refusal({ exchange }: RequestContext): Failure | null {
    if (this.#calls.route.localOnly !== true) return null;
    return this.#http.localHostGuard.refusal(exchange.host, exchange.origin);
  }

  #input({ caller }: RequestContext, req: HttpRequest): RouteRequest | Failure {
    const search = req.getQuery() ?? '';
    return this.#calls.input(caller, search, (index) => req.getParameter(index) ?? '');
  }

  #receive(context: RequestContext, input: RouteRequest): void {
    const { responses } = this.#http;
    const refused = refuseByHeaders(context.exchange, this.#calls.accepted);
    if (refused !== null) {
      responses.failure(context, refused);
      return;
    }
    responses.defer(context);
    readBody(context, this.#calls.accepted.maxBytes, this.#http, (bytes) => {
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
    const { responses } = this.#http;
    const refused = bytes.length > 0 ? refuseByType(exchange, this.#calls.accepted) : null;
    const read = refused ?? this.#calls.withBody(input, exchange.contentType, bytes);
    const take = (request: RouteRequest | Failure) => {
      if (request instanceof Failure) responses.failure(context, request);
      else if (exchange.alive) this.#begin(context, request);
    };
    if (!(read instanceof Promise)) {
      take(read);
      return;
    }
    responses.wait(context);
    read.then(take).catch((error) => responses.fault(context, error));
  }

  /**
   * An exclusive request starts in the next turn: by then a pipelined request has been read. A GET
   * has no effect, so it starts at once.
   */
  #begin(context: RequestContext, request: RouteRequest): void {
    this.#calls.charge(context, request);
    const { exclusive, method } = this.#calls.route;
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
    if (this.#calls.route.positioned && minPosition !== '') {
      const asked = parsePosition(minPosition);
      if (asked === null) {
        responses.failure(context, invalidField('headers.x-min-position', 'must be <epoch>:<seq>'));
        return;
      }
      if (!hasReached(nodeView.applied(), asked)) {
        if (!context.exchange.deferred) responses.defer(context);
        const owner = { of: context.exchange, caller: context.caller };
        positionWaiters.wait(owner, asked, (outcome) => {
          if (!context.exchange.alive) return;
          // A position of an epoch that is gone will never come: the answer's own position says
          // where it is. One beyond the end of this epoch may come yet.
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
    const { stream, etag, method } = this.#calls.route;
    const { responses, eventStreams } = this.#http;
    const { exchange } = context;
    const { ifMatch } = exchange;
    if (ifMatch !== '' && ifMatch.trim() !== '*' && !(etag && method === 'GET')) {
      responses.failure(context, changed());
      return;
    }
    if (stream !== undefined) {
      const items = stream.subscriptions(request);
      if (items instanceof Failure) responses.failure(context, items);
      else eventStreams.open(context, items, stream.place);
      return;
    }
    const csv = wantsCsv(exchange.accept, request.query) ? this.#csv : null;
    this.#calls.run(context, request, {
      later(kind) {
        if (kind === 'whole') responses.wait(context);
        else if (!exchange.deferred) responses.defer(context);
      },
      done: (answer, lines) => this.#finish(context, answer, lines, csv),
      failed: (error) => responses.fault(context, error),
    });
  }

  #finish(
    context: RequestContext,
    answer: Answer | Failure,
    positionLines: string,
    csv: CsvWriter | null,
  ): void {
    const { responses } = this.#http;
    if (!context.exchange.alive) return;
    if (answer instanceof Failure) responses.failure(context, answer);
    else {
      const { route } = this.#calls;
      responses.answer(context, route, csv?.answer(answer) ?? answer, positionLines);
    }
  }
}

/** `missing`: the page that a browser gets for an unknown path. */
export function mount(
  server: Server,
  routes: readonly Route[],
  http: HttpDeps,
  missing: Route | null,
): void {
  const all = new Map<Route, RouteCalls>();
  const methodsOf = new Map<string, Set<string>>();
  for (const route of routes) {
    const calls = new RouteCalls(route, http, all);
    all.set(route, calls);
    const wrapper = new RouteServer(calls, http);
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
  const page = missing === null ? null : new RouteServer(new RouteCalls(missing, http, all), http);
  server.handle('any', '/*', (res, req) => {
    if (page === null || !wantsPage(req)) refuse(res, req);
    else page.serve(res, req, req.getCaseSensitiveMethod() === 'HEAD');
  });
}
