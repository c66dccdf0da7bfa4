/** The charts of a running server, asked over HTTP as a foreign client would. */
import assert from 'node:assert/strict';
import { isRecord } from '../../src/api/gateway/input.ts';
import type { PairIds } from './feeds.ts';
import type { Interval } from './model.ts';

export interface Bar {
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly baseVolume: string;
  readonly trades: number;
  readonly final: boolean;
}

export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

export interface History {
  readonly bars: Bar[];
  /** Every bar is complete at least up to it. */
  readonly position: Position;
  readonly pages: number;
}

export const ALL_TIME = { from: 0, to: 253_402_300_799 };

export interface HistoryParams extends PairIds {
  readonly interval: Interval | 'min3';
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly fill?: 'none' | 'previous';
  /** `spot`: bars that connect. */
  readonly price?: 'trade' | 'spot';
}

export function historyPath(params: HistoryParams): string {
  const {
    base,
    quote,
    interval,
    from = ALL_TIME.from,
    to = ALL_TIME.to,
    limit,
    fill,
    price,
  } = params;
  const query = new URLSearchParams({
    base,
    quote,
    resolution: interval,
    from: String(from),
    to: String(to),
  });
  if (limit !== undefined) query.set('limit', String(limit));
  if (fill !== undefined) query.set('fill', fill);
  if (price !== undefined) query.set('price', price);
  return `/v1/charts/history?${query}`;
}

/** The whole requested history, page by page along X-Next-To; null where the pair is not known. */
export async function readHistory(url: string, params: HistoryParams): Promise<History | null> {
  const bars: Bar[] = [];
  let position: Position | null = null;
  let { to = ALL_TIME.to } = params;
  for (let pages = 1; ; pages += 1) {
    const response = await fetch(`${url}${historyPath({ ...params, to })}`);
    if (response.status === 404) return null;
    const body = await response.text();
    assert.equal(response.status, 200, body);
    // The first page was read first, so it is complete up to the oldest position.
    position ??= positionOf(response);
    bars.unshift(...readBars(body, params));
    const next = response.headers.get('x-next-to');
    if (next === null) return { bars, position, pages };
    assert(Number(next) < to, 'each page ends before the one after it');
    to = Number(next);
  }
}

export function positionOf(response: Response): Position {
  const header = response.headers.get('x-position') ?? '';
  const [epoch = '', seq = ''] = header.split(':');
  assert(epoch !== '' && /^\d+$/.test(seq), `X-Position is <epoch>:<seq>, not ${header}`);
  return { epoch, seq: Number(seq) };
}

function readBars(body: string, { base, quote }: PairIds): Bar[] {
  const rows: unknown = JSON.parse(body);
  assert(Array.isArray(rows));
  return rows.map((row: unknown) => {
    assert(isRecord(row));
    const { pair, ...bar } = row;
    assert.deepEqual(pair, { base: base.toLowerCase(), quote: quote.toLowerCase() });
    return bar as unknown as Bar; // trust: callers compare it field by field
  });
}

export interface Health {
  readonly position: string;
  readonly stateHash: string;
  readonly epoch: string;
  readonly seq: number;
  readonly synced: boolean;
  readonly [field: string]: unknown;
}

export async function readHealth(url: string): Promise<Health> {
  const response = await fetch(`${url}/health/ready`);
  return (await response.json()) as Health;
}
