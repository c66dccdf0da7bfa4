/** A month of days, with those marked on which locks open; it begins at the first of them. */
import { useSignal } from '@preact/signals';
import { locale } from '../language.ts';
import { t } from '../messages.ts';

const WEEK = 7;
const MONTH = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' });
const WEEKDAY = new Intl.DateTimeFormat(locale, { weekday: 'narrow' });
/** A Monday, 00:00 of the reader's time. */
const MONDAY = new Date(2024, 0, 1);

interface Month {
  readonly year: number;
  readonly month: number;
}

/** `days`: Unix ms, in any order, at least one. */
export function Calendar({ days }: { readonly days: readonly number[] }) {
  const shown = useSignal<Month>(monthOf(Math.min(...days)));
  const { year, month } = shown.value;
  const first = new Date(year, month, 1);
  const turn = (by: number) => {
    shown.value = monthOf(new Date(year, month + by, 1).getTime());
  };
  return (
    <div class="calendar">
      <header>
        <button
          type="button"
          class="button"
          aria-label={t.locks.monthBefore}
          onClick={() => turn(-1)}
        >
          ‹
        </button>
        <strong aria-live="polite">{MONTH.format(first)}</strong>
        <button
          type="button"
          class="button"
          aria-label={t.locks.monthAfter}
          onClick={() => turn(1)}
        >
          ›
        </button>
      </header>
      <Days year={year} month={month} days={days} />
    </div>
  );
}

function Days({ year, month, days }: Month & { readonly days: readonly number[] }) {
  const count = new Date(year, month + 1, 0).getDate();
  // Weeks begin on Monday.
  const before = (new Date(year, month, 1).getDay() + WEEK - 1) % WEEK;
  const marked = new Map<number, number>();
  for (const ms of days) {
    const at = new Date(ms);
    if (at.getFullYear() !== year || at.getMonth() !== month) continue;
    marked.set(at.getDate(), (marked.get(at.getDate()) ?? 0) + 1);
  }
  return (
    <ol>
      {Array.from({ length: WEEK }, (_, index) => (
        <li key={`day ${index}`} class="dim small" aria-hidden="true">
          {WEEKDAY.format(new Date(MONDAY.getTime() + index * 86_400_000))}
        </li>
      ))}
      {Array.from({ length: before }, (_, index) => (
        <li key={`before ${index}`} aria-hidden="true" />
      ))}
      {Array.from({ length: count }, (_, index) => index + 1).map((day) => {
        const opens = marked.get(day) ?? 0;
        return (
          <li
            key={day}
            class={opens > 0 ? 'marked' : undefined}
            aria-label={opens > 0 ? t.locks.opensOn(opens, { day }) : undefined}
            title={opens > 0 ? t.locks.opensOn(opens, { day }) : undefined}
          >
            {day}
          </li>
        );
      })}
    </ol>
  );
}

function monthOf(ms: number): Month {
  const at = new Date(ms);
  return { year: at.getFullYear(), month: at.getMonth() };
}
