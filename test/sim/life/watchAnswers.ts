/**
 * Rules of what a node answers at once, beside those of its positions (clients.ts):
 *
 * - `own`: who got an answer to an order sees that order in the next answer of the same node;
 * - `own`: a token that a node shows can be quoted there, also where other nodes quote for it.
 */

import { chainTip } from '../../../src/chain/chainPoints.ts';
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import type { App } from '../../../src/server/app.ts';
import type { Life } from './life.ts';
import type { AcceptedOrder, LifeNode } from './ports.ts';

/** A node waits for the effect of a submission for a second, then it answers all the same. */
const SHOWN_MS = 900;
/** So long after a node took back what it had shown, an order may be missing. */
const UNSETTLED_MS = 5_000;
/** A caller and the node it calls may be in different epochs. */
const AFTER_LOSS_MS = 60_000;

/** How far a node is; what it showed before is taken back where one of these goes another way. */
interface Reached {
  readonly epoch: number;
  readonly term: number;
  readonly height: number;
}

export class AnswerRules {
  readonly #life: Life;
  readonly #reached = new WeakMap<App, Reached>();
  /** By node: when it last took back something. */
  readonly #unsettledMs = new Map<string, number>();
  /** Tokens that were quoted, by the process of the node. */
  readonly #quoted = new WeakMap<App, Set<string>>();

  constructor(life: Life) {
    this.#life = life;
    life.deps.chain.onOrder = (order) => void this.#checkOrder(order);
  }

  /** Call it whenever a node applied something. */
  applied(name: string, app: App): void {
    const { checkpoint } = app.node.fold.store;
    if (checkpoint === null) return;
    const height = chainTip(app.node.fold.store)?.height ?? 0;
    const now = { epoch: epochNumber(checkpoint.epoch), term: checkpoint.term, height };
    const was = this.#reached.get(app);
    this.#reached.set(app, now);
    if (was === undefined) return;
    const goesOn = was.epoch === now.epoch && was.term === now.term && was.height <= height;
    if (!goesOn) this.#unsettledMs.set(name, this.#nowMs);
  }

  /** Call it again and again. */
  look(): void {
    for (const node of this.#life.living) {
      const { app } = node;
      if (app === null || this.#isUnsettled(node.name)) continue;
      const quoted = this.#quoted.get(app) ?? new Set();
      this.#quoted.set(app, quoted);
      for (const token of this.#life.deps.chain.tokens) {
        if (quoted.has(token) || app.node.fold.store.get('pools', token) === null) continue;
        quoted.add(token);
        void this.#checkQuote(node, app, token);
      }
    }
  }

  get #nowMs(): number {
    return this.#life.deps.clock.monotonicMs();
  }

  #isUnsettled(name: string): boolean {
    const { lossMs } = this.#life;
    if (lossMs > 0 && this.#nowMs < lossMs + AFTER_LOSS_MS) return true;
    return this.#nowMs - (this.#unsettledMs.get(name) ?? Number.NEGATIVE_INFINITY) < UNSETTLED_MS;
  }

  async #checkOrder({ node: name, txHash, pkh, tookMs }: AcceptedOrder): Promise<void> {
    const node = this.#life.nodes.find((one) => one.name === name);
    if (node === undefined || tookMs > SHOWN_MS || this.#isUnsettled(name)) return;
    const path = '/v1/user-history-feed/initial/state';
    const answer = await node.request('POST', path, JSON.stringify([pkh]));
    if (answer?.status !== 200 || answer.body.includes(txHash) || this.#isUnsettled(name)) return;
    const at = answer.headers['x-position'];
    this.#broken(
      `${name} accepted ${txHash} within ${Math.round(tookMs)} ms, and does not show it at ${at}`,
    );
  }

  async #checkQuote(node: LifeNode, app: App, token: string): Promise<void> {
    const path = `/quote?assetId=${token}&side=BUY&amount=5000000&slippage=50`;
    const answer = await node.request('GET', path);
    if (answer === null || node.app !== app || this.#isUnsettled(node.name)) return;
    if (!answer.body.includes('ASSET_NOT_FOUND')) return;
    this.#broken(`${node.name} shows ${token}, and answers its quote with ${answer.body}`);
  }

  #broken(why: string): void {
    this.#life.deps.broken('own', why);
  }
}
