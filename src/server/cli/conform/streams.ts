/** Clauses of streams: order, visible loss, subscriptions, encodings, server-sent events. */
import { type Frame, isRecord } from '../../../client/socket/frame.ts';
import { StreamCheck, type StreamFault } from '../load/streamCheck.ts';
import { type Clause, expectRefusal, isSame } from './clause.ts';
import { expect, JudgedSocket, Skipped, type Target } from './target.ts';

interface Watched {
  readonly topic: string;
  readonly data: object;
}

const UNKNOWN = `${'0'.repeat(56)}.00`;
const HEARTBEAT_MS = 7_000;
const SETTLE_MS = 300;
const BOOK = { mode: 'changes' };

function watched(asset: string): Watched[] {
  return [
    { topic: 'Trades', data: { asset } },
    { topic: 'LastBar', data: { pair: { base: asset, quote: '.' }, interval: 'min1' } },
    { topic: 'OrderBook', data: { asset, ...BOOK } },
    { topic: 'Latest', data: {} },
  ];
}

/** Watches the topics until some of `topic` changed twice; faults by name, and all frames. */
async function watch(
  target: Target,
  topic: string,
): Promise<{ faults: Set<StreamFault>; frames: Frame[] }> {
  const all = watched(target.asset);
  const socket = await target.socket();
  const at = all.findIndex((each) => each.topic === topic);
  for (const [index, { topic: name, data }] of all.entries()) {
    socket.subscribe(`${index}`, name, data);
  }
  const changes = () => socket.of(`${at}`).filter(({ snapshot }) => !snapshot).length;
  await socket.snapshot(`${at}`);
  await target.until(() => changes() >= 2 || socket.closeCode !== null, target.deps.waitMs);
  if (changes() < 2) throw new Skipped(`nothing of ${topic} changed: the market is quiet`);
  const faults = new Set<StreamFault>();
  const stream = all[at];
  if (stream !== undefined) {
    const check = new StreamCheck(stream, null, (fault) => faults.add(fault));
    for (const frame of socket.of(`${at}`)) check.frame(frame, 0);
  }
  return { faults, frames: socket.of(`${at}`) };
}

function without(topic: string, faults: readonly StreamFault[], what: string) {
  return async (target: Target) => {
    const found = (await watch(target, topic)).faults;
    expect(!faults.some((fault) => found.has(fault)), `${what}; found: ${[...found].join(', ')}`);
  };
}

