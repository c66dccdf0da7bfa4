/** Dark or light: the setting of the system, until the user chooses here; then remembered. */
import { signal } from '@preact/signals';
import { el, setAttribute } from '../dom.ts';
import { icon } from '../icons.ts';
import { onChange } from '../signal.ts';

const KEY = 'upcurve.theme';
type Theme = 'light' | 'dark';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** The theme in force; what draws on a canvas asks here. */
export const theme = signal<Theme>(wanted());

function wanted(): Theme {
  const kept = stored();
  if (kept === 'light' || kept === 'dark') return kept;
  return dark.matches ? 'dark' : 'light';
}

/** Storage may be forbidden: the switch works then until the page is left. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(value: Theme): void {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // See `stored`.
  }
}

export function themeSwitch(): HTMLElement {
  const button = el('button', { type: 'button', class: 'button plain-button theme' });
  const show = () => {
    const isDark = theme.value === 'dark';
    setAttribute(document.documentElement, 'data-theme', theme.value);
    setAttribute(button, 'aria-label', isDark ? 'Switch to light' : 'Switch to dark');
    button.title = button.ariaLabel ?? '';
    button.replaceChildren(icon(isDark ? 'sun' : 'moon'));
  };
  button.addEventListener('click', () => {
    const next = theme.value === 'dark' ? 'light' : 'dark';
    store(next);
    theme.value = next;
  });
  dark.addEventListener('change', () => (theme.value = wanted()));
  onChange(theme, show);
  show();
  return button;
}
