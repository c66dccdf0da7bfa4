/** How a fake Ogmios misbehaves when a test says so. */

type BlockFault =
  /** The connection ends in the middle of the block's bytes. */
  | { readonly kind: 'cut' }
  /** Something else comes in its place: no JSON, or JSON of another shape. */
  | { readonly kind: 'garbage'; readonly text: string }
  /** White space of this many bytes after it: still JSON, but larger than it has to be. */
  | { readonly kind: 'padded'; readonly bytes: number };

export class Faults {
  #stalled: ReadonlySet<string> | 'all' | null = null;
  #refused = 0;
  #isRefusing = false;
  readonly #ofBlocks: (BlockFault | null)[] = [];
  readonly #resumed = new Set<() => void>();

  /** Nothing is answered from now on, or nothing to these methods, until `resume`. */
  stall(...methods: readonly string[]): void {
    this.#stalled = methods.length === 0 ? 'all' : new Set(methods);
  }

  resume(): void {
    this.#stalled = null;
    for (const resumed of this.#resumed) resumed();
  }

  stalls(method: string): boolean {
    return this.#stalled === 'all' || this.#stalled?.has(method) === true;
  }

  onResume(resumed: () => void): () => void {
    this.#resumed.add(resumed);
    return () => this.#resumed.delete(resumed);
  }

  /** The next block that is sent, `after` good ones, has this fault. */
  nextBlock(fault: BlockFault, after = 0): void {
    this.#ofBlocks.push(...new Array<null>(after).fill(null), fault);
  }

  takeOfBlock(): BlockFault | null {
    return this.#ofBlocks.shift() ?? null;
  }

  /** New connections end at once, until `accept`. */
  refuse(): void {
    this.#isRefusing = true;
  }

  accept(): void {
    this.#isRefusing = false;
  }

  refuses(): boolean {
    if (this.#isRefusing) this.#refused += 1;
    return this.#isRefusing;
  }

  /** How many connections were refused. */
  get refused(): number {
    return this.#refused;
  }
}
