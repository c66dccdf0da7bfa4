/**
 * Contract of every log (src/engine/log/port.ts), run against each adapter by `logContract(name,
 * place)`. A place is where one log lives; opened again, it finds the entries that were appended.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SealedEntry } from '../../src/engine/log/entry.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { chainAfter, EMPTY_TAIL, nextEntry, tailAfter } from '../support/chain.ts';

interface LogPlace {
  open(): Promise<Log>;
  /** Another writer's or reader's way to the same log; may be the log itself. */
  peer(log: Log): Promise<Log>;
}

export type MakePlace = (scope: TestContext) => LogPlace;

/** Appends one after the other; every one must be taken. Then `log` reads them all. */
export async function appendAll(log: Log, entries: readonly SealedEntry[]): Promise<void> {
  for (const sealed of entries) {
    const { seq } = sealed.entry;
    assert.deepEqual(await log.append(sealed, seq - 1), { outcome: 'appended', seq });
  }
  await log.reached(entries.at(-1)?.entry.seq ?? 0);
}

/** All entries that `log` reads from `fromSeq` on, in pieces. */
export async function readAll(log: Log, fromSeq = 1, piece = 3): Promise<string[]> {
  const texts: string[] = [];
  for (let next = fromSeq; ; ) {
    const entries = await log.read(next, piece);
    assert.ok(entries.length <= piece);
    const last = entries.at(-1);
    if (last === undefined) return texts;
    texts.push(...entries.map(({ text }) => text));
    next = last.entry.seq + 1;
  }
}

export function textsOf(entries: readonly SealedEntry[]): string[] {
  return entries.map(({ text }) => text);
}

export function logContract(name: string, place: MakePlace): void {
  const check = (behaviour: string, run: (log: Log, place: LogPlace) => Promise<void>) =>
    test(`${name}: ${behaviour}`, async (scope) => {
      const here = place(scope);
      const log = await here.open();
      let closed = false;
      const close = async () => {
        if (!closed) await log.close();
        closed = true;
      };
      await run({ ...methodsOf(log), close }, here).finally(close);
    });
  appending(check);
  racing(check);
  reading(check);
  forgetting(check);
}

type Check = (behaviour: string, run: (log: Log, place: LogPlace) => Promise<void>) => void;

function methodsOf(log: Log): Log {
  return {
    epoch: () => log.epoch(),
    first: () => log.first(),
    last: () => log.last(),
    append: (entry, expectedSeq) => log.append(entry, expectedSeq),
    read: (fromSeq, limit) => log.read(fromSeq, limit),
    reached: (seq) => log.reached(seq),
    epochs: () => log.epochs(),
    trim: (seq) => log.trim(seq),
    restart: (entry) => log.restart(entry),
    close: () => log.close(),
  };
}

function appending(check: Check): void {
  check('is empty before the first entry', async (log) => {
    assert.deepEqual(await log.last(), EMPTY_TAIL);
    assert.equal(await log.first(), 0);
    assert.equal(await log.epoch(), null);
    assert.deepEqual(await log.read(1, 10), []);
    assert.deepEqual(await log.epochs(), []);
  });

  check('appends in order, and its tail is the last entry', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 7);
    await appendAll(log, entries);
    const last = entries.at(-1);
    assert.ok(last !== undefined);
    assert.deepEqual(await log.last(), tailAfter(last));
    assert.equal(await log.epoch(), '1-test');
    assert.equal(await log.first(), 1);
    assert.deepEqual(await readAll(log), textsOf(entries));
  });

  check('takes many appends at once in the order they were asked', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 500);
    const done: number[] = [];
    const outcomes = await Promise.all(
      entries.map(async (sealed) => {
        const outcome = await log.append(sealed, sealed.entry.seq - 1);
        done.push(sealed.entry.seq);
        return outcome;
      }),
    );
    assert.ok(outcomes.every(({ outcome }) => outcome === 'appended'));
    assert.deepEqual(
      done,
      Array.from(entries, ({ entry }) => entry.seq),
    );
    // A reader may have heard of fewer than the writer.
    await log.reached(entries.length);
    assert.deepEqual(await readAll(log, 1, 64), textsOf(entries));
  });

  check('says appended again when an acknowledgement was lost', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 5);
    await appendAll(log, entries);
    await appendAll(log, entries.slice(2));
    assert.deepEqual(await readAll(log), textsOf(entries));
    const [one] = chainAfter((await log.last()) ?? EMPTY_TAIL, 1);
    assert.ok(one !== undefined);
    const both = await Promise.all([log.append(one, 5), log.append(one, 5)]);
    assert.deepEqual(
      both.map(({ outcome }) => outcome),
      ['appended', 'appended'],
    );
    assert.equal((await log.last()).seq, 6);
  });
}

