/**
 * The wrapper around every route, in the order in which a request can fail: ambiguous headers,
 * limits, input, readiness, the position asked for, the handler. A handler that throws or rejects
 * is answered with 500; nothing that happens here may reach uWebSockets.js as an exception, which
 * would end the process.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { parsePosition } from '../../engine/runtime/position.ts';
import type { Callers } from '../gateway/address.ts';
import { type Arrivals, reached } from '../gateway/arrivals.ts';
import type { Answer, RateClass, Route, RouteRequest, Vantage } from '../gateway/port.ts';
import type { HttpRequest, HttpResponse } from '../gateway/server.ts';
import type { Answers, Visit } from './answers.ts';
import {
  type Acceptance,
  acceptJson,
  BodyReader,
  collect,
  type Intake,
  refusedType,
  refusedUnread,
} from './body.ts';
import { Exchange } from './exchange.ts';
import { FORM_TYPE, FormReader } from './form.ts';
import type { Limits } from './limits.ts';
import type { OwnHost } from './ownHost.ts';
import type { PositionLines } from './position.ts';
import { ParameterReader, QueryReader } from './query.ts';

/** What all routes share. */
export interface Http {
  readonly vantage: Vantage;
  readonly clock: Clock;
  readonly answers: Answers;
  readonly arrivals: Arrivals;
  readonly callers: Callers;
  readonly limits: Limits;
  readonly positions: PositionLines;
  readonly intake: Intake;
  readonly ownHost: OwnHost;
}

export class RouteServer {
  readonly #route: Route;
  readonly #http: Http;
  readonly #query: QueryReader;
  readonly #parameters: ParameterReader;
  readonly #body: BodyReader;
  readonly #form: FormReader | null;
  readonly #accepted: Acceptance;

  constructor(route: Route, http: Http) {
    this.#route = route;
    this.#http = http;
    this.#query = new QueryReader(route.query);
    this.#parameters = new ParameterReader(route.path, route.params);
    const { form } = route;
    const { maxBodyBytes } = http.intake;
    this.#body = new BodyReader(route.body);
    this.#form = form === undefined ? null : new FormReader(form, maxBodyBytes);
    this.#accepted =
      form === undefined
        ? acceptJson(maxBodyBytes)
        : { maxBytes: form.maxBodyBytes, type: FORM_TYPE, typeName: 'multipart/form-data' };
  }

  serve(res: HttpResponse, req: HttpRequest, isHead: boolean): void {
    const { operationId, rate, method } = this.#route;
    const visit = enter(this.#http, res, req, { operationId, rate, isHead });
    if (visit === null) return;
    try {
      const input = this.#refusal(visit) ?? this.#input(req);
      if (input instanceof Failure) this.#http.answers.failure(visit, input);
      else if (method === 'POST') this.#receive(visit, input);
      else this.#proceed(visit, input);
    } catch (error) {
      this.#http.answers.fault(visit, error);
    }
    visit.exchange.corked = false;
  }

  #refusal({ exchange }: Visit): Failure | null {
    if (this.#route.ownHostOnly !== true) return null;
    return this.#http.ownHost.refusal(exchange.host, exchange.origin);
  }

  #input(req: HttpRequest): RouteRequest | Failure {
    const query = this.#query.read(req.getQuery() ?? '');
    if (query instanceof Failure) return query;
    const params = this.#parameters.read((index) => req.getParameter(index) ?? '');
    if (params instanceof Failure) return params;
    return { query: query.value, params: params.value, body: undefined };
  }

