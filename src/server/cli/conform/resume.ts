/** Clauses of resuming: what was missed comes, a loss is reported, rollbacks too. */
import { type Frame, isRecord } from '../../../client/socket/frame.ts';
import type { Position } from '../../../client/types.ts';
import { type Clause, isSame } from './clause.ts';
import { expect, type JudgedSocket, Skipped, type Target } from './target.ts';

const FAR = 1_000_000_000;
const SETTLE_MS = 300;
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
  await target.rest(SETTLE_MS);
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

export const RESUME_CLAUSES: readonly Clause[] = [
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
    promise: 'What comes with `since` lies behind it.',
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
      await target.rest(SETTLE_MS);
      const after = await ids();
      if ([...before].every((id) => after.has(id))) throw new Skipped('the fork undid no trade');
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
        // Of a snapshot's page the fork took some away; HTTP fills its own up with older ones.
        const isWhole = Array.isArray(json) && (json.length < PAGE || own.length > PAGE / 2);
        return isWhole && isSame(json.slice(0, Math.max(1, own.length)), own);
      };
      for (let tries = 0; tries < 20; tries += 1) {
        if (await isEqual()) return;
        await target.rest(SETTLE_MS);
      }
      expect(false, 'trades of the frames are those of /v1/trades');
    },
  },
];

async function fork(target: Target): Promise<void> {
  const { status } = await target.post('/devnet/v1/fork', { depth: FORK_DEPTH, resubmit: 'none' });
  if (status !== 200) throw new Skipped(`the server has no devnet (${status})`);
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
