import { STATUS_CODES } from 'node:http';

/** Status code and reason phrase, as on the first line of a response. */
export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}
