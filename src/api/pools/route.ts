import type { Answer, Route } from '../gateway/port.ts';

/** Settings that the routes of pools share. */
export const READS = {
  tag: 'Pools',
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: false,
  gzip: false,
} as const satisfies Partial<Route>;

export const MAX_ON_PAGE = 100;

/** `items` is a JSON array. */
export function counted(count: number, items: string): Answer {
  return { body: Buffer.from(`{"count":${count},"items":${items}}`) };
}
