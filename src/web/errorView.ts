/** Errors for the parts that are no components yet. */
import { el } from './dom.ts';
import { errorText } from './errorText.ts';

export { errorText };

export function errorBox(error: unknown): HTMLElement {
  return el('div', { class: 'failure', role: 'alert' }, errorText(error));
}
