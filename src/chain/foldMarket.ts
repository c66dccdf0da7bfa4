/** The market that recognition may look at, as the fold's rows know it at the applied position. */
import {
  type LockRecord,
  type OrderRecord,
  type PoolRecord,
  readRecord,
} from '../engine/store/records.ts';
import type { StateStore } from '../engine/store/state.ts';
import type { KnownMarket } from './recognise/knownMarket.ts';

export function foldMarket(store: StateStore): KnownMarket {
  return {
    pool(token) {
      const text = store.get('pools', token);
      return text === null ? null : readRecord<PoolRecord>(text);
    },
    order(ref) {
      const text = store.get('orders', ref);
      const order = text === null ? null : readRecord<OrderRecord>(text);
      return order?.state === 'open' ? order : null;
    },
    lock(ref) {
      const text = store.get('locks', ref);
      const lock = text === null ? null : readRecord<LockRecord>(text);
      return lock?.withdrawnBy === null ? lock : null;
    },
    isWatched: (ref) => store.get('outputs', ref) !== null,
  };
}
