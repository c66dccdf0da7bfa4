/** Locked tokens, which cannot be sold before a time. They come with the pool. */
import type { LiquidityPoolInfo, LockRow } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, setText } from '../dom.ts';
import { grouped, moment, short, shortMoment } from '../format.ts';
import { KeyedList, type Row } from '../keyedList.ts';
import type { MarketTime } from '../marketTime.ts';
import { watch } from '../signal.ts';

const MAX_ROWS = 50;

interface LockLine extends Row<LockRow> {
  tick(lock: LockRow, nowSeconds: number): void;
}

export function mountLocks(
  container: HTMLElement,
  { pool }: PageContext,
  time: MarketTime,
): Unmount {
  const total = el('span', { class: 'side' });
  const rows = el('ol', { class: 'locks', 'aria-label': 'Locks' });
  const none = el('p', { class: 'dim inside' }, 'Nothing of this token is locked.');
  container.append(el('header', {}, el('h2', {}, 'Locks'), total), rows, none);
  const list = new KeyedList<LockRow, LockLine>(rows, {
    most: MAX_ROWS,
    keyOf: ({ id }) => id,
    rowOf: () => lockLine(() => time.seconds.value),
  });
  const show = (info: LiquidityPoolInfo | null) => {
    const locks = (info?.metrics.locks ?? []).toSorted((a, b) => untilOf(a) - untilOf(b));
    const sum = locks.reduce((tokens, { totalLocked }) => tokens + BigInt(totalLocked), 0n);
    list.show(locks);
    none.hidden = locks.length > 0;
    setText(total, locks.length === 0 ? '' : `${short(sum)} tokens`);
  };
  const stopPool = watch(pool, show);
  const stopTime = time.seconds.subscribe((now) => list.each((row, lock) => row.tick(lock, now)));
  return () => {
    stopPool();
    stopTime();
    list.close();
  };
}

function untilOf({ lockUntil }: LockRow): number {
  return Number(lockUntil) / 1000;
}

function lockLine(nowSeconds: () => number): LockLine {
  const amount = el('span', {});
  const owner = el('span', { class: 'dim code cut' });
  const until = el('span', { class: 'num' });
  const element = el('li', {}, amount, owner, until);
  const tick = (lock: LockRow, now: number) => {
    const end = untilOf(lock);
    setText(until, end <= now ? 'may be withdrawn' : `until ${shortMoment(end)}`);
  };
  return {
    element,
    tick,
    fill(lock) {
      setText(amount, short(lock.totalLocked));
      amount.title = `${grouped(lock.totalLocked)} tokens`;
      // All addresses start alike; there is room for one end.
      setText(owner, `…${lock.vestingOwnerAddress.slice(-6)}`);
      owner.title = lock.vestingOwnerAddress;
      until.title = moment(untilOf(lock));
      tick(lock, nowSeconds());
    },
  };
}
