/** Locking tokens: amount, end and stages, with the table of what opens when. */
import { type Signal, signal } from '@preact/signals';
import { MAX_STAGES } from '../../engine/runtime/limits.ts';
import { Button } from '../components/button.tsx';
import { ask, navigationNow } from '../components/dialog.tsx';
import { AmountField, Field, TextField } from '../components/field.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { moment } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { amountHeld } from '../wallet/connectedWallet.ts';
import { sessionOf } from '../wallet/session.ts';
import { plainAmount, readAmount, shownAmount } from './amount.ts';
import type { Token } from './quoteTerms.ts';
import { askToSign, sayAndFollow } from './review.tsx';
import { unlockSchedule } from './unlockSchedule.ts';

const DAY_MS = 86_400_000;
const LATER = [
  ['day', DAY_MS],
  ['month', 30 * DAY_MS],
  ['year', 365 * DAY_MS],
] as const;
const STAGES = Array.from({ length: MAX_STAGES }, (_, index) => index + 1);

/** As typed. */
interface Draft {
  readonly amount: string;
  readonly end: string;
  readonly stages: number;
}

export function LockButton({ token }: { readonly token: Token }) {
  const context = usePage();
  const held = amountHeld(sessionOf(context).balance.value, token.asset);
  return (
    <div class="trade-lock" hidden={held === 0n}>
      <Button run={() => lockTokens(context, token)}>{t.lock.open}</Button>
      <p class="hint">{t.lock.openMeans}</p>
    </div>
  );
}

async function lockTokens(context: PageContext, token: Token): Promise<void> {
  const session = sessionOf(context);
  const end = localText(context.clock.nowMs() + 30 * DAY_MS);
  const draft = signal<Draft>({ amount: '', end, stages: 1 });
  await ask({
    title: t.lock.title({ what: token.ticker }),
    content: <LockForm token={token} draft={draft} />,
    confirm: t.lock.review,
    async run() {
      const navigation = navigationNow();
      const { amount, lockEndMs, stages } = read(draft.value, context.clock.nowMs());
      if (typeof amount === 'string') throw new Error(amount);
      if (typeof lockEndMs === 'string') throw new Error(lockEndMs);
      const request = { assetId: token.asset, amount, lockEndMs, stages };
      const prepared = await session.trading().prepareLock(request);
      return askToSign(context, {
        title: t.lock.title({ what: `${shownAmount(amount, 0)} ${token.ticker}` }),
        above: <Unlocks draft={draft.value} />,
        ...{ prepared, token, navigation },
        goes: t.lock.goes,
        words: t.lock.words,
        confirm: t.lock.sign,
        sent: sayAndFollow(context, t.lock.sent),
      });
    },
    late: (error) => context.notify('bad', errorText(error)),
  });
}

function LockForm({ token, draft }: { readonly token: Token; readonly draft: Signal<Draft> }) {
  const context = usePage();
  const held = amountHeld(sessionOf(context).balance.value, token.asset);
  const { amount, end, stages } = draft.value;
  const now = read(draft.value, context.clock.nowMs());
  const change = (part: Partial<Draft>) => {
    draft.value = { ...draft.value, ...part };
  };
  const isTyped = amount.trim() !== '';
  return (
    <div class="lock-form">
      <AmountField
        label={t.lock.amount}
        unit={token.ticker}
        hint={t.trade.youHave({ amount: shownAmount(held, 0) })}
        value={amount}
        input={(text) => change({ amount: text })}
        problem={isTyped && typeof now.amount === 'string' ? now.amount : null}
      />
      <div class="quick">
        <Button run={() => change({ amount: plainAmount(held, 0) })}>{t.lock.all}</Button>
      </div>
      <TextField
        label={t.lock.until}
        hint={t.lock.untilMeans}
        value={end}
        input={(text) => change({ end: text })}
        attributes={{ type: 'datetime-local', step: 1 }}
        problem={typeof now.lockEndMs === 'string' ? now.lockEndMs : null}
      />
      <div class="quick">
        {LATER.map(([name, laterMs]) => (
          <Button
            key={name}
            run={() => change({ end: localText(context.clock.nowMs() + laterMs) })}
          >
            {t.lock.later[name]}
          </Button>
        ))}
      </div>
      <Stages chosen={stages} choose={(count) => change({ stages: count })} />
      <div class="unlocks">
        <Unlocks draft={draft.value} />
      </div>
    </div>
  );
}

interface StagesProps {
  readonly chosen: number;
  readonly choose: (count: number) => void;
}

function Stages({ chosen, choose }: StagesProps) {
  return (
    <Field label={t.lock.stages} hint={t.lock.stagesMeans}>
      {(bound) => (
        <select
          {...bound}
          value={chosen}
          onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
        >
          {STAGES.map((count) => (
            <option key={count} value={count}>
              {count === 1 ? t.lock.atOnce : count}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The unlock times and amounts, from the filled fields. */
function Unlocks({ draft }: { readonly draft: Draft }) {
  const nowMs = usePage().clock.nowMs();
  const { amount, lockEndMs, stages } = read(draft, nowMs);
  const isWhole = typeof amount === 'bigint' && typeof lockEndMs === 'number';
  const unlocks = isWhole ? unlockSchedule(amount, stages, nowMs, lockEndMs) : [];
  return (
    <table>
      <caption class="unseen">{t.lock.opens}</caption>
      <thead>
        <tr>
          {t.lock.columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {unlocks.map(({ stage, atMs, amount: part }) => (
          <tr key={stage}>
            <td>{stage}</td>
            <td>{moment(atMs / 1000)}</td>
            <td class="num">{shownAmount(part, 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Each field as a value, or its error in words. */
function read({ amount, end, stages }: Draft, nowMs: number) {
  const atMs = end === '' ? Number.NaN : new Date(end).getTime();
  const lockEndMs = Number.isNaN(atMs) ? t.lock.noEnd : atMs <= nowMs ? t.lock.passed : atMs;
  return { amount: readAmount(amount, 0), lockEndMs, stages } as const;
}

/** As `datetime-local` wants it: the reader's own time, to the second. */
function localText(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}
