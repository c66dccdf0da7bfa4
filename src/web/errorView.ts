/** Errors of the API: the message for everyone, the cause to look up. */
import { ApiError } from '../client/index.ts';
import { el } from './dom.ts';

/** One line. */
export function errorText(error: unknown): string {
  if (hasCause(error)) return `${error.cause}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export function errorBox(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  const causeLine = hasCause(error) ? el('span', { class: 'cause' }, error.cause) : null;
  return el('div', { class: 'failure', role: 'alert' }, causeLine, message);
}

/** Errors of a wallet have no cause that could be looked up. */
function hasCause(error: unknown): error is ApiError {
  return error instanceof ApiError && error.cause !== 'WALLET';
}
