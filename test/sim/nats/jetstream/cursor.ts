/** Where a consumer is in a copy of a stream, and which messages it passes on. */
import type { ConsumerConfig } from './consumer.ts';
import type { StoredMessage, StreamStore } from './store.ts';

export class Cursor {
  /** The first sequence that was not passed. */
  next: number;
  readonly #config: ConsumerConfig;
  readonly #filters: readonly string[];
  /** The store of the copy, which may be replaced. */
  readonly #store: () => StreamStore;

  constructor(config: ConsumerConfig, store: () => StreamStore) {
    this.#config = config;
    this.#filters = config.filter_subjects ?? [config.filter_subject ?? '>'];
    this.#store = store;
    this.next = this.#start();
  }

  peek(): StoredMessage | null {
    const store = this.#store();
    let next: StoredMessage | null = null;
    for (const filter of this.#filters) {
      const found = store.nextOf(filter, this.next);
      if (found !== null && (next === null || found.seq < next.seq)) next = found;
    }
    if (next === null || this.#config.deliver_policy !== 'last_per_subject') return next;
    // A later message of the subject stands for this one.
    if (store.lastOf(next.subject)?.seq === next.seq) return next;
    this.next = next.seq + 1;
    return this.peek();
  }

  pending(): number {
    const store = this.#store();
    if (this.#config.deliver_policy === 'last_per_subject') {
      const subjects = this.#filters.flatMap((filter) => store.subjects(filter));
      return subjects.filter(([name]) => (store.lastOf(name)?.seq ?? 0) >= this.next).length;
    }
    let count = 0;
    for (const filter of this.#filters) count += store.countFrom(filter, this.next);
    return count;
  }

  #start(): number {
    const { deliver_policy = 'all', opt_start_seq = 1, opt_start_time = '' } = this.#config;
    const store = this.#store();
    const first = Math.max(1, store.first);
    switch (deliver_policy) {
      case 'by_start_sequence':
        return Math.max(first, opt_start_seq);
      case 'new':
        return store.last + 1;
      case 'last':
        return Math.max(0, ...this.#filters.map((one) => store.lastOf(one)?.seq ?? 0)) || first;
      case 'by_start_time': {
        const fromMs = Date.parse(opt_start_time);
        let start = store.last + 1;
        for (const { seq, timeMs } of store.newest()) if (timeMs >= fromMs) start = seq;
        return start;
      }
      default:
        return first;
    }
  }
}
