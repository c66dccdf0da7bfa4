/**
 * What holds for every route, as Markdown: the description of the OpenAPI document and the first
 * part of the page. Source: api.md sections 0, 2 and 6.4; the causes come from the catalogue.
 */
import { CATALOGUE } from '../../runtime/errors.ts';
import { CLOSE_CODES } from './frames.ts';
import { ORDER_STATES } from './orderStates.ts';

const CONVENTIONS = `## Conventions

- An asset id is \`<56 hex policy>.<0 to 64 hex name>\`; the native coin is \`.\`. Input in any hex
  case, answers in lower case; the WebSocket also takes \`ADA\` and \`0x\` for the coin.
- Amounts that can pass 2^53 are strings of an integer. Prices, volumes and market caps of charts
  are decimal strings: exact, no exponent, no trailing zeros, at most 18 fractional digits.
- A price is quote per one base in display units: ADA has 6 decimals, launched tokens have none. A
  spot of 2.545182 lovelace per token is \`"0.000002545182"\`.
- Times are Unix seconds as integers, except where milliseconds are written.
- Market time is the time of the newest entry of the log. \`final\` and \`isRelevant\` of a bar follow
  from it, never from a wall clock.
- Bodies are JSON of at most 1 MiB, except the form of \`/launch\`. A body of another media type is
  415, malformed JSON is 400.
- Unknown parameters and fields are ignored; \`null\` or \`""\` in an optional one means that it is
  absent. Malformed input is 400 before anything is looked up.
- HEAD answers as GET without a body; 404 \`NOT_FOUND\` where there is no such route, 405
  \`METHOD_NOT_ALLOWED\` with \`Allow\` where it takes another method.
- \`ETag\` and \`If-None-Match\` (304) on lists, history and documents; gzip where a body is not live.
`;

const PAGING = `## Paging

\`offset\` (default 0) and \`limit\` stand in the query, also on POST. A limit outside 1 to its maximum,
a negative offset and a number that is no integer are 400, never clamped. A page is exact for its
\`X-Position\`; between two positions rows may repeat or be missed, so an exact walk uses the cursor of
its route: \`before\` (the last id that you have) or \`after\`.
`;

const POSITIONS = `## Positions: HTTP and WebSocket together

Answers that a stream can continue carry \`X-Position: <epoch>:<seq>\`: every part of the answer is
complete at least up to it (with a chain also \`X-Slot\` and \`X-Block-Hash\`). Load over HTTP, then
subscribe with \`since: {"epoch": …, "seq": …}\` of that header: you get exactly what changed after it,
never with a gap, and what comes twice is whole state and harmless. \`X-Min-Position\` in a request asks
for an answer at or after a position; a node that is not there waits up to 2 s, then answers 503
\`NOT_READY\` with \`Retry-After\`.

Client rule for frames: a snapshot (\`snapshot: true\`) replaces your state; a frame whose \`seq\` is not
above yours is ignored; a frame whose \`prev\` is above your \`seq\` reveals a loss: subscribe again with
\`since\`.
`;

const LIMITS = `## Rate limits and CORS

\`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\` stand on every answer but those of
health and metrics. Defaults per address (IPv6 by /64): 100 reads/s with bursts of 200, 10 builds/s,
30 launches a minute; a build counts as one only when it answers 200. Beyond that: 429 \`RATE_LIMITED\`
with \`Retry-After\`. Calls from the same machine are not counted unless it is set so.

Every origin may call, without credentials. Scripts may send \`Content-Type\` and \`If-None-Match\` and
read the position, slot, block, \`X-Next-To\`, \`ETag\`, \`Retry-After\` and rate limit headers.
`;

/** As a table, by code. */
export function causesTable(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([cause, { code, status, retry }]) =>
      `| ${code} | \`${cause}\` | ${status} | ${retry ? 'yes' : 'no'} |`,
  );
  return ['| code | cause | status | retry |', '|---|---|---|---|', ...rows].join('\n');
}

export function closeCodesTable(): string {
  const rows = CLOSE_CODES.map(
    ([code, meaning]) => `| ${code} | ${meaning} | ${code < 4500 ? 'yes' : 'no'} |`,
  );
  return ['| code | meaning | reconnect |', '|---|---|---|', ...rows].join('\n');
}

const ERRORS = `## Errors

\`{"cause": "MACHINE_CODE", "message": "what happened and what to do"}\`; on 400 also
\`details: [{path, message}]\`, and \`reason\` where a transaction was refused. The status below is the
usual one; where a route answers a cause with another status, its answers say so. Retry: the same
request may succeed later.

${causesTable()}
`;

export const GUIDE = [CONVENTIONS, PAGING, POSITIONS, LIMITS, ORDER_STATES, ERRORS].join('\n');

export const SOCKET_RULES = `One socket carries all topics, at \`/ws\`, \`/websocket/ws\` or
\`/v1/websocket/ws\`. Subprotocol \`json\` (default) or \`msgpack\` (or \`?encoding=msgpack\`): the same
envelopes; text frames from a client are always JSON, binary ones MessagePack.

- \`requestId\` names a subscription: \`unsubscribe\` repeats it, a new \`subscribe\` with it replaces it.
- A well-formed asset or pair that is not known yet is accepted: its snapshot is \`null\`, updates
  begin when it appears.
- The server sends \`Ping\` every 5 s; answer it with \`pong\`. A client that sends nothing for 30 s is
  closed with 4002. At most 50 frames a second, 64 KiB each, 500 subscriptions a socket.
- A snapshot (\`snapshot: true\`) replaces your state; a frame whose \`seq\` is not above yours is
  ignored; a frame whose \`prev\` is above your \`seq\` reveals a loss: subscribe again with \`since\`, on
  this node or any other.
- \`since\` resumes, \`snapshot: false\` asks for updates only, \`maxHz\` (rounded down to 1, 2, 5, 10 or
  20) for fewer of them, \`topics\` for several at once; each of them is answered by \`Subscribed\`.

Close codes: after 4000 to 4499 reconnect, after 4500 to 4999 do not.

${closeCodesTable()}
`;