function racing(check: Check): void {
  check('refuses an entry with another expected seq than its tail', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 5);
    await appendAll(log, entries.slice(0, 3));
    const [, , third, fourth, fifth] = entries;
    assert.ok(third !== undefined && fourth !== undefined && fifth !== undefined);
    const conflict = { outcome: 'conflict', lastSeq: 3 };
    assert.deepEqual(await log.append(fifth, 4), conflict);
    assert.deepEqual(await log.append(fourth, 2), conflict);
    assert.deepEqual(await log.append(fourth, 4), conflict);
    assert.deepEqual(await log.append(nextEntry(tailAfter(third), 1), 0), conflict);
    assert.equal((await log.last()).seq, 3);
    await appendAll(log, [fourth, fifth]);
  });

  check('refuses an entry that does not name the hash of its tail', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 3);
    await appendAll(log, entries);
    const stray = nextEntry({ seq: 3, hash: 'ff'.repeat(32), epoch: '1-test' });
    assert.deepEqual(await log.append(stray, 3), { outcome: 'conflict', lastSeq: 3 });
    assert.deepEqual(await readAll(log), textsOf(entries));
  });

  check('refuses another entry in the place of one it has', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 4);
    await appendAll(log, entries);
    const [, second] = entries;
    assert.ok(second !== undefined);
    const rival = nextEntry(tailAfter(second), 1);
    assert.deepEqual(await log.append(rival, 2), { outcome: 'conflict', lastSeq: 4 });
  });

  check('lets exactly one of two racing writers win, each time', async (log, place) => {
    const other = await place.peer(log);
    const won: SealedEntry[] = [];
    for (let round = 0; round < 20; round += 1) {
      const tail = await log.last();
      const mine = nextEntry(tail, 1);
      const theirs = nextEntry(tail, 2);
      const writes = [
        () => log.append(mine, tail.seq),
        () => other.append(theirs, tail.seq),
      ] as const;
      const [first, second] = round % 2 === 0 ? writes : [writes[1], writes[0]];
      const outcomes = await Promise.all([first(), second()]);
      assert.equal(outcomes.filter(({ outcome }) => outcome === 'appended').length, 1);
      assert.equal(outcomes.filter(({ outcome }) => outcome === 'conflict').length, 1);
      const hash = (await log.last()).hash;
      assert.ok(hash === mine.hash || hash === theirs.hash);
      won.push(hash === mine.hash ? mine : theirs);
    }
    assert.deepEqual(await readAll(log), textsOf(won));
  });

  check('takes nothing of a writer that lost, though it continues', async (log) => {
    const [first] = chainAfter(EMPTY_TAIL, 1);
    assert.ok(first !== undefined);
    await appendAll(log, [first]);
    const winner = chainAfter(tailAfter(first), 2, 1);
    const loser = chainAfter(tailAfter(first), 4, 2);
    const all = [...winner, ...loser].map((sealed) => log.append(sealed, sealed.entry.seq - 1));
    const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes.slice(2), ['conflict', 'conflict', 'conflict', 'conflict']);
    assert.deepEqual(await readAll(log), textsOf([first, ...winner]));
  });
}

