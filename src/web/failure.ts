/** Errors as the API says them: the cause for those who look it up, the message for everybody. */
import { ApiError } from '../client/index.ts';
import { el } from './dom.ts';

/** One line. */
export function saidBy(error: unknown): string {
  if (error instanceof ApiError) return `${error.cause}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export function failureOf(error: unknown): HTMLElement {
  const [cause, message] =
    error instanceof ApiError
      ? [error.cause, error.message]
      : ['', error instanceof Error ? error.message : String(error)];
  const causeLine = cause === '' ? null : el('span', { class: 'cause' }, cause);
  return el('div', { class: 'failure', role: 'alert' }, causeLine, message);
}
