/** The wallet's locks on a calendar, the next to open first, and a button to withdraw open ones. */
import type { LockRow } from '../../client/types.ts';
import { Button } from '../components/button.tsx';
import { navigationNow } from '../components/dialog.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { moment } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { shownAmount } from '../trade/amount.ts';
import { askToSign, sayAndFollow } from '../trade/review.tsx';
import { useQuery } from '../useQuery.ts';
import { Calendar } from './calendar.tsx';
import type { ConnectedWallet } from './connectedWallet.ts';
import { sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

/** Locks made elsewhere with the same key show up without a click. */
const LOAD_EVERY_SECONDS = 15;
const MAX_ROWS = 200;
/** A lock opens with the first slot that begins after its moment. */
const SLOT_MS = 1_000;

export function OwnLocks({ wallet }: { readonly wallet: ConnectedWallet }) {
  const context = usePage();
  const { client, time } = context;
  const { landed } = sessionOf(context);
  const { data, error } = useQuery(
    'locks',
    async (signal) => (await client.vesting.byOwner(wallet.keyHash, { signal })).data.vestings,
    [wallet.keyHash],
    `${landed.value} ${Math.floor(time.seconds.value / LOAD_EVERY_SECONDS)}`,
  ).value;
  const locks = (data ?? []).toSorted((a, b) => Number(a.lockUntil) - Number(b.lockUntil));
  return (
    <>
      {locks.length > 0 && <Calendar days={locks.map(({ lockUntil }) => Number(lockUntil))} />}
      <ul class="own-locks">
        {locks.slice(0, MAX_ROWS).map((lock) => (
          <OwnLock key={lock.id} lock={lock} />
        ))}
      </ul>
      {data !== null && locks.length === 0 && <p class="small dim own-note">{t.locks.none}</p>}
      {error !== null && <ErrorBox error={error} />}
    </>
  );
}

function OwnLock({ lock }: { readonly lock: LockRow }) {
  const context = usePage();
  const asset = assetOf(lock);
  const tickers = tickersOf(context);
  // Its ticker may be learned later.
  const ticker = tickers.learned.value >= 0 ? tickers.of(asset) : '';
  const untilMs = Number(lock.lockUntil);
  const leftMs = untilMs + SLOT_MS - context.time.seconds.value * 1000;
  const amount = shownAmount(BigInt(lock.totalLocked), 0);
  return (
    <li>
      <span>
        <a href={routeHash({ at: 'token', asset })}>{ticker}</a> {amount}
      </span>
      <span class="lock-state dim" title={moment(untilMs / 1000)}>
        {leftMs > 0 ? t.locks.opensIn({ left: countdown(leftMs) }) : t.locks.open}
      </span>
      {leftMs <= 0 && (
        <Button
          describe={t.locks.withdrawOne({ amount, ticker })}
          run={() => withdraw(context, lock, ticker)}
        >
          {t.locks.withdraw}
        </Button>
      )}
    </li>
  );
}

async function withdraw(context: PageContext, lock: LockRow, ticker: string): Promise<void> {
  const navigation = navigationNow();
  try {
    const prepared = await sessionOf(context).trading().prepareWithdraw(lock.id);
    await askToSign(context, {
      title: t.locks.title({ ticker }),
      ...{ prepared, token: { asset: assetOf(lock), ticker }, navigation },
      goes: t.sign.goesTo,
      words: t.locks.words,
      confirm: t.locks.sign,
      sent: sayAndFollow(context, t.locks.sent),
    });
  } catch (error) {
    context.notify('bad', errorText(error));
  }
}

function assetOf({ tokenPolicyId, tokenAssetName }: LockRow): string {
  return `${tokenPolicyId}.${tokenAssetName}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** The largest unit that there is, and the next. */
function countdown(leftMs: number): string {
  const seconds = Math.ceil(leftMs / 1000);
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  let left = seconds;
  const parts = UNITS.slice(first, first + 2).map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return `${count} ${t.words.units[unit]}`;
  });
  return parts.join(' ');
}