const SOCKETS: readonly Clause[] = [
  {
    id: 'order.snapshot',
    promise: 'A subscription begins with the whole state, whose `prev` is null.',
    async check(target) {
      const socket = await target.socket();
      socket.subscribe('s', 'Trades', { asset: target.asset });
      await socket.accepted('s');
      await target.until(() => socket.of('s').length > 0);
      const [first] = socket.of('s');
      expect(first?.snapshot === true && first.prev === null, 'the first frame is a snapshot');
    },
  },
  {
    id: 'order.ascending',
    promise: 'Positions of a stream ascend: no frame comes twice or late.',
    check: without('Trades', ['repeat', 'backwards'], 'positions ascend'),
  },
  {
    id: 'order.chain',
    promise: 'Each change names the one before it (`prev`), so that a lost one shows.',
    check: without('Trades', ['gap'], '`prev` is not above the known position'),
  },
  {
    id: 'order.fields',
    promise: 'Every frame has event, epoch, seq, prev and ts.',
    async check(target) {
      const socket = await target.socket();
      socket.subscribe('s', 'Trades', { asset: target.asset });
      const frame = await socket.snapshot('s');
      expect(socket.unreadable === 0, 'every frame can be read');
      expect(/^[A-Za-z0-9_-]{1,40}$/.test(frame.epoch), `an epoch, not ${frame.epoch}`);
      expect((frame.ts ?? 0) > 1e12, 'ts are Unix milliseconds');
    },
  },
  {
    id: 'order.bars',
    promise: 'Ordinary updates of bars never go back in time.',
    check: without('LastBar', ['backwards'], 'bars ascend'),
  },
  {
    id: 'order.book-checksum',
    promise: 'Changes of an order book give the book that its checksum is of.',
    check: without('OrderBook', ['checksum'], 'the checksum is that of the book'),
  },
  {
    id: 'order.list-checksum',
    promise: 'A list carries the checksum of its order.',
    check: without('Latest', ['checksum'], 'the checksum is that of the order'),
  },
  {
    id: 'stream.msgpack',
    promise: 'MessagePack carries the same state as JSON.',
    async check(target) {
      const sockets = [await target.socket(), await target.socket('msgpack')];
      await sameSnapshots(target, sockets, 'JSON and MessagePack');
    },
  },
  {
    id: 'stream.no-protocol',
    promise: 'Offers without a known subprotocol end with close code 4500.',
    async check(target) {
      const socket = new JudgedSocket(target, 'json', 'morse');
      await target.until(() => socket.closeCode !== null);
      expect(socket.closeCode === 4500, `close code 4500, not ${socket.closeCode}`);
    },
  },
  {
    id: 'stream.unknown-subject',
    promise: 'A well-formed token that the server does not know is accepted; its state is null.',
    async check(target) {
      const socket = await target.socket();
      socket.subscribe('s', 'PoolFeed', { asset: UNKNOWN });
      await socket.accepted('s');
      const { data } = await socket.snapshot('s');
      expect(data === null, 'the state of an unknown token is null');
    },
  },
  {
    id: 'stream.replace',
    promise: 'A request id in use is replaced by a new subscription.',
    async check(target) {
      const socket = await target.socket();
      socket.subscribe('s', 'Health');
      await socket.snapshot('s');
      socket.subscribe('s', 'PoolFeed', { asset: UNKNOWN });
      await socket.frame('the new topic answers', ({ event }) => event === 'PoolFeedUpdate');
      await target.pause(SETTLE_MS);
      const before = socket.of('s').length;
      await target.pause(1_500);
      expect(socket.of('s').length === before, 'the subscription before it has ended');
    },
  },
  {
    id: 'stream.unsubscribe',
    promise: 'After `Unsubscribed` a subscription is silent.',
    async check(target) {
      const socket = await target.socket();
      socket.say({ messageType: 'connect', requestId: 'c', data: { acks: true } });
      socket.subscribe('s', 'Health');
      await socket.snapshot('s');
      socket.say({ messageType: 'unsubscribe', requestId: 's' });
      await socket.frame('`Unsubscribed` answers', ({ event }) => event === 'Unsubscribed');
      const before = socket.of('s').length;
      await target.pause(1_500);
      expect(socket.of('s').length === before, 'nothing comes after it');
    },
  },
  {
    id: 'stream.pong',
    promise: 'A ping of the client is answered under its request id.',
    async check(target) {
      const socket = await target.socket();
      socket.say({ messageType: 'ping', requestId: 'p' });
      await socket.frame('a pong answers', ({ event, requestId }) => {
        return event === 'Pong' && requestId === 'p';
      });
    },
  },
  {
    id: 'stream.heartbeat',
    promise: 'A ping with a position comes every five seconds.',
    async check(target) {
      const socket = await target.socket();
      const { data } = await socket.frame(
        'a ping comes',
        ({ event }) => event === 'Ping',
        HEARTBEAT_MS,
      );
      expect(isRecord(data) && Number.isSafeInteger(data.seq), 'it has a position');
    },
  },
  {
    id: 'stream.many',
    promise: 'Many subscriptions of one frame are answered one by one.',
    async check(target) {
      const socket = await target.socket();
      const topics = [
        { requestId: 'a', topic: 'Health' },
        { requestId: 'b', topic: 'Nothing' },
        { requestId: 'c', topic: 'PoolFeed', data: { asset: UNKNOWN } },
      ];
      socket.say({ messageType: 'subscribe', topics });
      await socket.accepted('a');
      await socket.accepted('c');
      await socket.frame('the wrong one is refused', ({ event, requestId }) => {
        return event === 'Error' && requestId === 'b';
      });
    },
  },
];

