/**
 * The clauses that another service can have too (order, resume, loss reported), against Centrifugo
 * and a server that sends each message to all its sockets with `ws`. Each message is a number.
 * upcurve is tried with the clauses of `conform` that are named beside them.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { systemRng } from '../../../../src/engine/runtime/rng.ts';
import { freePorts } from '../../../../src/server/cli/localServers.ts';
import { type Scope, temporaryDirectory } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';

interface Mark {
  readonly epoch: string;
  readonly offset: number;
}

interface Message {
  readonly number: number;
  /** null: the service has no positions. */
  readonly mark: Mark | null;
  /** Part of a whole state, rather than a change. */
  readonly isState: boolean;
}

interface Subscription {
  readonly messages: Message[];
  /** Whether the service reported the mark as recovered; null: nothing. */
  recovered: boolean | null;
  close(): void;
}

export interface Service {
  readonly name: string;
  publish(number: number): Promise<void>;
  subscribe(since: Mark | null): Promise<Subscription>;
}

interface ForeignClause {
  readonly promise: string;
  /** The clause of `conform` that says the same. */
  readonly own: string;
  check(service: Service, next: () => number): Promise<boolean>;
}

const COUNT = 10;
const LIMIT_MS = 5_000;
const SETTLE_MS = 300;

async function publish(service: Service, next: () => number, count = COUNT): Promise<number[]> {
  const numbers = Array.from({ length: count }, next);
  for (const number of numbers) await service.publish(number);
  return numbers;
}

const numbersOf = ({ messages }: Subscription) =>
  messages.filter(({ isState }) => !isState).map(({ number }) => number);

const rest = () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

/** False: they did not come, in this order, within the limit. */
async function comes(subscription: Subscription, numbers: readonly number[]): Promise<boolean> {
  const isThere = () => numbersOf(subscription).length >= numbers.length;
  await until('messages come', isThere, LIMIT_MS).catch(() => {});
  await rest();
  return JSON.stringify(numbersOf(subscription)) === JSON.stringify(numbers);
}

/** Returns a mark and the messages that were published after it while no socket was open. */
async function missed(service: Service, next: () => number) {
  const before = await service.subscribe(null);
  const numbers = await publish(service, next, 2);
  await comes(before, numbers);
  const mark = before.messages.at(-1)?.mark ?? null;
  before.close();
  return { mark, numbers: await publish(service, next) };
}

async function said(service: Service, next: () => number, change: (mark: Mark) => Mark) {
  const { mark } = await missed(service, next);
  if (mark === null) return null;
  const subscription = await service.subscribe(change(mark));
  await rest();
  const { recovered, messages } = subscription;
  subscription.close();
  return { recovered, hasState: messages.some(({ isState }) => isState) };
}

export const FOREIGN_CLAUSES: readonly ForeignClause[] = [
  {
    promise: 'order: each subscriber gets every message once, in the order of publication',
    own: 'order.ascending',
    async check(service, next) {
      const all = [await service.subscribe(null), await service.subscribe(null)];
      const numbers = await publish(service, next);
      const came = await Promise.all(all.map((each) => comes(each, numbers)));
      for (const each of all) each.close();
      return came.every((isOrdered) => isOrdered);
    },
  },
  {
    promise: 'order: each message has a position, which ascends',
    own: 'order.chain',
    async check(service, next) {
      const subscription = await service.subscribe(null);
      await comes(subscription, await publish(service, next));
      const offsets = subscription.messages.map(({ mark }) => mark?.offset ?? null);
      subscription.close();
      return (
        offsets.length === COUNT &&
        offsets.every((offset, at) => {
          return offset !== null && (at === 0 || offset >= (offsets[at - 1] ?? 0));
        })
      );
    },
  },
  {
    promise: 'resume: after a cut come exactly the messages that were missed',
    own: 'resume.changes',
    async check(service, next) {
      const { mark, numbers } = await missed(service, next);
      const again = await service.subscribe(mark);
      const isExact = await comes(again, numbers);
      again.close();
      return isExact;
    },
  },
  {
    promise: 'resume: the service says that nothing is missing',
    own: 'resume.exact',
    check: async (service, next) => (await said(service, next, (mark) => mark))?.recovered === true,
  },
  {
    promise: 'loss told: a position of another life of the log is reported as lost',
    own: 'loss.epoch',
    async check(service, next) {
      const epoch = ({ offset, epoch: own }: Mark) => ({ offset, epoch: `${own.slice(0, -1)}z` });
      return (await said(service, next, epoch))?.recovered === false;
    },
  },
  {
    promise: 'loss told: a position beyond the newest one is reported as lost',
    own: 'loss.beyond',
    async check(service, next) {
      const beyond = ({ epoch, offset }: Mark) => ({ epoch, offset: offset + 1_000_000 });
      return (await said(service, next, beyond))?.recovered === false;
    },
  },
  {
    promise: 'loss told: with the report comes the whole state',
    own: 'loss.epoch',
    async check(service, next) {
      const epoch = ({ offset, epoch: own }: Mark) => ({ offset, epoch: `${own.slice(0, -1)}z` });
      return (await said(service, next, epoch))?.hasState === true;
    },
  },
];

