/**
 * A tiny real market for gateway tests: counters and bars with positions, a horizon and epochs. Its
 * sources keep every guarantee of api/topics/port.ts, so tests see the real behaviour of the
 * gateway.
 */

import Type, { type TSchema } from 'typebox';
import { isRecord } from '../../../src/api/gateway/input.ts';
import type { NodeView } from '../../../src/api/gateway/port.ts';
import {
  type Changes,
  type Part,
  type Source,
  type Topic,
  topic,
} from '../../../src/api/topics/port.ts';
import type { TopicHub } from '../../../src/engine/node/foldListeners.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { Json } from '../../../src/engine/runtime/json.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';

interface Bar {
  time: number;
  value: number;
  final: boolean;
  seq: number;
}

export class Market implements NodeView {
  epoch = '1-aaaa';
  seq = 10;
  isSynced = true;
  /** Nothing is known of what changed at or before this. */
  horizon = 0;
  hub: TopicHub | null = null;
  readonly counters = new Map<string, { value: number; seq: number }>();
  readonly bars = new Map<string, Bar[]>();
  /** Bytes that every bar carries for nothing, to fill sockets. */
  padding = '';
  /** Most changes that one answer of a bar source may hold. */
  page = Number.POSITIVE_INFINITY;
  /** If set, bar sources answer this failure instead of changes. */
  failure: Failure | null = null;
  opened = 0;
  rendered = 0;
  readonly #listeners = new Set<() => void>();

  applied = () => ({ epoch: this.epoch, seq: this.seq });
  /** The position that the log reports as its end; 'away': it does not answer. */
  end: Position | 'away' | null = null;
  synced = () => this.isSynced;
  logEnd = async () => {
    if (this.end === 'away') throw new Error('there is no connection to NATS');
    return this.end;
  };
  tip = () => ({ slot: 77, hash: 'abcd', lagMs: 5 });
  onApplied(listener: () => void) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** One batch. */
  count(...names: string[]): void {
    this.seq += 1;
    for (const name of names) {
      const value = (this.counters.get(name)?.value ?? 0) + 1;
      this.counters.set(name, { value, seq: this.seq });
    }
    this.#batch(names.map((name) => `counter:${name}`));
  }

  /** One batch: the newest bar of a series changes, or ends, or a new one begins. */
  trade(series: string, value: number, options: { final?: boolean } = {}): void {
    this.seq += 1;
    const bars = this.bars.get(series) ?? [];
    this.bars.set(series, bars);
    let bar = bars.at(-1);
    if (bar === undefined || bar.final) {
      bar = { time: bars.length, value, final: false, seq: this.seq };
      bars.push(bar);
    }
    bar.value = value;
    bar.final = options.final ?? false;
    bar.seq = this.seq;
    this.#batch([`bars:${series}`]);
  }

  changeEpoch(epoch: string, seq: number): void {
    this.epoch = epoch;
    this.seq = seq;
    for (const counter of this.counters.values()) counter.seq = seq;
    this.hub?.epochChanged();
    this.#batch([]);
  }

  #batch(tags: string[]): void {
    this.hub?.applied(tags);
    for (const listener of [...this.#listeners]) listener();
  }

  topics(): Topic[] {
    return [
      this.#topic('Counter', 5, 'name', (name) => this.#counterSource(name)),
      this.#topic('SlowCounter', 100, 'name', (name) => this.#counterSource(name)),
      this.#topic('Bars', 5, 'series', (series) => this.#barSource(series)),
      this.#topic('Beat', 20, 'none', () => this.#beatSource()),
      this.#topic('Broken', 5, 'name', () => {
        throw new Error('broken on purpose');
      }),
    ];
  }

  #topic(name: string, cadenceMs: number, field: string, open: (key: string) => Source): Topic {
    const required = field === 'none' ? {} : { [field]: Type.String({ maxLength: 8 }) };
    return topic<string, TSchema, TSchema, Record<string, TSchema>>({
      name,
      summary: name,
      cadenceMs,
      periodic: name === 'Beat',
      data: Type.Object({ ...required, extra: Type.Optional(Type.Integer()) }),
      update: Type.Unknown(),
      open: (data) => {
        this.opened += 1;
        const key = isRecord(data) && typeof data[field] === 'string' ? data[field] : '';
        return key === 'refused' ? new Failure('ASSET_NOT_FOUND', 'no such counter') : open(key);
      },
    });
  }

  #counterSource(name: string): Source {
    const state = () => this.counters.get(name);
    const data = (): Json => {
      this.rendered += 1;
      return { name, value: state()?.value ?? 0 };
    };
    return {
      key: `counter:${name}`,
      tags: [`counter:${name}`],
      snapshot: data,
      since: (seq) => {
        if (seq < this.horizon) return null;
        const changed = state()?.seq ?? 0;
        return changed > seq ? [{ event: 'CounterUpdate', seq: changed, data: data() }] : [];
      },
    };
  }

  #barSource(series: string): Source {
    const json = ({ time, value, final }: Bar): Json => {
      return { series, time, value, final, padding: this.padding };
    };
    const bars = () => this.bars.get(series) ?? [];
    return {
      key: `bars:${series}`,
      tags: [`bars:${series}`],
      snapshot: () => {
        const newest = bars().at(-1);
        return newest === undefined ? null : json(newest);
      },
      since: (seq): Changes | null | Failure => {
        if (this.failure !== null) return this.failure;
        if (seq < this.horizon) return null;
        const changed = bars().filter((bar) => bar.seq > seq);
        const parts = changed
          .slice(0, this.page)
          .map((bar): Part => ({ event: 'BarsUpdate', seq: bar.seq, data: json(bar) }));
        const last = parts.at(-1)?.seq ?? this.seq;
        return { parts, completeTo: changed.length > this.page ? last : this.seq };
      },
    };
  }

  #beatSource(): Source {
    let beats = 0;
    return { key: 'beat', tags: [], snapshot: () => ({ beats: ++beats }), since: () => [] };
  }
}
