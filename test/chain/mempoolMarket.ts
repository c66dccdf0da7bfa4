/**
 * A market with a mempool: transactions wait, are replaced, come into blocks or are dropped, and
 * blocks are taken back. It also lists all actions, from which `mempoolTruth` computes the status
 * of every order in a plain way.
 */
import type { PendingTransaction } from '../../src/engine/log/entry.ts';
import { chainOrder, type MarketEvent, type PlacedOrder } from '../../src/engine/market/events.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { appendBlock, appendMempool, passTo, rollBackTo } from './foldChain.ts';
import { type Action, BlockMaker, type MadeBlock } from './foldMarket.ts';
import { addressOf, beaconOf, hashOf, ownerOf, pick, START_MS } from './foldState.ts';
import { type Facts, openRefs, type Wait, waitingRefs } from './mempoolTruth.ts';

export type Step =
  | { readonly do: 'plan'; readonly actions: readonly Action[]; readonly afterMs: number }
  /** Transactions of the block that comes next begin to wait. */
  | { readonly do: 'announce'; readonly count: number }
  /** One begins to wait that no block will hold. */
  | { readonly do: 'false'; readonly user: number; readonly pool: number; readonly ends: number }
  | { readonly do: 'remove'; readonly index: number }
  /** Like `remove`, and the same entry adds another transaction with the same inputs. */
  | { readonly do: 'replace'; readonly index: number }
  | { readonly do: 'whole'; readonly keeps: number }
  | { readonly do: 'confirm' }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'pass' | 'restart' | 'crash' };

const MEMPOOL_SLOT = 999_999_999_999;

export class MempoolMarket {
  readonly maker = new BlockMaker();
  readonly counts = new Map<string, number>();
  world: FoldWorld;
  facts: Facts = { blocks: [], waiting: new Map(), dropped: new Map(), beacons: new Map() };
  /** Facts after entries, to go back to in a new epoch. */
  readonly #past = new Map<number, Facts>();
  #next: MadeBlock | null = null;
  #made = 0;

  constructor(world: FoldWorld) {
    this.world = world;
    this.#past.set(0, structuredClone(this.facts));
  }

  async perform(step: Step): Promise<void> {
    this.counts.set(step.do, (this.counts.get(step.do) ?? 0) + 1);
    if (step.do === 'plan') this.#next ??= this.maker.block(step.actions, step.afterMs);
    else if (step.do === 'announce') await this.#announce(step.count);
    else if (step.do === 'false') await this.#tell([this.#false(step.user, step.pool, step.ends)]);
    else if (step.do === 'remove') await this.#tell([], this.#waitingAt(step.index));
    else if (step.do === 'replace') await this.#replace(step.index);
    else if (step.do === 'whole') await this.#tellWhole(step.keeps);
    else if (step.do === 'confirm') await this.#confirm();
    else if (step.do === 'back') await this.#back(step.blocks);
    else if (step.do === 'pass') await passTo(this.world, this.world.fold.marketMs + 30_000);
    else if (step.do === 'restart') this.world = await this.world.restarted();
    else this.world = await this.world.crashed();
    this.#past.set(this.world.seq, structuredClone(this.facts));
  }

  /** A block of these actions, unannounced. */
  async block(actions: readonly Action[], afterMs = 20_000): Promise<void> {
    await this.perform({ do: 'plan', actions, afterMs });
    await this.perform({ do: 'confirm' });
  }

  async #announce(count: number): Promise<void> {
    const groups = Map.groupBy(this.#next?.events ?? [], ({ tx }) => tx);
    const news = [...groups].flatMap(([id, events]): PendingTransaction[] => {
      const ofOrders = events.filter(isOfOrders).map(asWaiting);
      return ofOrders.length === 0 || this.facts.waiting.has(id) ? [] : [{ id, events: ofOrders }];
    });
    await this.#tell(news.slice(0, count).filter((each) => !this.#isSpent(each)));
  }

