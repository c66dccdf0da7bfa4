/** Locked tokens, which cannot be sold before a time. They come with the pool. */
import type { LiquidityPoolInfo, LockRow } from '../../client/types.ts';
import { grouped, moment, short, shortMoment } from '../format.ts';
import { t } from '../messages.ts';
import { memo, usePage } from '../page.tsx';
import { TabPart } from './tabPart.tsx';

const MAX_ROWS = 50;

export function Locks({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const locks = pool.metrics.locks.toSorted((a, b) => untilOf(a) - untilOf(b));
  const sum = locks.reduce((tokens, { totalLocked }) => tokens + BigInt(totalLocked), 0n);
  return (
    <TabPart class="locking" title={t.token.locks}>
      {locks.length > 0 && (
        <p class="dim small inside">{t.token.lockedTokens({ tokens: short(sum) })}</p>
      )}
      <ol class="locks" aria-label={t.token.locks}>
        {locks.slice(0, MAX_ROWS).map((lock) => (
          <LockLine key={lock.id} lock={lock} />
        ))}
      </ol>
      {locks.length === 0 && <p class="dim inside">{t.token.noLocks}</p>}
    </TabPart>
  );
}

function untilOf({ lockUntil }: LockRow): number {
  return Number(lockUntil) / 1000;
}

const LockLine = memo(({ lock }: { readonly lock: LockRow }) => {
  const end = untilOf(lock);
  return (
    <li>
      <span title={t.token.lockedTokens({ tokens: grouped(lock.totalLocked) })}>
        {short(lock.totalLocked)}
      </span>
      {/* All addresses start alike; there is room for one end. */}
      <span class="dim code cut" title={lock.vestingOwnerAddress}>
        …{lock.vestingOwnerAddress.slice(-6)}
      </span>
      <span class="num" title={moment(end)}>
        <Until end={end} />
      </span>
    </li>
  );
});

/** The one part of a row that time changes. */
function Until({ end }: { readonly end: number }) {
  const isOpen = usePage().time.seconds.value >= end;
  return <>{isOpen ? t.token.unlocked : t.token.until({ when: shortMoment(end) })}</>;
}
