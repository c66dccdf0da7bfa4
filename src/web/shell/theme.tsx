/** Dark or light: the setting of the system, until the user chooses here; then remembered. */
import { signal } from '@preact/signals';
import { Icon } from '../components/icon.tsx';
import { t } from '../messages.ts';
import { readStored, writeStored } from '../stored.ts';

const KEY = 'theme';
type Theme = 'light' | 'dark';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** The theme in force; code that draws on a canvas reads it. */
export const theme = signal<Theme>(wanted());
dark.addEventListener('change', () => show(wanted()));
show(wanted());

/** The page first: code that follows the signal reads the page's colours. */
function show(next: Theme): void {
  document.documentElement.dataset.theme = next;
  theme.value = next;
}

function wanted(): Theme {
  const kept = readStored(KEY);
  if (kept === 'light' || kept === 'dark') return kept;
  return dark.matches ? 'dark' : 'light';
}

export function ThemeSwitch() {
  const isDark = theme.value === 'dark';
  const label = isDark ? t.shell.toLight : t.shell.toDark;
  const change = () => {
    const next = isDark ? 'light' : 'dark';
    writeStored(KEY, next);
    show(next);
  };
  return (
    <button
      type="button"
      class="button plain-button theme"
      aria-label={label}
      title={label}
      onClick={change}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  );
}
