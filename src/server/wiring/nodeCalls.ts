/**
 * Calls from a reader to other nodes: whole routes, by operation id.
 *
 * Both sides have the routes with their schemas. The reader's gateway checks the request, draws
 * from the client's rate limit and handles HTTP; the other node runs the handler. The checked
 * request and the answer travel as JSON. Calls below routes (build, submit, look up) would need a
 * second description of each service and several calls for one request, at one position of both
 * nodes.
 */
import type { Answer, FormFile, Idempotency, Route, RouteRequest } from '../../api/gateway/port.ts';
import { inOneTurn } from '../../api/gateway/route.ts';
import { CallClient } from '../../cluster/nats/callClient.ts';
import { CallServer } from '../../cluster/nats/callServer.ts';
import { callSubjects } from '../../cluster/nats/callWire.ts';
import {
  type CallingNode,
  callHandler,
  type NodeCall,
  NodeCaller,
} from '../../cluster/nodeCalls.ts';
import type { Node } from '../../engine/node/node.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { AppDeps } from './appDeps.ts';
import type { Cluster } from './cluster.ts';

type CallPolicy = Pick<NodeCall, 'mayRepeat' | 'whenBehind'>;

const BUILDS: CallPolicy = { mayRepeat: true, whenBehind: 'answer' };
/** Submitting a transaction again gives the same answer. */
const SUBMITS: CallPolicy = { mayRepeat: true, whenBehind: 'retry' };
/** Not repeatable: a second call would act a second time. */
const ONCE: CallPolicy = { mayRepeat: false, whenBehind: 'answer' };

/** By operation id. A forwarded route without an entry is refused when the reader starts. */
const CALL_POLICIES: ReadonlyMap<string, CallPolicy> = new Map([
  ['quote', BUILDS],
  ['quotes', BUILDS],
  ['launch', BUILDS],
  ['order', BUILDS],
  ['cancel', BUILDS],
  ['transfer', BUILDS],
  ['createLock', BUILDS],
  ['withdraw', BUILDS],
  ['parameters', BUILDS],
  ['protocolConfig', BUILDS],
  ['getUtxos', BUILDS],
  ['sign', BUILDS],
  ['submit', SUBMITS],
  ['signAndSubmit', SUBMITS],
  ['faucet', ONCE],
  ['fork', ONCE],
  ['mine', ONCE],
]);

function policyOf(operationId: string): CallPolicy {
  const policy = CALL_POLICIES.get(operationId);
  assert(policy !== undefined, `${operationId} has no entry in CALL_POLICIES`);
  return policy;
}

/** A checked request and an answer as JSON. */
interface WireRequest extends Pick<RouteRequest, 'query' | 'params' | 'body'> {
  readonly files?: readonly (Omit<FormFile, 'bytes'> & { readonly base64: string })[];
}

interface WireAnswer extends Omit<Answer, 'body'> {
  readonly text?: string;
  readonly base64?: string;
}

/** The same routes, with handlers that call other nodes. */
export function forwardRoutes(
  cluster: Cluster,
  node: Node,
  { clock }: AppDeps,
): (route: Route) => Route {
  const { link, market } = cluster;
  const client = new CallClient({ link, subjects: callSubjects(market), clock });
  const calls = new NodeCaller(
    callingNode(node, clock),
    (bytes, mayRepeat) => {
      return client.call(bytes, mayRepeat);
    },
    link.messages,
  );
  return (route) => {
    const name = route.operationId;
    const policy = policyOf(name);
    return {
      ...route,
      ...(route.idempotency === undefined
        ? {}
        : { idempotency: { ...route.idempotency, isCurrent: askIsCurrent(route, calls) } }),
      async handle(request) {
        const output = await calls.ask({ name, input: requestToWire(request), ...policy });
        // trust: written by `answerCalls` in a node of this market
        return output instanceof Failure ? output : answerFromWire(output as WireAnswer);
      },
    };
  };
}

/** Outputs are looked up in a node with a chain. */
function askIsCurrent({ operationId }: Route, calls: NodeCaller): Idempotency['isCurrent'] {
  return async (answer) => {
    const call = { name: isCurrentCall(operationId), input: answerToWire(answer), ...BUILDS };
    const output = await calls.ask(call);
    return output instanceof Failure ? output : output === true;
  };
}

function isCurrentCall(operationId: string): string {
  return `${operationId} is current`;
}

/** Answers readers' calls to `routes` while this node `isAble`. */
export function answerCalls(
  routes: readonly Route[],
  { link, market }: Pick<Cluster, 'link' | 'market'>,
  node: Node,
  { clock, rng }: AppDeps,
  isAble: () => boolean,
  { handlerFailed }: Pick<Events, 'handlerFailed'>,
): Service {
  const works = new Map(
    routes.flatMap(({ operationId, handle, idempotency }) => {
      const work = async (input: unknown) => {
        // trust: written by `forwardRoutes`, after the reader's gateway had checked the request
        const answer = await inOneTurn(handle(requestFromWire(input as WireRequest)));
        return answer instanceof Failure ? answer : answerToWire(answer);
      };
      const isCurrent = async (input: unknown) => {
        // trust: written by `askIsCurrent`
        return (await idempotency?.isCurrent(answerFromWire(input as WireAnswer))) ?? false;
      };
      const all: [string, (input: unknown) => Promise<unknown>][] = [[operationId, work]];
      if (idempotency !== undefined) all.push([isCurrentCall(operationId), isCurrent]);
      return all;
    }),
  );
  return new CallServer({
    link,
    subjects: callSubjects(market),
    address: rng.token(12),
    clock,
    handle: callHandler(works, callingNode(node, clock), handlerFailed, link.messages),
    isAble,
    failed: (error) => handlerFailed('calls of other nodes', error),
  });
}

function callingNode(node: Node, clock: Clock): CallingNode {
  return {
    applied: () => node.applied(),
    reached: ({ epoch, seq }, givenUp) => node.reached(seq, givenUp, epoch),
    clock,
  };
}

function requestToWire({ query, params, body, files }: RouteRequest): WireRequest {
  if (files === undefined) return { query, params, body };
  const carried = files.map(({ bytes, ...named }) => ({ ...named, base64: toBase64(bytes) }));
  return { query, params, body, files: carried };
}

function requestFromWire({ query, params, body, files }: WireRequest): RouteRequest {
  if (files === undefined) return { query, params, body };
  const carried = files.map(({ base64, ...named }) => ({ ...named, bytes: fromBase64(base64) }));
  return { query, params, body, files: carried };
}

function answerToWire({ body, ...more }: Answer): WireAnswer {
  return typeof body === 'string' ? { ...more, text: body } : { ...more, base64: toBase64(body) };
}

function answerFromWire({ text, base64, ...more }: WireAnswer): Answer {
  return { ...more, body: base64 === undefined ? (text ?? '') : fromBase64(base64) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
