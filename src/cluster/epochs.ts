/**
 * Whether the log still is the one we have, and what is done when it is not: only a leader opens an
 * epoch, at its own state; the others take that state over, or find that they have it.
 */
import type { DataFiles } from '../actors/files.ts';
import type { Node } from '../actors/node.ts';
import { isInLog, restartLog } from '../actors/recovery.ts';
import type { Log } from '../log/port.ts';
import { epochNumber } from '../runtime/position.ts';
import type { Rng } from '../runtime/rng.ts';

/** How far a node is, as it says itself. */
export interface Standing {
  readonly node: string;
  readonly epoch: string;
  readonly term: number;
  readonly seq: number;
}

export interface EpochsPlace {
  readonly log: Log;
  readonly node: Node;
  readonly files: DataFiles;
  readonly rng: Rng;
  /** Those of the other nodes that are alive. */
  others(): Promise<readonly Standing[]>;
  /** Gives the snapshot that an epoch begins from to all nodes. */
  publishBase(epoch: string): Promise<void>;
  epochStarted(epoch: string, reason: string): void;
}

export class Epochs {
  readonly #place: EpochsPlace;

  constructor(place: EpochsPlace) {
    this.#place = place;
  }

  /** The log holds what we applied last, or begins right behind it. */
  async hasOurs(): Promise<boolean> {
    const { log, node } = this.#place;
    const { checkpoint } = node.fold.store;
    return checkpoint === null || isInLog(checkpoint, log);
  }

  /** Nobody who is alive knows more than we do. */
  async mayOpen(): Promise<boolean> {
    const { checkpoint } = this.#place.node.fold.store;
    const others = await this.#place.others();
    return others.every((other) => {
      const [mine, theirs] = [epochNumber(checkpoint?.epoch ?? '0-none'), epochNumber(other.epoch)];
      if (theirs !== mine) return theirs < mine;
      const term = checkpoint?.term ?? 0;
      return other.term === term ? other.seq <= (checkpoint?.seq ?? 0) : other.term < term;
    });
  }

  /** The log begins anew, right behind our state. */
  async open(): Promise<void> {
    const { node, log, files, rng, publishBase, epochStarted } = this.#place;
    const { store } = node.fold;
    if (store.checkpoint === null) return;
    await restartLog(store.checkpoint, store, log, files, { rng, publishBase, epochStarted });
    await node.reached((await log.last()).seq);
  }

  /** Where another leader's epoch replaced ours: we go on from there. */
  async adoptNewest(): Promise<void> {
    const { log, node } = this.#place;
    const newest = (await log.epochs()).at(-1);
    if (newest === undefined) return;
    const [sealed] = await log.read(newest, 1);
    if (sealed?.entry.payload.kind !== 'epoch') return;
    const isNewer = epochNumber(sealed.entry.epoch) > epochNumber(node.applied().epoch);
    if (isNewer) node.adopt(sealed);
  }
}
