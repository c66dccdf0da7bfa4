/** The content of a recorded history, counted from the market events of its blocks. */
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { refText } from '../../src/cardano/codec/output.ts';
import { effectsOf } from '../../src/cardano/ledger/mempool.ts';
import { recogniseNext } from '../../src/chain/recognise/block.ts';
import { BlockState } from '../../src/chain/recognise/knownState.ts';
import { rulesOf } from '../../src/chain/recognise/rules.ts';
import {
  type RecordedBlock,
  type RecordedHistory,
  recordedBlocks,
} from '../../src/devnet/history.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { parseSecrets } from '../../src/server/settings/secrets.ts';
import { makeLaunchpad } from '../../src/server/wiring/devnet.ts';
import { readTraderConfig } from '../../src/traders/config.ts';
import { NOTHING } from '../chain/middleMarket.ts';

const SUPPLY = 1_000_000_000n;

interface Recorded {
  /** How often each kind of event happened. */
  readonly counts: ReadonlyMap<string, number>;
  readonly openOrders: number;
  readonly openLocks: number;
  /** At each graduation, the largest share of the supply that one key held. */
  readonly largest: readonly { readonly token: string; readonly percent: number }[];
}

export function marketOf(history: RecordedHistory, refundAfterMs: number): Recorded {
  const secrets = parseSecrets(JSON.stringify(history.keys));
  const { deployment } = makeLaunchpad(secrets, readTraderConfig(), refundAfterMs);
  if (deployment.partial === null) throw new Error('a devnet has its deployment');
  const rules = rulesOf(deployment.partial);
  const market = new BlockState(NOTHING);
  const counts = new Map<string, number>();
  const [orders, locks] = [new Set<string>(), new Set<string>()];
  const largest: Recorded['largest'][number][] = [];
  const holdings = new Holdings();
  for (const block of recordedBlocks(history)) {
    const events = recogniseNext(block.slot, block.transactions, market, rules);
    holdings.apply(block);
    for (const event of events) {
      counts.set(event.kind, (counts.get(event.kind) ?? 0) + 1);
      follow(event, orders, locks);
      if (event.kind !== 'graduated') continue;
      largest.push({ token: event.token, percent: holdings.largestPercent(event.token) });
    }
  }
  return { counts, openOrders: orders.size, openLocks: locks.size, largest };
}

function follow(event: MarketEvent, orders: Set<string>, locks: Set<string>): void {
  if (event.kind === 'placed') orders.add(event.order.ref);
  else if (event.kind === 'executed') orders.delete(event.order);
  else if (event.kind === 'refunded') orders.delete(event.order);
  else if (event.kind === 'cancelled') orders.delete(event.order);
  else if (event.kind === 'locked') locks.add(event.lock.ref);
  else if (event.kind === 'withdrawn') locks.delete(event.lock);
}

interface Held {
  readonly owner: string;
  readonly assets: ReadonlyMap<string, bigint>;
}

/** Tokens at addresses of keys. */
class Holdings {
  readonly #outputs = new Map<string, Held>();

  apply({ transactions }: RecordedBlock): void {
    for (const { spent, made } of transactions.map(effectsOf)) {
      for (const ref of spent) this.#outputs.delete(refText(ref));
      for (const { ref, output } of made) {
        const payment = parseAddress(output.address)?.payment;
        if (payment?.kind !== 'key') continue;
        this.#outputs.set(refText(ref), { owner: payment.hash, assets: output.value.assets });
      }
    }
  }

  largestPercent(token: string): number {
    const byOwner = new Map<string, bigint>();
    for (const { owner, assets } of this.#outputs.values()) {
      byOwner.set(owner, (byOwner.get(owner) ?? 0n) + (assets.get(token) ?? 0n));
    }
    const most = [...byOwner.values()].reduce((a, b) => (a > b ? a : b), 0n);
    return Number((most * 10_000n) / SUPPLY) / 100;
  }
}
