/**
 * The parts of a load: groups of sockets with their topics, and requests. A scenario file (YAML)
 * and the options of the command line both become a `Scenario`.
 *
 * `{hot}` and `{tail}` in a topic's data, a path or a body stand for a token: one with the most
 * volume in 24 hours, or one after these. Sockets and requests take them in turns.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse, YAMLError } from 'yaml';
import { checkOf } from '../../../api/gateway/input.ts';
import { Failure, messageOf } from '../../../engine/runtime/errors.ts';
import type { Json } from '../../../engine/runtime/json.ts';
import { TRANSPORTS } from '../commands/load.ts';

const METHODS = ['GET', 'POST'] as const;

const MAX_SOCKETS = 100_000;
const MAX_PER_SECOND = 1_000_000;
const MAX_SECONDS = 86_400;
/** As the server allows for a socket, and for a stream of events. */
const MAX_TOPICS = { socket: 500, sse: 20 };

const Name = Type.String({ minLength: 1, maxLength: 60 });
const Topic = Type.Object(
  { topic: Name, data: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  { additionalProperties: false },
);
const Sockets = Type.Object(
  {
    name: Name,
    count: Type.Integer({ minimum: 1, maximum: MAX_SOCKETS }),
    transport: Type.Union(
      TRANSPORTS.map((name) => Type.Literal(name)),
      { default: 'websocket' },
    ),
    topics: Type.Array(Topic, { minItems: 1, maxItems: MAX_TOPICS.socket }),
    /** Reading speed of each socket; absent: as fast as it can. */
    readKibPerSecond: Type.Optional(Type.Number({ minimum: 0.1, maximum: 1_000_000 })),
    /** All sockets of the group are cut at once, and connect again at once. */
    reconnectEverySeconds: Type.Optional(Type.Number({ minimum: 1, maximum: MAX_SECONDS })),
  },
  { additionalProperties: false },
);
const Requests = Type.Object(
  {
    name: Type.Optional(Name),
    method: Type.Union(
      METHODS.map((name) => Type.Literal(name)),
      { default: 'GET' },
    ),
    path: Type.String({ pattern: '^/[!-~]*$', maxLength: 4_000 }),
    /** Sent as JSON. */
    body: Type.Optional(Type.Unknown()),
    perSecond: Type.Integer({ minimum: 1, maximum: MAX_PER_SECOND }),
    connections: Type.Integer({ minimum: 1, maximum: 10_000, default: 10 }),
  },
  { additionalProperties: false },
);
const ScenarioFile = Type.Object(
  {
    name: Type.String({ maxLength: 200, default: 'load' }),
    durationSeconds: Type.Number({ minimum: 1, maximum: MAX_SECONDS, default: 30 }),
    /** Sockets open one after another over this time; requests begin behind it. */
    rampSeconds: Type.Number({ minimum: 0, maximum: MAX_SECONDS, default: 5 }),
    threads: Type.Integer({ minimum: 1, maximum: 64, default: 2 }),
    /** A frame that arrives so long after the server made it is stale. */
    staleMs: Type.Integer({ minimum: 1, maximum: 3_600_000, default: 2_000 }),
    hotTokens: Type.Integer({ minimum: 1, maximum: 500, default: 5 }),
    tailTokens: Type.Integer({ minimum: 0, maximum: 400, default: 100 }),
    sockets: Type.Array(Sockets, { maxItems: 100, default: [] }),
    requests: Type.Array(Requests, { maxItems: 100, default: [] }),
  },
  { additionalProperties: false },
);

export type Scenario = Static<typeof ScenarioFile>;
export type SocketGroup = Scenario['sockets'][number];

/** Sent to the threads. */
export interface Tokens {
  readonly hot: readonly string[];
  readonly tail: readonly string[];
}

const check = checkOf(ScenarioFile);

/** A string is an error message: the cause, the place, and the remedy. */
export function readScenario(text: string): Scenario | string {
  try {
    return scenarioOf(parse(text));
  } catch (error) {
    if (error instanceof YAMLError) return `no YAML: ${error.message.split('\n')[0]}`;
    return messageOf(error);
  }
}

/** The same for a value that is parsed already. */
export function scenarioOf(value: unknown): Scenario | string {
  const checked = check(Value.Default(ScenarioFile, value), 'scenario');
  if (checked instanceof Failure) {
    const all = checked.details?.map(({ path, message }) => `${path}: ${message}`);
    return all?.join('; ') ?? checked.message;
  }
  const scenario = checked.value;
  const { sockets, requests } = scenario;
  if (sockets.length + requests.length === 0) {
    return 'it names neither sockets nor requests: nothing would be measured';
  }
  if (sockets.reduce((sum, group) => sum + group.count, 0) > MAX_SOCKETS) {
    return `more than ${MAX_SOCKETS} sockets in all`;
  }
  return sockets.map(groupFault).find((fault) => fault !== null) ?? scenario;
}

function groupFault({ name, transport, topics, readKibPerSecond }: SocketGroup): string | null {
  if (transport !== 'sse') return null;
  if (readKibPerSecond !== undefined) {
    return `${name}: readKibPerSecond goes with websocket and msgpack`;
  }
  return topics.length > MAX_TOPICS.sse
    ? `${name}: at most ${MAX_TOPICS.sse} topics with sse`
    : null;
}

/** Whether the load has a place for a token. */
export function namesTokens(scenario: Scenario): boolean {
  return /\{(hot|tail)\}/.test(JSON.stringify(scenario));
}

/** `value` with its tokens, for the socket or request of this number. */
export function withTokens<T extends Json>(value: T, tokens: Tokens, number: number): T {
  const text = JSON.stringify(value).replaceAll(/\{(hot|tail)\}/g, (_, name: string) => {
    const list = name === 'tail' && tokens.tail.length > 0 ? tokens.tail : tokens.hot;
    return list[number % list.length] ?? '';
  });
  // trust: only texts inside it have changed, and an asset id needs no escape
  return JSON.parse(text) as T;
}

/** How many different requests a path or body makes. */
export function variantsOf(text: string, { hot, tail }: Tokens): number {
  const counts = [1];
  if (text.includes('{hot}')) counts.push(hot.length);
  if (text.includes('{tail}')) counts.push(tail.length === 0 ? hot.length : tail.length);
  return Math.max(...counts);
}
