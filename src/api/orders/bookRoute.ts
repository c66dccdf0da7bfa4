/** The order book of a token over HTTP. */
import { Failure } from '../../engine/runtime/errors.ts';
import type { Position } from '../../engine/runtime/position.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import type { Books } from './book.ts';
import { OrderBookAnswer, OrderBookQuery } from './schema.ts';

export function orderBookRoute(node: { applied(): Position }, books: Books): Route {
  return route({
    tag: 'Orders',
    rate: 'read',
    needsSync: true,
    positioned: true,
    method: 'GET',
    path: '/v1/order-book',
    operationId: 'orderBook',
    summary: 'Amounts that the pool of a token trades at each price, and the open orders',
    description:
      'Bids and asks are the pool alone, on a grid of prices, so they never cross: an ask holds ' +
      'the tokens that can be bought until the spot price, percent fees counted, reaches the ' +
      'level. `total` equals the `/quote` for all tokens up to a level, if its `pool` is the ' +
      'same output (a quote knows the mempool). Open orders stand beside them and are no ' +
      'liquidity for takers.',
    query: OrderBookQuery,
    answers: { 200: { description: 'The book', schema: OrderBookAnswer } },
    causes: ['ASSET_NOT_FOUND', 'PROTOCOL_CONFIG'],
    etag: true,
    handle: ({ query: { asset, digits, levels } }) => {
      const token = asset.toLowerCase();
      const book = books.of(token, digits, levels);
      if (book instanceof Failure) return book;
      if (book === null) {
        return new Failure('ASSET_NOT_FOUND', `No token ${token} was launched here.`);
      }
      const { epoch, seq } = node.applied();
      return jsonAnswer({ epoch, seq, ...book });
    },
  });
}
