/**
 * The steps of every request to a route, whether it came over HTTP or from a route that calls
 * others (`/mcp`): the same checks, the same cost and the same handler.
 */
import { assert } from '../../engine/runtime/assert.ts';
import { Failure, notReady } from '../../engine/runtime/errors.ts';
import { Slices, type Step } from '../../engine/runtime/slices.ts';
import type { Caller } from '../gateway/address.ts';
import { keyRequired } from '../gateway/apiKeys.ts';
import { bodyLimitsOf } from '../gateway/bodyLimits.ts';
import {
  type Answer,
  type InnerRequest,
  type Route,
  type RouteRequest,
  SlicedAnswer,
} from '../gateway/port.ts';
import {
  type AcceptedBody,
  acceptedJson,
  BodyParser,
  FORM_TYPE,
  FormParser,
  tooLarge,
} from './body.ts';
import type { HttpDeps } from './enter.ts';
import { ParameterParser, QueryParser } from './query.ts';
import { rateLimited } from './rateLimits.ts';
import type { RequestContext } from './responseWriter.ts';

/** Where an answer goes. */
interface Recipient {
  /** The answer comes in a later turn, whole or in slices. */
  later(kind: 'whole' | 'sliced'): void;
  done(answer: Answer | Failure, positionLines: string): void;
  failed(error: unknown): void;
}

export class RouteCalls {
  readonly route: Route;
  readonly accepted: AcceptedBody;
  readonly #http: HttpDeps;
  /** The calls of all routes, for routes that call others. */
  readonly #all: ReadonlyMap<Route, RouteCalls>;
  readonly #query: QueryParser;
  readonly #parameters: ParameterParser;
  readonly #body: BodyParser;
  readonly #form: FormParser | null;

  constructor(route: Route, http: HttpDeps, all: ReadonlyMap<Route, RouteCalls>) {
    this.route = route;
    this.#http = http;
    this.#all = all;
    this.#query = new QueryParser(route.query);
    this.#parameters = new ParameterParser(route.path, route.params);
    const { form } = route;
    const limits = bodyLimitsOf(form?.fields ?? route.body, route, http.maxBodyBytes);
    this.#body = new BodyParser(route.body, limits);
    this.#form = form === undefined ? null : new FormParser(form, limits);
    this.accepted =
      form === undefined
        ? acceptedJson(limits.bytes)
        : { maxBytes: form.maxBodyBytes, type: FORM_TYPE, typeName: 'multipart/form-data' };
  }

  /** `segment` gives the raw text of a path parameter by its index. */
  input(
    caller: Caller,
    search: string,
    segment: (index: number) => string,
  ): RouteRequest | Failure {
    if (this.route.needsKey === true && caller.apiKey === null) return keyRequired();
    const query = this.#query.parse(search);
    if (query instanceof Failure) return query;
    const params = this.#parameters.parse(segment);
    if (params instanceof Failure) return params;
    return { query: query.value, params: params.value, body: undefined };
  }

  /** The input with its body; only a form takes time. */
  withBody(
    input: RouteRequest,
    type: string,
    bytes: Buffer,
  ): RouteRequest | Failure | Promise<RouteRequest | Failure> {
    if (this.#form !== null) {
      const read = this.#form.parse(type, bytes);
      return read.then((form) => (form instanceof Failure ? form : { ...input, ...form }));
    }
    const body = this.#body.parse(bytes);
    return body instanceof Failure ? body : { ...input, body: body.value };
  }

  /** Charges the tokens of the request beyond the first, which `enter` took. */
  charge(context: RequestContext, request: RouteRequest): void {
    const cost = this.route.cost?.(request) ?? 1;
    if (cost > 1) context.allowance = context.allowance.charge(cost - 1);
    context.cost = cost;
  }

  run(context: RequestContext, request: RouteRequest, to: Recipient): void {
    const { needsSync, positioned } = this.route;
    const { nodeView, positions } = this.#http;
    if (needsSync && !nodeView.synced()) {
      to.done(syncing(), '');
      return;
    }
    try {
      const positionLines = positioned ? positions.now() : '';
      const answer = this.#handle(context, request);
      if (answer instanceof SlicedAnswer) this.#runInSlices(context, answer, to);
      else if (answer instanceof Promise) {
        to.later('whole');
        answer.then((settled) => to.done(settled, positionLines)).catch(to.failed);
      } else to.done(answer, positionLines);
    } catch (error) {
      to.failed(error);
    }
  }

