/** Numbers that move: prices that flash, changes with a sign, ages that tick. */
import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Ticker } from '../../client/types.ts';
import type { Window } from '../../engine/market/windows.ts';
import { money } from '../fiat.ts';
import { age, columnPrice, localized, shortPercent } from '../format.ts';
import { flash } from '../frames.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';

/** A decimal string; flashes up or down when it becomes another one. */
export function Price(props: { readonly value: string; readonly digits?: number }) {
  const { value, digits = 4 } = props;
  const element = useRef<HTMLSpanElement>(null);
  const before = useRef(value);
  useEffect(() => {
    const direction = Number(value) > Number(before.current) ? 'up' : 'down';
    if (value !== before.current && element.current !== null) flash(element.current, direction);
    before.current = value;
  }, [value]);
  return (
    <span ref={element} class="price" title={`${localized(value)} ADA`}>
      {money(value, (text) => columnPrice(text, digits))}
    </span>
  );
}

interface PercentProps {
  /** A decimal string; null where there is nothing to compare with. */
  readonly value: string | null;
  /** It counts from the launch, which lies within the span. */
  readonly isSinceLaunch?: boolean;
}

export function Percent({ value, isSinceLaunch = false }: PercentProps) {
  if (value === null) return <span class="dim">–</span>;
  const bare = value.replace('-', '');
  const isFlat = Number(bare) === 0;
  const isDown = !isFlat && value.startsWith('-');
  const sign = isFlat ? '' : isDown ? '▼' : '▲';
  return (
    <span
      class={`${isFlat ? 'dim' : isDown ? 'down' : 'up'} ${isSinceLaunch ? 'since-launch' : ''}`}
      title={
        isSinceLaunch ? t.home.sinceLaunch({ percent: localized(value) }) : `${localized(value)} %`
      }
    >
      <span aria-hidden="true" class="sign">
        {sign}
      </span>
      {isDown && <span class="unseen">−</span>}
      {shortPercent(bare)}%
    </span>
  );
}

/** The price change of a ticker in a window. */
export function Change({ ticker, window }: { readonly ticker: Ticker; readonly window: Window }) {
  const isSinceLaunch = ticker.changeBasis[window] !== undefined;
  return <Percent value={ticker[`change${window}`]} isSinceLaunch={isSinceLaunch} />;
}

interface AgeProps {
  readonly since: number;
  /** "3 s ago" and not "3 s", where no heading says what it is. */
  readonly hasAgo?: boolean;
}

/** How long ago, in market time: each second a text at most, nothing is drawn again. */
export function Age({ since, hasAgo = false }: AgeProps) {
  const { time } = usePage();
  const text = useMemo(
    () =>
      computed(() => {
        const past = age(time.seconds.value - since);
        return hasAgo ? t.words.ago({ age: past }) : past;
      }),
    [since],
  );
  return <span>{text}</span>;
}
