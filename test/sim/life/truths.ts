/**
 * The texts at each position, and the nodes that reported them: by states of nodes, snapshots of
 * sockets and answers of HTTP. At one position all nodes tell the same.
 *
 * One exception: NATS lost acknowledged entries, and no node that knew them runs any more.
 */
import { hash } from 'node:crypto';

interface Told {
  readonly digest: string;
  /** All nodes that reported it, the first one first. */
  readonly nodes: Set<string>;
  /** Number of losses of the log before it. */
  readonly losses: number;
}

interface Teller {
  readonly node: string;
  /** How often the log lost something so far. */
  readonly losses: number;
  readonly isLiving: (node: string) => boolean;
}

/** Older positions are forgotten: nothing asks for them again. */
const MAX_TOLD = 200_000;
const DIGEST_LETTERS = 16;

export class Truths {
  /** Positions that at least two nodes were at. */
  shared = 0;
  readonly #told = new Map<string, Told>();

  /**
   * null: the text equals the known one, or none was known. Else the node that reported another
   * text.
   */
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
    if (this.#told.size <= MAX_TOLD) return;
    const [oldest] = this.#told.keys();
    if (oldest !== undefined) this.#told.delete(oldest);
  }
}
