/** Many spans of bars in one call, all at one position: a program loads its charts at once. */

import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Handled, Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { itemError } from '../schemas/itemError.ts';
import { type ChartKind, MARKET_CAPS, PRICES } from './chartKind.ts';
import { type HistoryAnswers, type HistoryItem, refuseHistory } from './historyAnswers.ts';
import { BULK_BARS, BULK_ITEM_LIMIT, BulkAnswer, BulkBody } from './schema.ts';

type Item = BulkBody[number];

export function bulkRoute(answers: HistoryAnswers): Route {
  return route({
    method: 'POST',
    path: '/v1/charts/bulk',
    operationId: 'chartBulk',
    tag: 'Charts',
    summary: 'Bars of many spans at once',
    description:
      'Each item as a call of history, answered in the order asked and all at one position. An ' +
      'item that cannot be answered is an `error` in its place. Costs as many reads as it has ' +
      'items: the next read waits for them.',
    body: BulkBody,
    maxBodyBytes: LIST_BODY_BYTES,
    cost: ({ body }) => body.length,
    answers: { 200: { description: 'One answer for each item', schema: BulkAnswer } },
    rate: 'read',
    needsSync: true,
    positioned: true,
    gzip: true,
    handle: ({ body }) => refuse(body) ?? answer(answers, body),
  });
}

/** Before any work: these checks do not depend on the market. */
function refuse(items: readonly Item[]): Failure | null {
  const bars = items.reduce((sum, { limit = BULK_ITEM_LIMIT }) => sum + limit, 0);
  if (bars > BULK_BARS) {
    const what = `the limits of all items are ${bars} bars together`;
    return invalid('body', `${what}, at most ${BULK_BARS}: lower them, or ask in several calls`);
  }
  for (const [index, item] of items.entries()) {
    const refused = refuseItem(item, `body.${index}`);
    if (refused !== null) return refused;
  }
  return null;
}

function refuseItem(item: Item, place: string): Failure | null {
  if (item.price === 'spot' && item.kind === 'mcap') {
    const message =
      'market caps are not served over the spot price: leave it out, or multiply spot bars by ' +
      'the supply';
    return invalid(`${place}.price`, message);
  }
  return refuseHistory(item, kindOf(item), place);
}

function answer(answers: HistoryAnswers, items: readonly Item[]): Handled {
  return answers.many(items.map(itemOf), (found) => {
    const parts = found.flatMap((each, index) => [
      Buffer.from(index === 0 ? '[' : ','),
      ...(each instanceof Failure ? [errorText(each, index)] : barsOf(each)),
    ]);
    return { body: Buffer.concat([...parts, Buffer.from(']')]) };
  });
}

function errorText(failure: Failure, index: number): Buffer {
  return Buffer.from(JSON.stringify(itemError(failure, `body.${index}`)));
}

function barsOf({ body, headers }: Answer): Uint8Array[] {
  const nextTo = headers?.['X-Next-To'];
  const end = nextTo === undefined ? '}' : `,"nextTo":${nextTo}}`;
  const bars = typeof body === 'string' ? Buffer.from(body) : body;
  return [Buffer.from('{"bars":'), bars, Buffer.from(end)];
}

function itemOf(item: Item): HistoryItem {
  return { query: { ...item, limit: item.limit ?? BULK_ITEM_LIMIT }, kind: kindOf(item) };
}

function kindOf({ kind }: Item): ChartKind {
  return kind === 'mcap' ? MARKET_CAPS : PRICES;
}
