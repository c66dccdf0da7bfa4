/**
 * Short messages at the edge, read out politely. A failure stays until it is dismissed; a message
 * replaces another with the same key, so that the life of an order is one message.
 */
import { signal } from '@preact/signals';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Notice } from '../context.ts';
import { t } from '../messages.ts';

const STAY_MS = 6_000;
const MOST = 4;

interface Toast extends Notice {
  readonly id: number;
}

const toasts = signal<readonly Toast[]>([]);
let made = 0;

export function showToast(clock: Clock, notice: Notice): void {
  made += 1;
  const id = made;
  const isSame = ({ key, text }: Toast) =>
    notice.key === undefined ? text === notice.text : key === notice.key;
  // The same again, as when a server comes and goes, does not pile up.
  const others = toasts.value.filter((each) => !isSame(each));
  toasts.value = [...others, { ...notice, id }].slice(-MOST);
  if (notice.kind === 'bad' || notice.isWaiting === true) return;
  clock.after(STAY_MS, () => dismiss(id));
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id);
}

/** The newest goes. */
export function dismissToast(): void {
  toasts.value = toasts.value.slice(0, -1);
}

export function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite" aria-label={t.shell.notices}>
      {toasts.value.map(({ id, kind, text, links = [] }) => (
        <div key={id} class={`toast ${kind}`}>
          <span>
            {text}
            {links.map(({ href, label }) => [
              ' ',
              <a
                key={href}
                href={href}
                {...(href.startsWith('#') ? {} : { target: '_blank', rel: 'noopener noreferrer' })}
              >
                {label}
              </a>,
            ])}
          </span>
          <button type="button" aria-label={t.shell.dismiss} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