  /** Two that wait never spend the same. */
  #isSpent({ events }: PendingTransaction): boolean {
    const ends = new Set([...this.facts.waiting.values()].flatMap((each) => endsOf(each.events)));
    return endsOf(events).some((ref) => ends.has(ref));
  }

  /** Places an order, ends one, or both; the chain never has this transaction. */
  #false(user: number, pool: number, ends: number): PendingTransaction {
    this.#made += 1;
    const id = hashOf(`false ${this.#made}`);
    const events: MarketEvent[] = [];
    const open = [...openRefs(this.facts), ...waitingRefs(this.facts)];
    const order = ends % 2 === 0 ? undefined : pick(open, ends >> 1);
    const kinds = ['executed', 'refunded', 'cancelled'] as const;
    const kind = kinds[ends % 3] ?? 'executed';
    const end: MarketEvent | null =
      order === undefined
        ? null
        : kind === 'executed'
          ? { tx: id, kind, order, received: String(ends + 7) }
          : { tx: id, kind, order };
    if (end !== null && !this.#isSpent({ id, events: [end] })) events.push(end);
    const token = pick([...this.maker.state.pools.keys()], pool);
    if (token !== undefined) events.push(placing(id, user, token, beaconOf(`${id}:0`)));
    return { id, events };
  }

  async #replace(index: number): Promise<void> {
    const gone = this.#waitingAt(index);
    const [old] = gone.map((id) => this.facts.waiting.get(id));
    if (old === undefined) return;
    this.#made += 1;
    const id = hashOf(`false ${this.#made}`);
    const events = old.events.map((event): MarketEvent => {
      if (event.kind !== 'placed') return { ...event, tx: id };
      const { token, beacon, pkh } = event.order;
      const user = [0, 1, 2, 3].find((each) => ownerOf(each) === pkh) ?? 0;
      return placing(id, user, token, beacon);
    });
    await this.#tell([{ id, events }], gone);
  }

  #waitingAt(index: number): string[] {
    const id = pick([...this.facts.waiting.keys()], index);
    return id === undefined ? [] : [id];
  }

  async #tellWhole(keeps: number): Promise<void> {
    const kept = [...this.facts.waiting].filter((_, at) => (keeps >> (at % 8)) % 2 === 1);
    const added = kept.map(([id, { events }]) => ({ id, events }));
    await this.#tell(added, [], true);
  }

  async #tell(added: PendingTransaction[], removed: string[] = [], whole = false): Promise<void> {
    const { facts } = this;
    if (added.length + removed.length === 0 && !whole) return;
    const seenMs = START_MS + this.world.seq * 1_700;
    const reasons = removed.map((id) => ({ id, reason: 'EXPIRED' }));
    await appendMempool(this.world, { seenMs, whole, added, removed: reasons });
    const there = new Set(added.map(({ id }) => id));
    const gone = whole ? [...facts.waiting.keys()].filter((id) => !there.has(id)) : removed;
    for (const id of gone) this.#forget(id);
    for (const { id, events } of added) {
      if (facts.waiting.has(id)) continue;
      facts.waiting.set(id, { events, seenMs });
      for (const event of events) {
        if (event.kind === 'placed') facts.beacons.set(event.order.beacon, event.order.ref);
      }
    }
  }

  #forget(id: string): void {
    const { waiting, dropped, blocks } = this.facts;
    const found = waiting.get(id);
    waiting.delete(id);
    const placed = blocks.flatMap(({ events }) => events.flatMap(placedIn));
    for (const order of found?.events.flatMap(placedIn) ?? []) {
      const { seq } = this.world;
      if (placed.some(({ ref }) => ref === order.ref)) continue;
      dropped.set(order.ref, { order, seq, shownMs: found?.seenMs ?? 0 });
    }
  }

  async #confirm(): Promise<void> {
    const made = this.#next ?? this.maker.block([], 1_000);
    this.#next = null;
    const { facts } = this;
    const inBlock = new Set(made.events.map(({ tx }) => tx));
    const settled = [...facts.waiting.keys()].filter((id) => inBlock.has(id));
    const spent = new Set(endsOf(made.events));
    const losers = [...facts.waiting].filter(
      ([id, { events }]) => !inBlock.has(id) && endsOf(events).some((ref) => spent.has(ref)),
    );
    const dropped = losers.map(([id]) => ({ id, reason: 'INPUT_SPENT' }));
    await appendBlock(this.world, made, { settled, dropped });
    facts.blocks.push(made);
    for (const { beacon, ref } of made.events.flatMap(placedIn)) facts.beacons.set(beacon, ref);
    for (const id of [...settled, ...losers.map(([each]) => each)]) this.#forget(id);
  }

  async #back(blocks: number): Promise<void> {
    if (this.#next !== null) this.maker.back(1);
    this.#next = null;
    const { length } = this.facts.blocks;
    if (blocks === 0 || length === 0) return;
    const { epoch } = this.world.node.applied();
    const height = this.maker.back(blocks);
    const [{ seq: toSeq } = { seq: 0 }] = [this.#pointAt(height)];
    await rollBackTo(this.world, height);
    if (this.world.node.applied().epoch !== epoch) {
      this.counts.set('epoch', (this.counts.get('epoch') ?? 0) + 1);
      const base = Math.max(...[...this.#past.keys()].filter((seq) => seq <= toSeq));
      const past = this.#past.get(base);
      if (past !== undefined) this.facts = structuredClone(past);
      return;
    }
    const gone = this.facts.blocks.splice(height);
    for (const { events, atMs } of gone) {
      for (const order of events.flatMap(placedIn)) {
        this.facts.dropped.set(order.ref, { order, seq: this.world.seq, shownMs: atMs });
      }
    }
  }

  /** Where the log stood after a block; before the first: where the chain begins in it. */
  #pointAt(height: number): { readonly seq: number } {
    const { store } = this.world.fold;
    const text = store.get('points', String(height).padStart(12, '0'));
    if (text === null) return { seq: Number(store.get('market', 'chainStart')) };
    return JSON.parse(text) as { seq: number }; // trust: a point is one
  }
}

export function isOfOrders({ kind }: MarketEvent): boolean {
  return kind === 'placed' || kind === 'executed' || kind === 'refunded' || kind === 'cancelled';
}

function endsOf(events: Wait['events']): string[] {
  return events.flatMap((event) =>
    event.kind === 'executed' || event.kind === 'refunded' || event.kind === 'cancelled'
      ? [event.order]
      : [],
  );
}

function placedIn(event: MarketEvent): PlacedOrder[] {
  return event.kind === 'placed' ? [event.order] : [];
}

function asWaiting(event: MarketEvent): MarketEvent {
  if (event.kind !== 'placed') return event;
  const at = chainOrder(MEMPOOL_SLOT, 0, Number(event.order.ref.split(':')[1]));
  return { ...event, order: { ...event.order, at } };
}

function placing(tx: string, user: number, token: string, beacon: string): MarketEvent {
  const ref = `${tx}:0`;
  const who = { address: addressOf(user), pkh: ownerOf(user), beacon };
  const sums = { amount: '5000000', feeLovelace: '1100000', depositLovelace: '1500000' };
  const terms = { worstPrice: { numerator: '3', denominator: '2' }, refundAfterMs: 9 };
  const at = chainOrder(MEMPOOL_SLOT, 1, 0);
  return { tx, kind: 'placed', order: { ref, at, token, side: 'buy', ...who, ...sums, ...terms } };
}
