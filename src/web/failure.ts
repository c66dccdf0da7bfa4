/** Errors as the API says them: the cause for those who look it up, the message for everybody. */
import { ApiError } from '../client/index.ts';
import { el } from './dom.ts';

/** One line. */
export function saidBy(error: unknown): string {
  if (hasCause(error)) return `${error.cause}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export function failureOf(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  const causeLine = hasCause(error) ? el('span', { class: 'cause' }, error.cause) : null;
  return el('div', { class: 'failure', role: 'alert' }, causeLine, message);
}

/** What a wallet says needs no cause beside it: nobody looks it up. */
function hasCause(error: unknown): error is ApiError {
  return error instanceof ApiError && error.cause !== 'WALLET';
}
