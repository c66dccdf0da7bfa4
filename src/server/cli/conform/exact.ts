/**
 * Clauses of exactness: missed changes arrive, losses and rollbacks are reported, streams and HTTP
 * hold the same at one position, and a repeated request gets the same answer.
 */
import { type Frame, isRecord } from '../../../client/socket/frame.ts';
import { KeyWallet } from '../../../client/trade/wallet.ts';
import type { Position } from '../../../client/types.ts';
import { systemRng } from '../../../engine/runtime/rng.ts';
import { type Clause, expectRefusal, isSame } from './clause.ts';
import { type Answer, expect, type JudgedSocket, Skipped, type Target } from './target.ts';

const FAR = 1_000_000_000;
const SETTLE_MS = 300;
/** Looks after a fork, `SETTLE_MS` apart. */
const SETTLES = 20;
const FORK_DEPTH = 4;
/** Trades of a snapshot, and of a page. */
const PAGE = 100;

function subscribe(socket: JudgedSocket, asset: string, since: Position | null): Promise<boolean> {
  socket.subscribe('s', 'Trades', { asset }, since === null ? {} : { since });
  return socket.accepted('s');
}

/** A position, and the frames that came after it on a socket that stayed. */
async function missed(target: Target): Promise<{ since: Position; after: Frame[] }> {
  const { asset, deps } = target;
  const socket = await target.socket();
  await subscribe(socket, asset, null);
  const { epoch, seq } = await socket.snapshot('s');
  const after = () => socket.of('s').filter((frame) => !frame.snapshot && frame.seq > seq);
  await target.until(() => after().length > 0, deps.waitMs);
  if (after().length === 0) throw new Skipped('nothing was traded: the market is quiet');
  return { since: { epoch, seq }, after: after() };
}

function idsOf(frames: readonly Frame[]): Set<string> {
  const rows = frames.flatMap(({ data }) => (Array.isArray(data) ? data : []));
  return new Set(rows.map((row: { readonly id: string }) => row.id));
}

async function resumed(target: Target, since: Position, encoding: 'json' | 'msgpack') {
  const socket = await target.socket(encoding);
  const isRecovered = await subscribe(socket, target.asset, since);
  await target.until(() => socket.of('s').length > 0);
  await target.pause(SETTLE_MS);
  return { isRecovered, frames: socket.of('s') };
}

/** `recovered: false`, then the whole state. */
async function expectTold(target: Target, since: Position): Promise<void> {
  const socket = await target.socket();
  expect(!(await subscribe(socket, target.asset, since)), '`recovered: false` reports the loss');
  await socket.snapshot('s');
}

async function positionNow(target: Target): Promise<Position> {
  const { position } = await target.ask(`/v1/trades?asset=${target.asset}`);
  expect(position !== null, '/v1/trades carries X-Position');
  return position;
}

function needChange({ deps }: Target): void {
  if (!deps.mayChange) throw new Skipped('changes a devnet: tried with --devnet');
}