  #receive(visit: Visit, input: RouteRequest): void {
    const { answers } = this.#http;
    const refused = refusedUnread(visit.exchange, this.#accepted);
    if (refused !== null) {
      answers.failure(visit, refused);
      return;
    }
    answers.defer(visit);
    collect(visit.exchange, this.#accepted.maxBytes, this.#http, (bytes) => {
      try {
        if (bytes instanceof Failure) answers.failure(visit, bytes, { close: true });
        else this.#read(visit, input, bytes);
      } catch (error) {
        answers.fault(visit, error);
      }
    });
  }

  #read(visit: Visit, input: RouteRequest, bytes: Buffer): void {
    const { exchange } = visit;
    const refused = bytes.length > 0 ? refusedType(exchange, this.#accepted) : null;
    if (refused !== null || this.#form === null) {
      const body = refused ?? this.#body.read(bytes);
      if (body instanceof Failure) this.#http.answers.failure(visit, body);
      else this.#begin(visit, { ...input, body: body.value });
      return;
    }
    this.#form
      .read(exchange.contentType, bytes)
      .then((form) => {
        if (form instanceof Failure) this.#http.answers.failure(visit, form);
        else if (exchange.alive) this.#begin(visit, { ...input, ...form });
      })
      .catch((error) => this.#http.answers.fault(visit, error));
  }

  /** An exclusive request starts in the next turn: by then a request behind it has shown itself. */
  #begin(visit: Visit, request: RouteRequest): void {
    if (this.#route.exclusive !== true) {
      this.#proceed(visit, request);
      return;
    }
    this.#http.clock.soon(() => {
      if (!visit.exchange.alive) return;
      visit.exchange.pause();
      this.#proceed(visit, request);
    });
  }

  /** Readiness and the position asked for, then the handler. */
  #proceed(visit: Visit, request: RouteRequest): void {
    const { vantage, answers, arrivals } = this.#http;
    const { minPosition } = visit.exchange;
    if (this.#route.positioned && minPosition !== '') {
      const asked = parsePosition(minPosition);
      if (asked === null) {
        answers.failure(visit, invalid('headers.x-min-position', 'must be <epoch>:<seq>'));
        return;
      }
      if (!reached(vantage.applied(), asked)) {
        if (!visit.exchange.deferred) answers.defer(visit);
        arrivals.wait(visit.exchange, asked, (arrived) => {
          if (!visit.exchange.alive) return;
          if (arrived) this.#run(visit, request);
          else answers.failure(visit, notReady('this node has not reached X-Min-Position yet'));
        });
        return;
      }
    }
    this.#run(visit, request);
  }

  #run(visit: Visit, request: RouteRequest): void {
    const { vantage, answers, positions } = this.#http;
    if (this.#route.needsSync && !vantage.synced()) {
      answers.failure(visit, notReady('this node is still syncing'));
      return;
    }
    try {
      const positionLines = this.#route.positioned ? positions.now() : '';
      const answer = this.#route.handle(request);
      if (!(answer instanceof Promise)) {
        this.#finish(visit, answer, positionLines);
        return;
      }
      if (!visit.exchange.deferred) answers.defer(visit);
      answer
        .then((settled) => this.#finish(visit, settled, positionLines))
        .catch((error) => answers.fault(visit, error));
    } catch (error) {
      answers.fault(visit, error);
    }
  }

  #finish(visit: Visit, answer: Answer | Failure, positionLines: string): void {
    if (answer instanceof Failure) this.#http.answers.failure(visit, answer);
    else this.#http.answers.answer(visit, this.#route, answer, positionLines);
  }
}

/** Reads the head of a request and draws its token; null when that has been answered already. */
export function enter(
  http: Http,
  res: HttpResponse,
  req: HttpRequest,
  kind: { operationId: string; rate: RateClass; isHead: boolean },
): Visit | null {
  const exchange = new Exchange(res, req, kind.isHead);
  const caller = http.callers.of(res, exchange.forwardedFor);
  const allowance = http.limits.take(kind.rate, caller);
  const startedMs = http.clock.monotonicMs();
  const visit = { exchange, operationId: kind.operationId, startedMs, allowance };
  if (exchange.ambiguous) {
    const message =
      'send one Host, at most one Content-Length (a number), and no Transfer-Encoding but chunked';
    http.answers.failure(visit, invalid('headers', message), { close: true });
    return null;
  }
  if (allowance.granted) return visit;
  const { retryAfterSeconds } = allowance;
  const message = `too many requests: try again in ${retryAfterSeconds} s`;
  http.answers.failure(visit, new Failure('RATE_LIMITED', message, { retryAfterSeconds }));
  return null;
}

function notReady(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}