  /**
   * Runs the route for the caller of another route. The outer request has paid the first token of a
   * read; a build and a launch take their tokens here.
   */
  async call(context: RequestContext, { target, body }: InnerRequest): Promise<Answer | Failure> {
    const { path: pattern, method, rate } = this.route;
    const { caller } = context;
    const [path = '', search = ''] = target.split('?');
    const segments = path.split('/');
    const given = pattern.split('/').flatMap((part, at) => {
      return part.startsWith(':') ? [segments[at] ?? ''] : [];
    });
    const input = this.input(caller, search, (index) => given[index] ?? '');
    if (input instanceof Failure) return input;
    const bytes = Buffer.from(body?.bytes ?? []);
    if (bytes.length > this.accepted.maxBytes) return tooLarge(this.accepted.maxBytes);
    const isPost = method === 'POST';
    const request = isPost ? await this.withBody(input, body?.type ?? '', bytes) : input;
    if (request instanceof Failure) return request;
    const isPaid = rate === 'read' || rate === 'free';
    const allowance = isPaid ? context.allowance : this.#http.limits.takeToken(rate, caller);
    if (!allowance.granted) return rateLimited(allowance);
    const paying = isPaid ? context : { ...context, allowance };
    this.charge(paying, request);
    const answer = await new Promise<Answer | Failure>((done) => {
      const { responses } = this.#http;
      const failed = (error: unknown) => {
        done(responses.failureOf(this.route.operationId, error));
      };
      this.run(context, request, { later: () => {}, done, failed });
    });
    const isGood = !(answer instanceof Failure) && (answer.status ?? 200) === 200;
    if (!isGood) paying.allowance.refund?.();
    return answer;
  }

  #handle(context: RequestContext, request: RouteRequest) {
    const { caller, exchange, operationId } = context;
    const { idempotencyKey } = exchange;
    const { idempotency, needsKey, tellsLimits, callsRoutes } = this.route;
    // The header belongs to the outer request; inner requests have no headers.
    const isCarried = operationId !== this.route.operationId;
    if (idempotencyKey !== null && idempotency !== undefined && !isCarried) {
      return this.#http.idempotentAnswers.answer(idempotencyKey, caller, this.route, request);
    }
    if (callsRoutes === true) {
      const call: RouteRequest['call'] = (route, inner) => {
        const calls = this.#all.get(route);
        assert(calls !== undefined, 'a route calls others of its server');
        return calls.call(context, inner);
      };
      return this.route.handle({ ...request, call });
    }
    if (needsKey === true && caller.apiKey !== null) {
      return this.route.handle({ ...request, apiKey: caller.apiKey.name });
    }
    if (tellsLimits !== true) return this.route.handle(request);
    return this.route.handle({ ...request, limits: this.#http.limitsOf(caller) });
  }

  #runInSlices(context: RequestContext, answer: SlicedAnswer, to: Recipient): void {
    const { clock, positions, nodeView } = this.#http;
    const { exchange, caller } = context;
    const slices = Slices.of(clock);
    let lines: string | null = null;
    const end = (failure: Failure) => {
      answer.held?.release();
      to.done(failure, '');
      return true;
    };
    const step: Step = (isOver) => {
      if (!exchange.alive) return end(new Failure('SERVER_ERROR', 'the client is gone'));
      if (this.route.needsSync && !nodeView.synced()) return end(syncing());
      if (answer.held?.isHeld() !== true || lines === null) {
        lines = this.route.positioned ? positions.now() : '';
      }
      const made = answer.step(isOver);
      if (made !== null) to.done(made, lines);
      return made !== null;
    };
    const isOver = slices.atOnce(caller.key);
    if (isOver !== null && step(isOver)) return;
    to.later('sliced');
    slices.add(caller.key, step, to.failed);
  }
}

function syncing(): Failure {
  return notReady('this node is still syncing');
}
