/**
 * Upgrades an HTTP request to a WebSocket. A refused socket is opened all the same and closed with
 * a code that says why, because a browser hides a refused upgrade from its page. For the same
 * reason a client that offered only unknown subprotocols is answered with the first of them.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Caller, type Callers, withApiKey } from '../gateway/address.ts';
import { type ApiKeys, presentedKey } from '../gateway/apiKeys.ts';
import type { Encoding } from '../gateway/frame.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { HttpRequest, HttpResponse, UpgradeContext } from '../gateway/server.ts';
import { CORS_LINES } from '../http/cors.ts';
import { errorBody } from '../http/errorBody.ts';
import { Exchange, statusLine } from '../http/exchange.ts';
import type { Origin } from './connection.ts';
import { mayOpen, type SocketCounts, tooManyOf } from './socketCounts.ts';

export interface UpgradeDeps {
  readonly clock: Clock;
  readonly callers: Callers;
  readonly apiKeys: ApiKeys;
  readonly options: GatewayOptions;
  readonly counts: SocketCounts;
  stopping(): boolean;
}

const VERSION = '13';
const UNKNOWN_KEY = { code: 4501, reason: 'no such API key' };

export function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: UpgradeContext,
  parts: UpgradeDeps,
): void {
  const exchange = new Exchange(res, req, false);
  if (req.getHeader('sec-websocket-version') !== VERSION || exchange.ambiguous) {
    const failure = new Failure('INVALID_PARAMS', 'send one Host and version 13');
    refuse(exchange, parts.clock, failure, `\r\nSec-WebSocket-Version: ${VERSION}`);
    return;
  }
  if (parts.stopping()) {
    const failure = new Failure('NOT_READY', 'this node is going away; connect again');
    refuse(exchange, parts.clock, failure, '\r\nRetry-After: 1');
    return;
  }
  const offered = req.getHeader('sec-websocket-protocol');
  const choice = choose(offered, req.getQuery('encoding'));
  const peer = parts.callers.of(res, exchange.forwardedFor);
  const secret = presentedKey(exchange.authorization);
  const apiKey = secret === null ? null : parts.apiKeys.find(secret);
  const caller = apiKey === null ? peer : withApiKey(peer, apiKey);
  const isUnknown = secret !== null && apiKey === null;
  const origin: Origin = {
    encoding: choice.encoding ?? 'json',
    caller,
    refusal: isUnknown ? UNKNOWN_KEY : refusalOf(choice.encoding, caller, parts),
    connection: null,
  };
  const key = req.getHeader('sec-websocket-key');
  parts.callers.closed();
  res.upgrade(origin, key, choice.echo, req.getHeader('sec-websocket-extensions'), context);
}

function refusalOf(
  encoding: Encoding | null,
  caller: Caller,
  { options, counts }: UpgradeDeps,
): Origin['refusal'] {
  if (encoding === null) {
    return { code: 4500, reason: 'offer the subprotocol json or msgpack' };
  }
  if (mayOpen(caller, counts, options)) return null;
  return { code: 4403, reason: tooManyOf(caller) };
}

/** The first known subprotocol offered, else `?encoding=`; JSON where nothing was said. */
function choose(
  offered: string,
  inQuery: string | undefined,
): { encoding: Encoding | null; echo: string } {
  const names = offered
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (name === 'json' || name === 'msgpack') return { encoding: name, echo: name };
  }
  if (names[0] !== undefined) return { encoding: null, echo: names[0] };
  if (inQuery === undefined || inQuery === '') return { encoding: 'json', echo: '' };
  const known = inQuery === 'json' || inQuery === 'msgpack';
  return { encoding: known ? inQuery : null, echo: '' };
}

/** In the next turn of the loop, as `Answers` ends connections and for the same reason. */
function refuse({ res, accept }: Exchange, clock: Clock, failure: Failure, more: string): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  const { type, body } = errorBody(failure, accept, null);
  const lines = `\r\nContent-Type: ${type}\r\nVary: Accept${more}`;
  clock.soon(() => {
    if (isGone) return;
    res.cork(() => {
      res.writeStatus(statusLine(failure.status));
      res.writeHeader('Access-Control-Allow-Origin', CORS_LINES + lines);
      res.end(body, true);
    });
  });
}
