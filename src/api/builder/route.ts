import type { Answer, Route } from '../gateway/port.ts';

/** What the building routes have in common. */
export const BUILDS = {
  method: 'POST',
  tag: 'Builder',
  rate: 'build',
  needsSync: true,
  positioned: false,
  etag: false,
  gzip: false,
  exclusive: true,
} as const satisfies Partial<Route>;

export function json(value: object): Answer {
  return { body: JSON.stringify(value) };
}
