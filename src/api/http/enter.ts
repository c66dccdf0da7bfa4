/** From the headers of a request to its caller: requests that are refused before any route runs. */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { type Caller, type Callers, withApiKey } from '../gateway/address.ts';
import { type ApiKeys, presentedKey, unknownKey } from '../gateway/apiKeys.ts';
import type { CallerLimits, NodeView, RateClass } from '../gateway/port.ts';
import type { PositionWaiters } from '../gateway/positionWaiters.ts';
import type { HttpRequest, HttpResponse } from '../gateway/server.ts';
import type { BodyBudget } from './body.ts';
import { Exchange } from './exchange.ts';
import type { IdempotentAnswers } from './idempotency.ts';
import type { LocalHostGuard } from './localHostGuard.ts';
import type { PositionHeaders } from './positionHeaders.ts';
import { type RateLimits, rateLimited } from './rateLimits.ts';
import type { RequestContext, ResponseWriter } from './responseWriter.ts';

/** Answers with an event stream. */
interface StreamOpener {
  open(context: RequestContext, subscriptions: readonly unknown[], place: string): void;
  refuse(context: RequestContext, failure: Failure): void;
}

/** Dependencies that all routes share. */
export interface HttpDeps {
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

/**
 * Reads the headers, finds out who calls and takes a rate-limit token; null: refused, and answered.
 * A caller with an unknown key is counted by its address.
 */
export function enter(
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
  const context = {
    exchange,
    caller,
    operationId: kind.operationId,
    startedMs,
    allowance,
    cost: 1,
  };
  if (exchange.ambiguous) {
    const message =
      'send one Host (a name and a port), at most one Content-Length (a number), ' +
      'and no Transfer-Encoding but chunked';
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
  const refused = rateLimited(allowance);
  if (kind.isStream === true) http.eventStreams.refuse(context, refused);
  else http.responses.failure(context, refused);
  exchange.corked = false;
  return null;
}

/**
 * 417: what Expect asks for cannot be had. The library answers `100-continue` itself, in this
 * spelling only; a client that spells it in another way gets no 100, so it is answered at once.
 */
export function unmetExpectation({
  expect,
  contentLength,
  endsConnection,
}: Exchange): Failure | null {
  if (expect === '' || expect === '100-continue') return null;
  const isContinue = expect.toLowerCase() === '100-continue';
  if (isContinue && !endsConnection && !(Number(contentLength) > 0)) return null;
  const message = 'Expect may be 100-continue, in lower case; or send the request without it';
  const details = [{ path: 'headers.expect', message }];
  return new Failure('INVALID_PARAMS', message, { status: 417, details });
}