const RESUMING: readonly Clause[] = [
  {
    id: 'resume.changes',
    promise: 'With `since` come the missing changes, and no snapshot.',
    async check(target) {
      const { since, after } = await missed(target);
      const { isRecovered, frames } = await resumed(target, since, 'json');
      expect(isRecovered, '`recovered: true` for a position that was just current');
      expect(frames.length > 0 && frames.every(({ snapshot }) => !snapshot), 'only changes come');
      const ids = idsOf(frames);
      expect(
        [...idsOf(after)].every((id) => ids.has(id)),
        'every missed trade comes',
      );
    },
  },
  {
    id: 'resume.exact',
    promise: 'With `since`, only changes after that position come.',
    async check(target) {
      const { since } = await missed(target);
      const { frames } = await resumed(target, since, 'json');
      expect(
        frames.every(({ seq }) => seq > since.seq),
        'positions are above `since`',
      );
      const [first] = frames;
      const prev = first?.prev ?? null;
      expect(prev !== null && prev <= since.seq, '`prev` of the first one is not above `since`');
    },
  },
  {
    id: 'resume.encodings',
    promise: 'A position of one encoding can be resumed in another.',
    async check(target) {
      const { since, after } = await missed(target);
      const { isRecovered, frames } = await resumed(target, since, 'msgpack');
      const ids = idsOf(frames);
      expect(isRecovered, '`recovered: true`');
      expect(
        [...idsOf(after)].every((id) => ids.has(id)),
        'every missed trade comes',
      );
    },
  },
  {
    id: 'resume.http',
    promise: 'The X-Position of an answer can be resumed from.',
    async check(target) {
      const since = await positionNow(target);
      const socket = await target.socket();
      expect(await subscribe(socket, target.asset, since), '`recovered: true`');
    },
  },
  {
    id: 'loss.beyond',
    promise: 'A position beyond the end of the log is reported as lost, with the whole state.',
    async check(target) {
      const { epoch, seq } = await positionNow(target);
      await expectTold(target, { epoch, seq: seq + FAR });
    },
  },
  {
    id: 'loss.epoch',
    promise: 'A position of another log is reported as lost, with the whole state.',
    async check(target) {
      const { epoch, seq } = await positionNow(target);
      const [number = '1'] = epoch.split('-');
      await expectTold(target, { epoch: `${number}-zzzzzzzz`, seq });
    },
  },
  {
    id: 'loss.malformed',
    promise: 'A position that is none is refused (INVALID_PARAMS).',
    async check(target) {
      const socket = await target.socket();
      const more = { since: { epoch: 'no epoch!', seq: -1 } };
      socket.subscribe('s', 'Trades', { asset: target.asset }, more);
      const { data } = await socket.frame('an `Error` comes', ({ event }) => event === 'Error');
      expect(isRecord(data) && data.cause === 'INVALID_PARAMS', 'its cause is INVALID_PARAMS');
    },
  },
  {
    id: 'rollback.reported',
    promise: 'A fork that undoes a trade is reported: `BarsRevised` with reason `rollback`.',
    async check(target) {
      needChange(target);
      const { asset } = target;
      const socket = await target.socket();
      const data = { pair: { base: asset, quote: '.' }, interval: 'min1' };
      socket.subscribe('b', 'LastBar', data);
      await socket.snapshot('b');
      const ids = async () => {
        const { json } = await target.ask(`/v1/trades?asset=${asset}`);
        return new Set(Array.isArray(json) ? json.map(({ id }) => id) : []);
      };
      const before = await ids();
      await fork(target);
      const undoes = async () => {
        const after = await ids();
        return [...before].some((id) => !after.has(id));
      };
      for (let tries = 0; !(await undoes()); tries += 1) {
        if (tries === SETTLES) throw new Skipped('the fork undid no trade');
        await target.pause(SETTLE_MS);
      }
      await socket.frame('`BarsRevised` comes', ({ event, data: told }) => {
        return event === 'BarsRevised' && isRecord(told) && told.reason === 'rollback';
      });
    },
  },
  {
    id: 'rollback.state',
    promise: 'After a fork the frames give what HTTP has.',
    async check(target) {
      needChange(target);
      const { asset } = target;
      const socket = await target.socket();
      await subscribe(socket, asset, null);
      await socket.snapshot('s');
      await fork(target);
      const isEqual = async () => {
        const { json } = await target.ask(`/v1/trades?asset=${asset}&limit=${PAGE}`);
        const own = tradesOf(socket.of('s')).slice(0, PAGE);
        // The fork removed rows of the snapshot's page, and HTTP fills its page up with older rows.
        const isWhole = Array.isArray(json) && (json.length < PAGE || own.length > PAGE / 2);
        return isWhole && isSame(json.slice(0, Math.max(1, own.length)), own);
      };
      for (let tries = 0; tries < SETTLES; tries += 1) {
        if (await isEqual()) return;
        await target.pause(SETTLE_MS);
      }
      expect(false, 'trades of the frames are those of /v1/trades');
    },
  },
];

async function fork(target: Target): Promise<void> {
  const { status } = await target.post('/devnet/v1/fork', { depth: FORK_DEPTH, resubmit: 'none' });
  if (status !== 200) throw new Skipped(`a fork was refused (${status})`);
}

/** Rows after all frames, newest first. */
function tradesOf(frames: readonly Frame[]): object[] {
  const rows = new Map<string, object>();
  for (const { data, snapshot } of frames) {
    if (snapshot) rows.clear();
    for (const row of Array.isArray(data) ? data : []) {
      if (row.removed === true) rows.delete(row.id);
      else rows.set(row.id, row);
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, row]) => row);
}

const TRIES = 10;

/**
 * A snapshot of the topic and an answer of HTTP at one position. The answer is complete at least up
 * to its position, so it is asked for between two equal snapshots.
 */
async function same(
  target: Target,
  topic: string,
  data: object,
  path: string,
  pick: (value: unknown) => unknown = (value) => value,
): Promise<void> {
  const socket = await target.socket();
  for (let tries = 0; tries < TRIES; tries += 1) {
    socket.subscribe(`${tries}a`, topic, data);
    const before = await socket.snapshot(`${tries}a`);
    const { status, json, text } = await target.ask(path);
    expect(status === 200, `${path} answers 200, not ${status} ${text.slice(0, 80)}`);
    socket.subscribe(`${tries}b`, topic, data);
    const after = await socket.snapshot(`${tries}b`);
    if (!isSame(before.data, after.data)) continue;
    expect(isSame(pick(json), pick(before.data)), `${topic} and ${path} hold the same`);
    return;
  }
  throw new Skipped('the market changed between every two snapshots');
}

/** Removes fields that only HTTP or only the stream has. */
function omit(...names: readonly string[]) {
  return (value: unknown) => {
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  };
}

