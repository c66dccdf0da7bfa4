/**
 * Rules of nodes that hold always, beside their states (watch.ts):
 *
 * - `obstacle`: a node whose disk refuses, or whose clock is wrong, gives up the lead;
 * - `pending`: a leader that nothing holds up shows the orders that wait for a block;
 * - `bounds`: a node's data at NATS does not grow without end;
 * - `served`: a node that says it is fresh serves no position that the log contradicts;
 * - `behind`: a node that nothing holds up but a replica that lags follows the log.
 */
import { epochNumber } from '../../../src/engine/runtime/position.ts';
import type { Life } from './life.ts';
import type { LifeNode } from './ports.ts';

/** CLOCK_BOUND_MS of the nodes. */
const CLOCK_BOUND_MS = 2_000;
const MAX_SUBSCRIPTIONS = 100;
/** A leader has looked at NATS. */
const MAX_SILENT_MS = 2_500;
/** An order that waits has so long to be shown. */
const MAX_UNSHOWN_MS = 4_000;
const PATIENCE_LEASES = 2;
const PATIENCE_MS = 5_000;

/** A consumer that gives nothing is replaced, and the leader of the stream asked. */
export const MAX_BEHIND_MS = 25_000;

/** STALE_AFTER_MS, and some checks of the log. */
const MAX_SERVED_MS = 25_000;

interface LogPosition {
  readonly epoch: string;
  readonly entry: number;
}

export class NodeRules {
  readonly #life: Life;
  /** Since when a node leads that must not, and why. */
  readonly #unfit = new Map<LifeNode, { readonly sinceMs: number; readonly why: string }>();

  /** Time since when a node serves a position that the log contradicts. */
  readonly #contradicted = new Map<LifeNode, number>();
  #leader: LifeNode | null = null;
  /** Waiting orders, and the time since when the undisturbed leader does not show them. */
  #unshown = new Map<string, number>();

  constructor(life: Life) {
    this.#life = life;
  }

  /** Call it again and again. `last`: of the entries that were stored a while ago. */
  look(nowMs: number, last: LogPosition | null): void {
    for (const node of this.#life.nodes) {
      this.#checkLead(node, nowMs);
      this.#checkBounds(node);
    }
    this.#checkPending(nowMs);
    const sinceMs = this.#life.onlyLagsSinceMs ?? nowMs;
    if (last !== null && nowMs - sinceMs > MAX_BEHIND_MS) this.#checkBehind(last);
  }

  /** `newest`: the log's epoch; `hashAt`: of the entry that the log holds there; null: none. */
  checkServed(
    nowMs: number,
    newest: number,
    hashAt: (epoch: string, seq: number) => string | null,
  ): void {
    for (const node of this.#life.living) {
      const why = this.#whyContradicted(node, newest, hashAt);
      if (why === null) this.#contradicted.delete(node);
      const sinceMs = this.#contradicted.get(node) ?? nowMs;
      if (why !== null) this.#contradicted.set(node, sinceMs);
      const maxMs = MAX_SERVED_MS + PATIENCE_LEASES * this.#life.leaseMs;
      if (why !== null && nowMs - sinceMs > maxMs) this.#broken('served', `${node.name} ${why}`);
    }
  }

  /** null: it reports that its state is old, or no entry contradicts it. */
  #whyContradicted(
    { name, app }: LifeNode,
    newest: number,
    hashAt: (epoch: string, seq: number) => string | null,
  ): string | null {
    const checkpoint = app?.node.fold.store.checkpoint ?? null;
    const isOld = app?.chain?.isStale() !== false || !app.node.synced();
    if (checkpoint === null || isOld || this.#isHeldUp(name)) return null;
    const { epoch, seq, entryHash } = checkpoint;
    if (epochNumber(epoch) < newest) return `serves epoch ${epoch}, and the log is in ${newest}`;
    const there = hashAt(epoch, seq);
    if (there === null || there === entryHash) return null;
    return `serves ${epoch}:${seq}, where the log has another entry`;
  }

  #checkBehind({ epoch, entry }: LogPosition): void {
    for (const { name, app } of this.#life.living) {
      const applied = app?.node.applied();
      if (applied?.epoch !== epoch || applied.seq >= entry) continue;
      const why = `${name} is at ${applied.seq}, and entry ${entry} was stored`;
      this.#broken('behind', `${why} ${MAX_BEHIND_MS} ms ago`);
    }
  }

  #checkPending(nowMs: number): void {
    const { deps, leaderName, living } = this.#life;
    const leader = living.find(({ name, app }) => {
      return name === leaderName && app?.chain?.roles?.leads() === true;
    });
    const silentMs = leader?.app?.chain?.roles?.silentMs() ?? Number.POSITIVE_INFINITY;
    if (leader === undefined || this.#isHeldUp(leader.name) || silentMs > MAX_SILENT_MS) {
      this.#unshown.clear();
      return;
    }
    if (leader !== this.#leader) this.#unshown.clear();
    this.#leader = leader;
    const mempool = leader.app?.node.fold.mempool;
    const unshown = deps.chain.waiting().filter((id) => mempool?.has(id) === false);
    this.#unshown = new Map(unshown.map((id) => [id, this.#unshown.get(id) ?? nowMs]));
    for (const [id, sinceMs] of this.#unshown) {
      if (nowMs - sinceMs <= MAX_UNSHOWN_MS) continue;
      this.#broken('pending', `${leader.name} leads and does not show ${id}, which waits`);
    }
  }

  #isHeldUp(name: string): boolean {
    const { heldUp, cut, chainCut } = this.#life;
    return heldUp.has(name) || cut.has(name) || chainCut.has(name);
  }

  #checkLead(node: LifeNode, nowMs: number): void {
    const leads = this.#life.living.includes(node) && node.app?.chain?.roles?.leads() === true;
    const why = leads ? this.#whyUnfit(node) : null;
    if (why === null) {
      this.#unfit.delete(node);
      return;
    }
    const since = this.#unfit.get(node) ?? { sinceMs: nowMs, why };
    this.#unfit.set(node, since);
    const forMs = nowMs - since.sinceMs;
    if (forMs <= PATIENCE_LEASES * this.#life.leaseMs + PATIENCE_MS) return;
    this.#broken('obstacle', `${node.name} has led for ${Math.round(forMs)} ms: ${since.why}`);
  }

  /** null: it may lead. */
  #whyUnfit(node: LifeNode): string | null {
    const refusal = node.app?.node.diskRefusal ?? null;
    if (refusal !== null) return `its disk refuses: ${refusal}`;
    const aheadMs = this.#life.clocksAhead.get(node.name) ?? 0;
    if (Math.abs(aheadMs) <= CLOCK_BOUND_MS) return null;
    const others = this.#life.living.filter(({ name }) => name !== node.name);
    const isContradicted = others.some(({ name }) => {
      return !this.#life.clocksAhead.has(name) && !this.#life.cut.has(name);
    });
    // Nodes that agree with each other may be right against NATS.
    return isContradicted ? `its clock is ${aheadMs} ms ahead` : null;
  }

  #checkBounds({ name, app }: LifeNode): void {
    if (app === null) return;
    const count = this.#life.deps.nats.subscriptionsOf(name);
    if (count > MAX_SUBSCRIPTIONS) this.#broken('bounds', `${name} has ${count} subscriptions`);
  }

  #broken(invariant: string, why: string): void {
    this.#life.deps.broken(invariant, why);
  }
}
