/** The open-order book from the blocks that are left, the plain way. */
import assert from 'node:assert/strict';
import { SUPPLY } from '../../chain/foldState.ts';
import { capAfter } from '../../chain/foldTruth.ts';
import { chainOf, type Facts, openRefs } from '../../chain/mempoolTruth.ts';
import { adaPrice, ceiling, compareRatios, type Ratio, sum } from '../../e2e/api/exact.ts';

const LEVELS = 100;

export function bookOf(facts: Facts, token: string) {
  const { orders } = chainOf(facts);
  const open = openRefs(facts).flatMap((ref) => {
    const order = orders.get(ref)?.order;
    return order?.token === token ? [order] : [];
  });
  const side = (wanted: 'buy' | 'sell') => {
    const mine = open.filter((order) => order.side === wanted);
    const levels: { price: Ratio; tokens: bigint[] }[] = [];
    for (const { worstPrice, amount } of mine) {
      const [n, d] = [BigInt(worstPrice.numerator), BigInt(worstPrice.denominator)];
      const price = wanted === 'buy' ? { n: d, d: n } : { n, d };
      const tokens = wanted === 'buy' ? ceiling({ n: BigInt(amount) * n, d }) : BigInt(amount);
      const level = levels.find((each) => compareRatios(each.price, price) === 0);
      if (level === undefined) levels.push({ price, tokens: [tokens] });
      else level.tokens.push(tokens);
    }
    const sign = wanted === 'buy' ? -1 : 1;
    levels.sort((a, b) => sign * compareRatios(a.price, b.price));
    return levels.slice(0, LEVELS).map(({ price, tokens }) => [adaPrice(price), `${sum(tokens)}`]);
  };
  const moved = facts.blocks
    .flatMap(({ events }) => events)
    .flatMap((event) => (event.kind === 'moved' && event.token === token ? [event.to] : []));
  const [after] = moved.slice(-1);
  assert(after !== undefined, 'a token lies in a pool');
  const { top, bottom } = capAfter({ after });
  const spot = adaPrice({ n: top, d: bottom * SUPPLY });
  return { bids: side('buy'), asks: side('sell'), spot };
}
