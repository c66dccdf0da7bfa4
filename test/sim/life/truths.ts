/**
 * What was told at each position, by whom: by states of nodes, snapshots of sockets and answers of
 * HTTP. At one position all nodes tell the same.
 *
 * One exception: NATS lost what it had acknowledged, and no node that knew it runs any more.
 */
import { hash } from 'node:crypto';

interface Told {
  readonly digest: string;
  /** All that told it, the first one first. */
  readonly nodes: Set<string>;
  /** Of the log, before. */
  readonly losses: number;
}

interface Teller {
  readonly node: string;
  /** How often the log lost something so far. */
  readonly losses: number;
  readonly isLiving: (node: string) => boolean;
}

/** Older positions are forgotten: nothing asks for them again. */
const MOST_TOLD = 200_000;
const DIGEST_LETTERS = 16;

export class Truths {
  /** Positions that at least two nodes were at. */
  shared = 0;
  readonly #told = new Map<string, Told>();

  /** null: it is what was told there before, or nothing was. Else who told something else. */
  tell(what: string, text: string, { node, losses, isLiving }: Teller): string | null {
    const digest = hash('sha256', text).slice(0, DIGEST_LETTERS);
    const known = this.#told.get(what);
    const isForgotten =
      known !== undefined && losses > known.losses && ![...known.nodes].some(isLiving);
    if (known === undefined || (known.digest !== digest && isForgotten)) {
      this.#told.set(what, { digest, nodes: new Set([node]), losses });
      this.#trim();
      return null;
    }
    if (known.digest !== digest) return [...known.nodes].join(', ');
    if (!known.nodes.has(node)) {
      known.nodes.add(node);
      this.shared += 1;
    }
    return null;
  }

  #trim(): void {
    if (this.#told.size <= MOST_TOLD) return;
    const [oldest] = this.#told.keys();
    if (oldest !== undefined) this.#told.delete(oldest);
  }
}