/** Rows of a Markdown table: clauses by services. */
export async function foreignTable(services: readonly Service[]): Promise<string> {
  let last = 0;
  const next = () => {
    last += 1;
    return last;
  };
  const rows = [];
  for (const { promise, own, check } of FOREIGN_CLAUSES) {
    const cells = [];
    for (const service of services) cells.push((await check(service, next)) ? 'kept' : 'no');
    rows.push(`| ${promise} | kept (${own}) | ${cells.join(' | ')} |`);
  }
  const heads = ['clause', 'upcurve', ...services.map(({ name }) => name)];
  return [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
}

/** Sends each message to all sockets, as the examples of `ws` do. */
export async function plainService(scope: Scope): Promise<Service> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  scope.after(() => server.close());
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    name: 'ws 8.23.0, each message to all',
    async publish(number) {
      for (const socket of server.clients) socket.send(JSON.stringify(number));
    },
    async subscribe() {
      const socket = new WebSocket(`ws://127.0.0.1:${address.port}`);
      const messages: Message[] = [];
      socket.on('message', (text) => {
        messages.push({ number: Number(String(text)), mark: null, isState: false });
      });
      await once(socket, 'open');
      return { messages, recovered: null, close: () => socket.terminate() };
    },
  };
}

/** null: the program is not there. `go install github.com/centrifugal/centrifugo/v6@v6.9.1` */
export function centrifugoVersion(): string | null {
  const { stdout } = spawnSync('centrifugo', ['version'], { encoding: 'utf8' });
  return /v\d+\.\d+\.\d+/.exec(stdout ?? '')?.[0] ?? null;
}

const KEY = 'test';
const CHANNEL = 'numbers';

/** Centrifugo with all its features for this: history, recovery, positioning. */
export async function centrifugoService(scope: Scope): Promise<Service> {
  const [port = assert.fail()] = await freePorts(1, systemRng);
  const config = join(temporaryDirectory(), 'config.json');
  const channel = { history_size: 1_000, history_ttl: '300s', force_recovery: true };
  const allowed = { force_positioning: true, allow_subscribe_for_client: true };
  writeFileSync(
    config,
    JSON.stringify({
      client: { insecure: true, allowed_origins: ['*'] },
      channel: { without_namespace: { ...channel, ...allowed } },
      http_api: { key: KEY },
      http_server: { address: '127.0.0.1', port: String(port) },
    }),
  );
  const process: ChildProcess = spawn('centrifugo', ['-c', config], { stdio: 'ignore' });
  scope.after(() => void process.kill());
  const api = `http://127.0.0.1:${port}/api`;
  const post = (method: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY };
    return fetch(`${api}/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const isUp = async () => (await post('info', {}).catch(() => null))?.ok === true;
  for (let tries = 0; !(await isUp()); tries += 1) {
    assert(tries < 100, 'centrifugo answers');
    await rest();
  }
  return {
    name: 'Centrifugo',
    async publish(number) {
      const answer = await (await post('publish', { channel: CHANNEL, data: number })).text();
      assert(!answer.includes('"error"'), answer);
    },
    subscribe: (since) => centrifugoSubscription(port, since),
  };
}

interface Publication {
  readonly data: number;
  readonly offset: number;
}

async function centrifugoSubscription(port: number, since: Mark | null): Promise<Subscription> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/connection/websocket`);
  const messages: Message[] = [];
  const subscription: Subscription = { messages, recovered: null, close: () => socket.terminate() };
  let epoch = '';
  let isAccepted = false;
  const add = ({ data: number, offset }: Publication) =>
    messages.push({ number, mark: { epoch, offset }, isState: false });
  socket.on('message', (text) => {
    for (const line of String(text).split('\n')) {
      const reply = JSON.parse(line);
      assert(reply.error === undefined, line);
      if (Object.keys(reply).length === 0) socket.send('{}');
      if (reply.push?.pub !== undefined) add(reply.push.pub);
      if (reply.subscribe === undefined) continue;
      isAccepted = true;
      epoch = reply.subscribe.epoch;
      if (since !== null) subscription.recovered = reply.subscribe.recovered === true;
      for (const publication of reply.subscribe.publications ?? []) add(publication);
    }
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, connect: {} }));
  const from = since === null ? {} : { recover: true, ...since };
  socket.send(JSON.stringify({ id: 2, subscribe: { channel: CHANNEL, ...from } }));
  await until('it is accepted', () => isAccepted);
  return subscription;
}
