/**
 * Runs a route for the caller of another one, such as `/mcp`: the same checks, costs and limits as
 * if the caller had asked for it. Its first read is paid by the request that carries it.
 */
import { Failure } from '../../engine/runtime/errors.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { keyRequired } from '../gateway/apiKeys.ts';
import { bodyLimitsOf } from '../gateway/bodyLimits.ts';
import {
  type Answer,
  type InnerRequest,
  type Route,
  type RouteRequest,
  SlicedAnswer,
} from '../gateway/port.ts';
import { BodyReader, FormReader } from './body.ts';
import type { HttpDeps } from './enter.ts';
import { ParameterReader, QueryReader } from './query.ts';
import type { RequestContext } from './responseWriter.ts';

type Deps = Pick<HttpDeps, 'limits' | 'clock' | 'nodeView' | 'limitsOf' | 'maxBodyBytes'>;

export async function innerCall(
  deps: Deps,
  context: RequestContext,
  route: Route,
  inner: InnerRequest,
): Promise<Answer | Failure> {
  const { caller } = context;
  if (route.needsKey === true && caller.apiKey === null) return keyRequired();
  const request = await checked(deps, route, inner);
  if (request instanceof Failure) return request;
  const refund = pay(deps, context, route, request);
  if (refund instanceof Failure) return refund;
  if (route.needsSync && !deps.nodeView.synced()) {
    refund?.();
    return new Failure('NOT_READY', 'this node is still syncing', { retryAfterSeconds: 1 });
  }
  const limits = route.tellsLimits === true ? { limits: deps.limitsOf(caller) } : {};
  const answer = await settled(deps, context, route.handle({ ...request, ...limits }));
  if (answer instanceof Failure || (answer.status ?? 200) !== 200) refund?.();
  return answer;
}

async function checked(
  { maxBodyBytes }: Deps,
  route: Route,
  { target, body }: InnerRequest,
): Promise<RouteRequest | Failure> {
  const [path = '', search = ''] = target.split('?');
  const segments = path.split('/');
  const places = route.path.split('/').flatMap((part, at) => (part.startsWith(':') ? [at] : []));
  const params = new ParameterReader(route.path, route.params).read(
    (index) => segments[places[index] ?? -1] ?? '',
  );
  if (params instanceof Failure) return params;
  const query = new QueryReader(route.query).read(search);
  if (query instanceof Failure) return query;
  const base = { query: query.value, params: params.value, body: undefined };
  if (route.method !== 'POST') return base;
  const { form } = route;
  const limits = bodyLimitsOf(form?.fields ?? route.body, route, maxBodyBytes);
  const bytes = Buffer.from(body?.bytes ?? []);
  const maxBytes = form?.maxBodyBytes ?? limits.bytes;
  if (bytes.length > maxBytes) {
    return new Failure('PAYLOAD_TOO_LARGE', `the body may have at most ${maxBytes} bytes`);
  }
  if (form !== undefined) {
    const parts = await new FormReader(form, limits).read(body?.type ?? '', bytes);
    return parts instanceof Failure ? parts : { ...base, ...parts };
  }
  const read = new BodyReader(route.body, limits).read(bytes);
  return read instanceof Failure ? read : { ...base, body: read.value };
}

/** Takes what the route costs; null: nothing is given back whatever the answer is. */
function pay(
  { limits }: Deps,
  context: RequestContext,
  route: Route,
  request: RouteRequest,
): (() => void) | null | Failure {
  const cost = route.cost?.(request) ?? 1;
  if (route.rate === 'read' || route.rate === 'free') {
    if (cost > 1) context.allowance = context.allowance.charge(cost - 1);
    context.cost = cost;
    return null;
  }
  const allowance = limits.takeToken(route.rate, context.caller);
  if (!allowance.granted) {
    const { retryAfterSeconds } = allowance;
    const message = `too many requests: try again in ${retryAfterSeconds} s`;
    return new Failure('RATE_LIMITED', message, { retryAfterSeconds });
  }
  return (cost > 1 ? allowance.charge(cost - 1) : allowance).refund;
}

async function settled(
  { clock }: Deps,
  { caller, exchange }: RequestContext,
  handled: ReturnType<Route['handle']>,
): Promise<Answer | Failure> {
  if (!(handled instanceof SlicedAnswer)) return handled;
  let made: Answer | Failure | null = null;
  const step = (isOver: () => boolean) => {
    made = handled.step(isOver);
    return made !== null;
  };
  await Slices.of(clock).run(caller.key, step, () => !exchange.alive);
  if (made === null) handled.held?.release();
  return made ?? new Failure('SERVER_ERROR', 'the client is gone');
}
