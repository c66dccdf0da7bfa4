import Type from 'typebox';
import { tradesTag } from '../../engine/actors/streamTags.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { KeptPages } from '../schemas/keptPages.ts';
import { TradeRow, TradesQuery } from './schema.ts';
import { type TapeNode, tradesOf } from './tape.ts';

export function tradeRoutes(node: TapeNode): Route[] {
  const pages = new KeptPages(node);
  return [
    route({
      method: 'GET',
      path: '/v1/trades',
      operationId: 'trades',
      tag: 'Trades',
      summary: 'Trades of a token, newest first',
      description: 'For older ones give the last `id` as `before`: nothing is missed or repeated.',
      query: TradesQuery,
      answers: { 200: { description: 'Trades', schema: Type.Array(TradeRow) } },
      causes: ['ASSET_NOT_FOUND'],
      rate: 'read',
      needsSync: true,
      positioned: true,
      etag: true,
      gzip: false,
      handle({ query: { asset, limit, before } }) {
        const { fold } = node;
        const token = asset.toLowerCase();
        if (fold.directory.find(token) === null) {
          return new Failure('ASSET_NOT_FOUND', `No token ${token} was launched here.`);
        }
        const render = () => Buffer.from(JSON.stringify(tradesOf(fold, token, limit, before)));
        return { body: pages.of(tradesTag(token), `${limit} ${before ?? ''}`, render) };
      },
    }),
  ];
}
