/** Reads a stream as a follower does, and holds it to the port: its events form one chain. */
import assert from 'node:assert/strict';
import type { Block, ChainEvent, ChainSource, ChainStream } from '../../../src/chain/port.ts';
import type { FakeChain } from '../../support/ogmios/chain.ts';
import type { Scope } from '../../support/server.ts';
import { until } from '../../support/until.ts';

type MempoolEvent = Extract<ChainEvent, { kind: 'mempool' }>;

export class StreamModel {
  readonly blocks: Block[] = [];
  /** Ids of pending transactions, in order. */
  readonly waiting = new Set<string>();
  readonly removed: MempoolEvent['removed'][number][] = [];
  backs = 0;
  wholes = 0;
  readonly #stream: ChainStream;
  #reading: Promise<void> = Promise.resolve();
  #isClosed = false;
  #failure: unknown = null;
  #mustBeWhole = true;

  private constructor(stream: ChainStream) {
    this.#stream = stream;
  }

  static async open(
    scope: Scope,
    source: ChainSource,
    points: Parameters<ChainSource['open']>[0] = [],
  ): Promise<StreamModel> {
    const stream = await source.open(points);
    assert.ok(stream, 'one of the points is on the chain');
    const model = new StreamModel(stream);
    model.#reading = model.#read(stream, points.length > 0).catch((error: unknown) => {
      model.#failure = error;
    });
    scope.after(() => model.close());
    return model;
  }

  /** Call it before the source stops; otherwise the end of the test closes the stream. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#stream.close();
    await this.#reading;
    assert.equal(this.#failure, null);
  }

  get newest(): Block | undefined {
    return this.blocks.at(-1);
  }

  /** Waits until the stream has the fake's chain, and compares every block. */
  async same(chain: FakeChain, what = 'the stream is at the tip'): Promise<void> {
    const boundaries = () => chain.blocks.filter(({ text }) => !text.includes('"type":"ebb"'));
    await this.until(what, () => this.newest?.point.hash === boundaries().at(-1)?.id);
    const ids = boundaries().map(({ id }) => id);
    const told = this.blocks.map(({ point }) => point.hash);
    assert.deepEqual(told, ids.slice(ids.length - told.length));
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    const limitMs = 30_000;
    await until(
      () => `${what}; newest ${JSON.stringify(this.newest?.point)}, ${String(this.#failure)}`,
      () => this.#failure !== null || condition(),
      limitMs,
    );
    assert.equal(this.#failure, null);
  }

  async #read(stream: ChainStream, isResumed: boolean): Promise<void> {
    let isFirst = isResumed;
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      if (isFirst) assert.equal(event.kind, 'back', 'it begins where it was opened');
      if (event.kind === 'forward') this.#forward(event.block);
      else if (event.kind === 'back') this.#back(event.point?.hash ?? null, isFirst);
      else this.#mempool(event);
      isFirst = false;
    }
  }

  #forward(block: Block): void {
    const before = this.newest;
    if (before !== undefined) {
      assert.equal(block.height, before.height + 1);
      assert.ok(block.point.slot > before.point.slot && block.timeMs > before.timeMs);
    }
    this.blocks.push(block);
    for (const { id } of block.transactions) this.waiting.delete(id);
  }

  #back(hash: string | null, isFirst: boolean): void {
    this.#mustBeWhole = true;
    this.waiting.clear();
    if (isFirst) return;
    this.backs += 1;
    const at = this.blocks.findLastIndex(({ point }) => point.hash === hash);
    assert.ok(hash === null || at >= 0, `it goes back to ${hash}, which it told`);
    this.blocks.length = at + 1;
  }

  #mempool({ whole, added, removed }: MempoolEvent): void {
    assert.ok(whole || !this.#mustBeWhole, 'the first one after a step back is whole');
    this.#mustBeWhole = false;
    if (whole) {
      this.wholes += 1;
      this.waiting.clear();
    }
    for (const removal of removed) {
      this.waiting.delete(removal.id);
      this.removed.push(removal);
    }
    for (const { id } of added) {
      assert.ok(!this.waiting.has(id), `${id} is added once`);
      assert.ok(
        !this.blocks.some((block) => block.transactions.some((tx) => tx.id === id)),
        `${id} is in no block`,
      );
      this.waiting.add(id);
    }
  }
}
