/**
 * Trust data of a token by the definitions of protocol.md 10.2, computed from all events of the
 * remaining blocks.
 */
import type { MarketEvent } from '../../src/engine/market/events.ts';
import type { MadeBlock } from './foldMarket.ts';
import { nearest } from './walletTruth.ts';

type Of<Kind extends MarketEvent['kind']> = MarketEvent & { readonly kind: Kind };

/** Blocks behind the launch's whose buys are snipers' (10.2). */
const SNIPED = 3;

function of<Kind extends MarketEvent['kind']>(events: readonly MarketEvent[], kind: Kind) {
  return events.filter((event): event is Of<Kind> => event.kind === kind);
}

function sum(amounts: Iterable<bigint>): bigint {
  return [...amounts].reduce((all, one) => all + one, 0n);
}

/** Percent with 2 decimals, half even. */
function percent(part: bigint, whole: bigint): string {
  if (whole === 0n) return '0.00';
  const text = String(nearest(part * 10_000n, whole)).padStart(3, '0');
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}

/** The answer of `/v1/tokens/insights` without the author's other launches. */
export function trustTruth(blocks: readonly MadeBlock[], token: string) {
  const events = blocks.flatMap((block) => block.events);
  const [launch] = of(events, 'launched').filter(({ pool }) => pool.token === token);
  if (launch === undefined) throw new Error(`${token} was launched`);
  const { author, supply } = launch.pool;
  const moved = of(events, 'moved').filter((each) => each.token === token);
  const outside = BigInt(supply) - BigInt(moved.at(-1)?.to.y ?? supply);
  const held = holdings(events, token);
  const share = (tokens: bigint) => percent(tokens, outside);
  const group = (keys: ReadonlySet<string>) => ({
    keys: keys.size,
    percent: share(sum([...keys].map((key) => held.get(key) ?? 0n))),
  });
  const buyers = (from: number, to: number) => {
    const early = blocks.filter(({ height }) => height >= from && height <= to);
    const placed = early.flatMap((block) => of(block.events, 'placed'));
    const executed = new Set(of(events, 'executed').map(({ order }) => order));
    return new Set(
      placed
        .map(({ order }) => order)
        .filter((order) => order.token === token && order.side === 'buy')
        .filter(({ ref, pkh }) => executed.has(ref) && pkh !== author.pkh)
        .map(({ pkh }) => pkh),
    );
  };
  const height = blocks.find((block) => block.events.includes(launch))?.height ?? 0;
  const bundlers = buyers(0, height);
  const snipers = buyers(height + 1, height + SNIPED);
  for (const key of bundlers) snipers.delete(key);
  const sizes = [...held.values()].sort((a, b) => Number(b - a));
  const locked = sum(unspentLocks(events, token).map(({ lock }) => BigInt(lock.amount)));
  return {
    holders: held.size,
    top10Percent: share(sum(sizes.slice(0, 10))),
    largestPercent: share(sizes[0] ?? 0n),
    lockedPercent: share(locked),
    author: {
      percent: share(held.get(author.pkh) ?? 0n),
      sold: String(soldBy(events, token, author.pkh)),
    },
    bundlers: group(bundlers),
    snipers: group(snipers),
    insiders: group(insidersOf(events, launch)),
  };
}

/** Confirmed outputs and own open sell orders, by payment key, or address without one. */
function holdings(events: readonly MarketEvent[], token: string): Map<string, bigint> {
  const spent = new Set(of(events, 'spent').map(({ ref }) => ref));
  const held = new Map<string, bigint>();
  const add = (holder: string, tokens: bigint) => {
    if (tokens > 0n) held.set(holder, (held.get(holder) ?? 0n) + tokens);
  };
  for (const { ref, isOurs, pkh, address, assets } of of(events, 'made')) {
    if (!isOurs && !spent.has(ref)) add(pkh ?? address, BigInt(assets[token] ?? 0));
  }
  for (const { order } of of(events, 'placed')) {
    const isOpen = order.token === token && order.side === 'sell' && !spent.has(order.ref);
    if (isOpen) add(order.pkh, BigInt(order.amount));
  }
  return held;
}

function unspentLocks(events: readonly MarketEvent[], token: string) {
  const withdrawn = new Set(of(events, 'withdrawn').map(({ lock }) => lock));
  return of(events, 'locked').filter(
    ({ lock }) => lock.token === token && !withdrawn.has(lock.ref),
  );
}

function soldBy(events: readonly MarketEvent[], token: string, pkh: string): bigint {
  const executed = new Set(of(events, 'executed').map(({ order }) => order));
  const sells = of(events, 'placed').map(({ order }) => order);
  const own = sells.filter((each) => each.pkh === pkh && each.token === token);
  const filled = own.filter(({ ref, side }) => side === 'sell' && executed.has(ref));
  return sum(filled.map(({ amount }) => BigInt(amount)));
}

/**
 * Each transaction by itself: holdings before and after it, without its fills and unlocked tokens.
 */
function insidersOf(events: readonly MarketEvent[], { tx, pool }: Of<'launched'>): Set<string> {
  const { token, author } = pool;
  const insiders = new Set<string>();
  const orders = new Map(of(events, 'placed').map(({ order }) => [order.ref, order]));
  const locks = new Map(of(events, 'locked').map(({ lock }) => [lock.ref, lock]));
  const made = new Map(of(events, 'made').map((event) => [event.ref, event]));
  for (const [id, own] of Map.groupBy(events, (event) => event.tx)) {
    const inputs = of(own, 'spent').map(({ ref }) => ref);
    const gained = holdings(
      own.filter(({ kind }) => kind !== 'spent'),
      token,
    );
    const lost = holdings(
      inputs.flatMap((ref): MarketEvent[] => {
        const [output, order] = [made.get(ref), orders.get(ref)];
        if (order !== undefined) return [{ tx: id, kind: 'placed', order }];
        return output === undefined ? [] : [output];
      }),
      token,
    );
    const gain = (pkh: string) => (gained.get(pkh) ?? 0n) - (lost.get(pkh) ?? 0n);
    const fills = of(own, 'executed').flatMap((event) => orders.get(event.order) ?? []);
    const bought = (pkh: string) =>
      sum(
        of(own, 'executed')
          .filter(({ order }) => orders.get(order)?.side === 'buy')
          .filter(({ order }) => orders.get(order)?.pkh === pkh)
          .filter(({ order }) => orders.get(order)?.token === token)
          .map(({ received }) => BigInt(received)),
      );
    const unlocked = (pkh: string) =>
      sum(
        of(own, 'withdrawn')
          .flatMap(({ lock }) => locks.get(lock) ?? [])
          .filter((lock) => lock.owner === pkh && lock.token === token)
          .map(({ amount }) => BigInt(amount)),
      );
    const sold = sum(
      fills
        .filter((order) => order.pkh === author.pkh && order.side === 'sell')
        .filter((order) => order.token === token)
        .map(({ amount }) => BigInt(amount)),
    );
    if (id !== tx && gain(author.pkh) + sold >= 0n) continue;
    const keys = of(events, 'made').flatMap(({ pkh }) => pkh ?? []);
    const others = new Set([...keys, ...[...orders.values()].map(({ pkh }) => pkh)]);
    others.delete(author.pkh);
    for (const pkh of others) if (gain(pkh) > bought(pkh) + unlocked(pkh)) insiders.add(pkh);
  }
  return insiders;
}
