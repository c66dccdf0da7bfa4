/** Numbers that move: prices that flash, ages that tick. */
import { useEffect, useRef } from 'preact/hooks';
import { age, subscriptZeros } from '../format.ts';
import { flash } from '../frames.ts';
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
    <span ref={element} class="price" title={`${value} ADA`}>
      {subscriptZeros(value, digits)}
    </span>
  );
}

/** How long ago, in market time; the one part of a row that changes each second. */
export function Age({ since }: { readonly since: number }) {
  const { time } = usePage();
  return <span>{age(time.seconds.value - since)}</span>;
}
