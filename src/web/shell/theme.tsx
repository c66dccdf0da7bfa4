/** Dark, until the reader chooses light or the setting of the system; the choice is remembered. */
import { signal } from '@preact/signals';
import { Icon } from '../components/icon.tsx';
import { t } from '../messages.ts';
import { readStored, writeStored } from '../stored.ts';

const KEY = 'theme';
/** In the order in which the switch goes through them. */
const CHOICES = ['dark', 'light', 'system'] as const;
type Choice = (typeof CHOICES)[number];
type Theme = Exclude<Choice, 'system'>;

const ICONS = { dark: 'moon', light: 'sun', system: 'halves' } as const;

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const choice = signal<Choice>(CHOICES.find((each) => each === readStored(KEY)) ?? 'dark');

/** The theme in force; code that draws on a canvas reads it. */
export const theme = signal<Theme>(inForce());
systemIsDark.addEventListener('change', show);
show();

/** The page first: code that follows the signal reads the page's colours. */
function show(): void {
  const next = inForce();
  document.documentElement.dataset.theme = next;
  theme.value = next;
}

function inForce(): Theme {
  if (choice.value !== 'system') return choice.value;
  return systemIsDark.matches ? 'dark' : 'light';
}

export function ThemeSwitch() {
  const next = CHOICES[(CHOICES.indexOf(choice.value) + 1) % CHOICES.length] ?? 'dark';
  const label = t.shell.toTheme[next];
  const change = () => {
    choice.value = next;
    writeStored(KEY, next);
    show();
  };
  return (
    <button
      type="button"
      class="button plain-button theme"
      aria-label={label}
      title={label}
      onClick={change}
    >
      <Icon name={ICONS[next]} />
    </button>
  );
}