const POSITIONS: readonly Clause[] = [
  {
    id: 'exact.pool',
    promise: 'The pool of the stream is the pool of HTTP.',
    async check(target) {
      const { asset } = target;
      await same(target, 'PoolFeed', { asset }, `/v1/pools-feed/initial/state?asset=${asset}`);
    },
  },
  {
    id: 'exact.trades',
    promise: 'The trades of the stream are the trades of HTTP.',
    async check(target) {
      const { asset } = target;
      await same(target, 'Trades', { asset }, `/v1/trades?asset=${asset}&limit=100`);
    },
  },
  {
    id: 'exact.bars',
    promise: 'The newest bar of the stream is that of HTTP.',
    async check(target) {
      const pair = { base: target.asset, quote: '.' };
      const path = `/v1/charts/last?base=${pair.base}&quote=.&resolution=min1`;
      const pick = omit('pair', 'isRelevant');
      await same(target, 'LastBar', { pair, interval: 'min1' }, path, pick);
    },
  },
  {
    id: 'exact.book',
    promise: 'The order book of the stream is that of HTTP.',
    async check(target) {
      const { asset } = target;
      const path = `/v1/order-book?asset=${asset}&levels=100`;
      await same(target, 'OrderBook', { asset }, path, omit('epoch', 'seq'));
    },
  },
  {
    id: 'exact.position',
    promise: 'An answer that a stream can continue carries X-Position, which never goes back.',
    async check(target) {
      const path = `/v1/trades?asset=${target.asset}`;
      const [one, other] = [await target.ask(path), await target.ask(path)];
      expect(one.position !== null && other.position !== null, 'X-Position: <epoch>:<seq>');
      expect(other.position.seq >= one.position.seq, 'positions of one node do not go back');
    },
  },
  {
    id: 'exact.min-position',
    promise: 'X-Min-Position beyond the newest position is answered 503 with Retry-After.',
    async check(target) {
      const path = `/v1/trades?asset=${target.asset}`;
      const { position } = await target.ask(path);
      expect(position !== null, 'X-Position: <epoch>:<seq>');
      const ask = (seq: number) => {
        const headers = { 'x-min-position': `${position.epoch}:${seq}` };
        return target.ask(path, { headers });
      };
      expect((await ask(position.seq)).status === 200, 'a position that it has is answered 200');
      const late = await ask(position.seq + FAR);
      expectRefusal(late, 503, 'NOT_READY');
      expect(late.headers.has('retry-after'), 'it names when to come back (Retry-After)');
    },
  },
];

const FUNDED_MS = 30_000;
const ADA = 1_000_000;

/** Builds an order of a new wallet under the key; only on a devnet, whose faucet pays it. */
async function order(target: Target, key: string, amount: number, address: string) {
  const body = { assetId: target.asset, side: 'BUY', slippage: '15', changeAddress: address };
  const all = { ...body, amount: `${amount}`, utxos: 'splash-wallet' };
  return target.post('/order', all, { 'idempotency-key': key });
}

async function fundedWallet(target: Target): Promise<string> {
  if (!target.deps.mayChange) throw new Skipped('takes coins of a devnet: tried with --devnet');
  const { secret } = systemRng;
  const { address } = new KeyWallet({ payment: secret(), stake: secret() }, 'testnet');
  const { status } = await target.post('/devnet/v1/faucet', { address, lovelace: `${100 * ADA}` });
  if (status !== 200) throw new Skipped(`the server has no faucet (${status})`);
  return address;
}

/** The first answer, once the coins of the faucet are in a block. */
async function built(target: Target, key: string, address: string): Promise<Answer> {
  let answer = await order(target, key, 10 * ADA, address);
  const { clock } = target.deps;
  const endMs = clock.monotonicMs() + FUNDED_MS;
  while (answer.status !== 200 && clock.monotonicMs() < endMs) {
    await target.pause(500);
    answer = await order(target, key, 10 * ADA, address);
  }
  if (answer.status !== 200) throw new Skipped(`no order is built: ${answer.text.slice(0, 80)}`);
  return answer;
}

function newKey(): string {
  return systemRng.token(24);
}

const IDEMPOTENCY: readonly Clause[] = [
  {
    id: 'idempotency.replay',
    promise: 'A repeated request with one Idempotency-Key gets the same transaction.',
    async check(target) {
      const [address, key] = [await fundedWallet(target), newKey()];
      const first = await built(target, key, address);
      const again = await order(target, key, 10 * ADA, address);
      expect(again.text === first.text, 'the answer is the same');
      const replayed = again.headers.get('idempotency-replayed');
      expect(replayed === 'true', `Idempotency-Replayed: true, not ${replayed}`);
    },
  },
  {
    id: 'idempotency.conflict',
    promise: 'Another request with that key: 409 IDEMPOTENCY_CONFLICT.',
    async check(target) {
      const [address, key] = [await fundedWallet(target), newKey()];
      await built(target, key, address);
      expectRefusal(await order(target, key, 11 * ADA, address), 409, 'IDEMPOTENCY_CONFLICT');
    },
  },
  {
    id: 'idempotency.form',
    promise: 'A key that is longer than 64 characters is refused.',
    async check(target) {
      const body = { assetId: target.asset, amount: '1', side: 'BUY', slippage: '15' };
      const headers = { 'idempotency-key': 'a'.repeat(65) };
      const { status } = await target.post('/order', body, headers);
      expect(status === 400, `400, not ${status}`);
    },
  },
];

export const EXACT_CLAUSES: readonly Clause[] = [...RESUMING, ...POSITIONS, ...IDEMPOTENCY];