function reading(check: Check): void {
  check('reads from the middle, as often as asked', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 30);
    await appendAll(log, entries);
    for (const from of [1, 2, 17, 30]) {
      assert.deepEqual(await readAll(log, from, 7), textsOf(entries.slice(from - 1)));
      assert.deepEqual(await readAll(log, from, 7), textsOf(entries.slice(from - 1)));
    }
    const [one] = await log.read(17, 1);
    assert.deepEqual(one, entries[16]);
  });

  check('gives a reader that is ahead nothing, and tells it by last', async (log) => {
    await appendAll(log, chainAfter(EMPTY_TAIL, 5));
    assert.deepEqual(await log.read(6, 10), []);
    assert.deepEqual(await log.read(11, 10), []);
    assert.equal((await log.last()).seq, 5);
  });

  check('resolves reached at the entry, and for all when it closes', async (log) => {
    const [first, second, third] = chainAfter(EMPTY_TAIL, 3);
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    await appendAll(log, [first]);
    await log.reached(1);
    const order: number[] = [];
    const three = log.reached(3).then(() => order.push(3));
    const two = log.reached(2).then(() => order.push(2));
    await appendAll(log, [second]);
    await two;
    assert.deepEqual(order, [2]);
    await appendAll(log, [third]);
    await three;
    const never = log.reached(99);
    await log.close();
    await never;
  });

  check('gives the same after it was closed and opened', async (log, place) => {
    const entries = chainAfter(EMPTY_TAIL, 12);
    await appendAll(log, entries);
    await log.close();
    const again = await place.open();
    try {
      assert.deepEqual(await readAll(again), textsOf(entries));
      assert.deepEqual(await again.last(), tailAfter(entries[11] ?? nextEntry(EMPTY_TAIL)));
      assert.deepEqual(await again.epochs(), [1]);
      await appendAll(again, chainAfter(await again.last(), 3));
      await appendAll(again, entries.slice(-1));
    } finally {
      await again.close();
    }
  });
}

function forgetting(check: Check): void {
  check('forgets what is below a trim, never its tail', async (log) => {
    const entries = chainAfter(EMPTY_TAIL, 10);
    await appendAll(log, entries);
    await log.trim(4);
    assert.equal(await log.first(), 4);
    assert.deepEqual(await readAll(log), textsOf(entries.slice(3)));
    await log.trim(1_000);
    assert.equal(await log.first(), 10);
    assert.deepEqual(await readAll(log), textsOf(entries.slice(9)));
    await appendAll(log, chainAfter(await log.last(), 2));
    assert.equal((await log.last()).seq, 12);
  });

  check('starts again with one epoch entry, and remembers epochs', async (log) => {
    await appendAll(log, chainAfter(EMPTY_TAIL, 5));
    const base = { seq: 40, stateHash: 'aa' };
    const begin = (seq: number) =>
      nextEntry({ seq, hash: '', epoch: '2-x' }, 0, { kind: 'epoch', reason: 'log lost', base });
    const restarted = begin(40);
    await log.restart(restarted);
    assert.equal(await log.first(), 41);
    assert.equal(await log.epoch(), '2-x');
    assert.deepEqual(await log.epochs(), [41]);
    assert.deepEqual(await readAll(log), textsOf([restarted]));
    await appendAll(log, chainAfter(await log.last(), 2));
    const tail = await log.last();
    const payload = { kind: 'epoch', reason: 'rollback', base: { seq: 42 } } as const;
    await appendAll(log, [nextEntry({ ...tail, epoch: '3-y' }, 0, payload)]);
    assert.deepEqual(await log.epochs(), [41, 44]);
    await log.trim(43);
    assert.deepEqual(await log.epochs(), [44]);
  });
}