/** Tries until both sockets have a snapshot at the same position. */
async function sameSnapshots(
  target: Target,
  sockets: readonly {
    frames: Frame[];
    subscribe: JudgedSocket['subscribe'];
    snapshot: JudgedSocket['snapshot'];
  }[],
  names: string,
): Promise<void> {
  for (let tries = 0; tries < 10; tries += 1) {
    const id = `same${tries}`;
    for (const socket of sockets) socket.subscribe(id, 'PoolFeed', { asset: target.asset });
    const [one, other] = await Promise.all(sockets.map((socket) => socket.snapshot(id)));
    if (one === undefined || other === undefined || one.seq !== other.seq) continue;
    expect(isSame(one.data, other.data), `${names} hold the same at ${one.seq}`);
    return;
  }
  throw new Skipped('the market changed between every two snapshots');
}

const ID = /^id: ?([A-Za-z0-9_-]{1,40}:\d+)$/m;
const TRIES = 10;

async function firstId(target: Target, events: { text: string }): Promise<string> {
  await target.until(() => ID.test(events.text));
  const [, id] = ID.exec(events.text) ?? [];
  expect(id !== undefined, 'an event has `id: <epoch>:<seq>`');
  return id;
}

const EVENTS: readonly Clause[] = [
  {
    id: 'sse.headers',
    promise: 'A stream of events is text/event-stream that no cache stores.',
    async check(target) {
      const { status, headers } = await target.events([{ topic: 'Health' }]);
      const type = headers.get('content-type') ?? '';
      expect(status === 200 && type.startsWith('text/event-stream'), `${status} ${type}`);
      expect(headers.get('cache-control') === 'no-store', 'Cache-Control: no-store');
    },
  },
  {
    id: 'sse.ids',
    promise: 'Events carry the position from which a stream continues.',
    async check(target) {
      const events = await target.events([{ topic: 'Trades', data: { asset: target.asset } }]);
      await firstId(target, events);
    },
  },
  {
    id: 'sse.same',
    promise: 'A stream of events carries the frames of the WebSocket.',
    async check(target) {
      const socket = await target.socket();
      const data = { asset: target.asset };
      for (let tries = 0; tries < TRIES; tries += 1) {
        socket.subscribe(`${tries}`, 'PoolFeed', data);
        const events = await target.events([{ requestId: 'e', topic: 'PoolFeed', data }]);
        await target.until(() => events.frames.some(({ snapshot }) => snapshot));
        const told = events.frames.find(({ snapshot }) => snapshot);
        const frame = await socket.snapshot(`${tries}`);
        expect(told !== undefined, 'a snapshot comes first');
        if (told.seq !== frame.seq) continue;
        expect(isSame(told.data, frame.data), `both hold the same at ${frame.seq}`);
        return;
      }
      throw new Skipped('the market changed between every two snapshots');
    },
  },
  {
    id: 'sse.resume',
    promise: 'Last-Event-ID resumes a stream without a snapshot.',
    async check(target) {
      const topics = [{ topic: 'Trades', data: { asset: target.asset } }];
      const id = await firstId(target, await target.events(topics));
      const again = await target.events(topics, id);
      await target.until(() => again.frames.some(({ event }) => event === 'Subscribed'));
      const accepted = again.frames.find(({ event }) => event === 'Subscribed');
      const isRecovered = isRecord(accepted?.data) && accepted.data.recovered === true;
      expect(isRecovered, '`recovered: true`');
      expect(!again.frames.some(({ snapshot }) => snapshot), 'no snapshot comes');
    },
  },
  {
    id: 'sse.malformed',
    promise: 'A subscription of a stream that is malformed: 400.',
    async check(target) {
      expectRefusal(await target.ask('/v1/stream?sub=%7B'), 400, 'INVALID_PARAMS');
    },
  },
];

export const STREAM_CLAUSES: readonly Clause[] = [...SOCKETS, ...EVENTS];
