/**
 * The strip below a list that has more: how much of it is shown, and a button for more. It takes
 * its height from the list, so that nothing below moves when it appears; once there, it stays,
 * because the focus may be in it.
 */
import { useSignal } from '@preact/signals';
import type { RefObject, TargetedEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { errorText } from '../errorText.ts';
import { usePage, useRowsInSteps } from '../page.tsx';

const ROOM_STEP = 5;

/**
 * Rows that a list has room for: in steps, so that a new row does not always move the elements
 * below the list.
 */
export function roomFor(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROOM_STEP)) * ROOM_STEP;
}

const ROW_PX = 30;
/** Rows drawn at first, and again as the reader comes near their end: a tall window has more. */
const REACH = Math.max(30, Math.ceil(innerHeight / ROW_PX));
const NEAR_PX = 300;

/** How many rows of a list that scrolls are drawn: rows out of view are not drawn. */
export function useReach(length: number) {
  const reach = useSignal(REACH);
  const rows = useRowsInSteps(Math.min(length, reach.value));
  return {
    rows,
    onScroll({ currentTarget }: TargetedEvent<HTMLElement>): void {
      const { scrollHeight, scrollTop, clientHeight } = currentTarget;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      if (isNear && reach.value < length) reach.value += REACH;
    },
    all(): void {
      reach.value = Number.POSITIVE_INFINITY;
    },
  };
}

interface MoreProps {
  readonly list: RefObject<HTMLElement | null>;
  /** Label of the button: `Older trades`. */
  readonly label: string;
  /** How much is shown. */
  readonly words: string;
  readonly hasMore: boolean;
  /** Loads more rows; an error is shown, and the next press tries again. */
  readonly load: () => Promise<void>;
}

export function More({ list, label, words, hasMore, load }: MoreProps) {
  const { notify } = usePage();
  const isBusy = useSignal(false);
  const isThere = useRef(false);
  isThere.current ||= hasMore;
  /** The last row before more was asked for. */
  const last = useRef<Element | null>(null);
  useEffect(() => {
    const next = last.current?.nextElementSibling;
    if (list.current === null || !(next instanceof HTMLElement)) return;
    last.current = null;
    list.current.scrollTop = next.offsetTop - list.current.offsetTop;
  });
  const press = async () => {
    if (isBusy.value || !hasMore) return;
    isBusy.value = true;
    last.current = list.current?.lastElementChild ?? null;
    try {
      await load();
    } catch (error) {
      last.current = null;
      notify('bad', errorText(error));
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <footer class="more" hidden={!isThere.current}>
      <span class="dim small">{words}</span>
      {/* Not `disabled`, which would throw the focus away. */}
      <button
        type="button"
        class="button"
        aria-busy={isBusy.value}
        aria-disabled={!hasMore}
        onClick={press}
      >
        {label}
      </button>
    </footer>
  );
}
