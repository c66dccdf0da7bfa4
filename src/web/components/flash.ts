/** Says by colour, for a moment, that a part of the page has changed. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { flash } from '../frames.ts';

/** Flashes `element` when `value` becomes another one; the first one is no news. */
export function useFlash<T>(
  element: RefObject<HTMLElement | null>,
  value: T,
  directionOf: (now: T, before: T) => 'up' | 'down' | 'same',
): void {
  const before = useRef(value);
  useEffect(() => {
    if (value === before.current) return;
    if (element.current !== null) flash(element.current, directionOf(value, before.current));
    before.current = value;
  }, [value]);
}
