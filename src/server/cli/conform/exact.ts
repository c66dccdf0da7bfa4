/**
 * Clauses of exactness: streams and HTTP hold the same at one position, and a repeated request gets
 * the same answer.
 */
import { isRecord } from '../../../client/socket/frame.ts';
import { KeyWallet } from '../../../client/trade/wallet.ts';
import { systemRng } from '../../../engine/runtime/rng.ts';
import { type Clause, expectRefusal, isSame } from './clause.ts';
import { type Answer, expect, Skipped, type Target } from './target.ts';

const TRIES = 10;
const FAR = 1_000_000_000;

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

/** Without what only one of the two has. */
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
    await target.rest(500);
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

export const EXACT_CLAUSES: readonly Clause[] = [...POSITIONS, ...IDEMPOTENCY];
