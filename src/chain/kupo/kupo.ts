/**
 * Unspent outputs from Kupo, with what waits in the mempool laid over them.
 *
 * No answer is older than the tip that is served when it is asked for. Kupo names its newest block
 * with every answer, but does so a moment before that block's outputs can be read; so a tip counts
 * as reached only once its block itself was read back (`/checkpoints`), and again whenever Kupo's
 * newest block has changed since. Transactions that leave the mempool for a block meanwhile are
 * applied to an answer that does not have that block; after a roll-back it is asked for again.
 *
 * Slow is an outcome: at most `lookups` wait, each for at most `deadlineMs`; then OVERLOADED and
 * NOT_READY, as `Unavailable`.
 *
 * Kupo must match what is asked about: `--match '*'`, or every wallet and script that counts, and
 * keep spent outputs for 36 hours, which it does with `--prune-utxo` as well.
 */
import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import type { UtxoLookup, UtxoState, UtxoView } from '../../cardano/ledger/port.ts';
import { UtxoSet } from '../../cardano/ledger/utxoSet.ts';
import { type Page, utxosOfAsset, utxosOfCredential } from '../../cardano/ledger/views.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Confirmed, MempoolOverlay } from '../mempoolOverlay.ts';
import type { Point } from '../port.ts';
import { KupoError, type Match, readCheckpoint, readMatches } from './answers.ts';
import { type KupoAnswer, KupoClient, type KupoObserver } from './client.ts';

interface KupoLookupDeps {
  /** Such as `http://127.0.0.1:1442`; may hold user and password. */
  readonly url: string;
  /** The newest block that is served; null: none yet, and then any answer will do. */
  readonly tip: () => Point | null;
  readonly overlay: MempoolOverlay;
  readonly clock: Clock;
  readonly observer: KupoObserver;
  readonly limits?: Partial<KupoLimits>;
}

export interface KupoLimits {
  /** Lookups that are under way or wait. */
  readonly lookups: number;
  /** Questions to Kupo at once. */
  readonly atOnce: number;
  /** For a whole lookup, waiting included. */
  readonly deadlineMs: number;
  /** Of one answer. */
  readonly maxBytes: number;
}

const KUPO_LIMITS: KupoLimits = {
  lookups: 512,
  atOnce: 16,
  deadlineMs: 5_000,
  maxBytes: 16 << 20,
};

/** Between two tries of the same question. */
const AGAIN_MS = 100;
const RETRY_AFTER_S = 2;
/** References asked about side by side, for one lookup. */
const MOST_ABREAST = 8;

/** Asks for matches by a path; what it heard counts for the lookup's freshness. */
type Ask = (path: string) => Promise<Match[]>;
/** Given what left the mempool for a block that Kupo's answers do not have. */
type Answer<T> = (settled: readonly Confirmed[]) => T;
type Run<T> = (ask: Ask) => Promise<Answer<T>>;

export class KupoLookup implements UtxoLookup {
  readonly #deps: KupoLookupDeps;
  readonly #limits: KupoLimits;
  readonly #questions: KupoClient;
  readonly #freshness: TipCheck;
  #lookups = 0;

  constructor(deps: KupoLookupDeps) {
    const { url, clock, observer } = deps;
    this.#deps = deps;
    this.#limits = { ...KUPO_LIMITS, ...deps.limits };
    this.#questions = new KupoClient(url, clock, observer, this.#limits);
    this.#freshness = new TipCheck((path, signal) => this.#questions.ask(path, signal));
  }

  byPaymentKey(keyHash: string, view: UtxoView, page: Page = {}): Promise<readonly Utxo[]> {
    return this.#lookUp(async (ask) => {
      const matches = await ask(unspent(`${keyHash}/*`));
      return (settled) => {
        const state = { chain: this.#confirmed(matches, settled), mempool: this.#mempool };
        return utxosOfCredential(state, keyHash, view, page);
      };
    });
  }

  byAsset(asset: AssetId, view: UtxoView): Promise<readonly Utxo[]> {
    return this.#lookUp(async (ask) => {
      const [policy = '', name = ''] = asset.split('.');
      // Kupo has no pattern for an empty name alone.
      const matches = await ask(unspent(`${policy}.${name === '' ? '*' : name}`));
      const around = view === 'wallet' ? await this.#sourcesOf(asset, ask) : [];
      return (settled) => {
        const chain = this.#confirmed([...matches, ...around], settled);
        return utxosOfAsset({ chain, mempool: this.#mempool }, asset, view);
      };
    });
  }

  async newestOf(_ref: OutputRef, asset: AssetId): Promise<Utxo | null> {
    const [utxo] = await this.byAsset(asset, 'newest');
    return utxo ?? null;
  }

  byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]> {
    return this.#lookUp(async (ask) => {
      const found = await matchesOf(refs, ask);
      return (settled) => {
        const late = new LateEffects(settled);
        return refs.map((ref) => this.#stateOf(ref, found.get(refText(ref)), late));
      };
    });
  }

  get #mempool() {
    return this.#deps.overlay.mempool;
  }

  /** Runs it again until Kupo has the tip that was served when it began. */
  async #lookUp<T>(run: Run<T>): Promise<T> {
    const { clock, tip, overlay } = this.#deps;
    const { lookups, deadlineMs } = this.#limits;
    if (this.#lookups >= lookups) throw overloaded();
    this.#lookups += 1;
    const abort = new AbortController();
    const timer = clock.after(deadlineMs, () => abort.abort());
    const { signal } = abort;
    let reason = 'no answer in time';
    try {
      for (;;) {
        const [served, mark] = [tip(), overlay.position()];
        try {
          const { answer, slot } = await this.#askAt(served, run, signal);
          const settled = overlay.confirmedSince(mark);
          if (settled !== null) return answer(settled.filter((each) => each.slot > slot));
          reason = 'the chain went back meanwhile';
        } catch (error) {
          if (!(error instanceof KupoError)) throw error;
          if (error.isFinal) throw refused(error);
          if (signal.aborted) throw notReady(reason);
          reason = error.message;
        }
        await pause(clock, AGAIN_MS, signal);
      }
    } finally {
      timer.cancel();
      this.#lookups -= 1;
    }
  }

  /** With the slot up to which Kupo had everything that it answered from. */
  async #askAt<T>(
    served: Point | null,
    run: Run<T>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer<T>; readonly slot: number }> {
    const heard: KupoAnswer[] = [];
    const ask = async (path: string) => {
      const answered = await this.#questions.ask(path, signal);
      heard.push(answered);
      return readMatches(answered.body);
    };
    if (served !== null) await this.#freshness.reached(served, signal);
    const answer = await run(ask);
    if (served !== null) await this.#freshness.kept(served, heard, signal);
    return { answer, slot: Math.min(...heard.map(({ checkpointSlot }) => checkpointSlot)) };
  }

  /** Unspent in blocks. */
  #confirmed(matches: readonly Match[], settled: readonly Confirmed[]): UtxoSet {
    const chain = new UtxoSet();
    for (const { utxo, isSpent } of matches) {
      const isKnown = chain.get(utxo.ref) !== undefined;
      if (!isSpent && !isKnown) chain.add(utxo);
    }
    for (const { effects } of settled) {
      for (const utxo of effects.made) if (chain.get(utxo.ref) === undefined) chain.add(utxo);
      for (const ref of effects.spent) if (chain.get(ref) !== undefined) chain.remove(ref);
    }
    return chain;
  }

  /** What waiting transactions spend that make outputs with this asset: whose they were. */
  async #sourcesOf(asset: AssetId, ask: Ask): Promise<Match[]> {
    const inputs = [...this.#mempool.all()].flatMap(({ effects }) => {
      const makes = effects.made.some(({ output }) => output.value.assets.has(asset));
      return makes ? effects.spent : [];
    });
    return [...(await matchesOf(inputs, ask)).values()];
  }

  #stateOf(ref: OutputRef, match: Match | undefined, late: LateEffects): UtxoState {
    const utxo = this.#mempool.made(ref) ?? match?.utxo ?? late.made(ref);
    if (utxo === undefined) return { state: 'unknown' };
    const isPendingSpent = this.#mempool.spender(ref) !== undefined || late.isSpent(ref);
    const isSpent = isPendingSpent || match?.isSpent === true;
    return isSpent ? { state: 'spent', utxo } : { state: 'unspent', utxo };
  }
}

/** Effects of transactions in blocks that Kupo did not have. */
class LateEffects {
  readonly #made = new Map<string, Utxo>();
  readonly #spent = new Set<string>();

  constructor(settled: readonly Confirmed[]) {
    for (const { effects } of settled) {
      for (const utxo of effects.made) this.#made.set(refText(utxo.ref), utxo);
      for (const ref of effects.spent) this.#spent.add(refText(ref));
    }
  }

  made(ref: OutputRef): Utxo | undefined {
    return this.#made.get(refText(ref));
  }

  isSpent(ref: OutputRef): boolean {
    return this.#spent.has(refText(ref));
  }
}

function unspent(pattern: string): string {
  return `/matches/${pattern}?unspent&resolve_hashes`;
}

async function matchesOf(
  refs: readonly OutputRef[],
  ask: Ask,
): Promise<ReadonlyMap<string, Match>> {
  const paths = [...byTransaction(refs)].map(([txHash, indexes]) => {
    const [index = 0, ...more] = indexes;
    // An index of more than three digits is no pattern.
    const which = more.length === 0 && index < 1_000 ? index : '*';
    return `/matches/${which}@${txHash}?resolve_hashes`;
  });
  const found = new Map<string, Match>();
  const walk = paths[Symbol.iterator]();
  const lane = async () => {
    for (const path of walk) {
      for (const match of await ask(path)) {
        found.set(refText(match.utxo.ref), match);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_ABREAST, paths.length) }, lane));
  return found;
}

function byTransaction(refs: readonly OutputRef[]): Map<string, number[]> {
  const grouped = new Map<string, number[]>();
  for (const { txHash, index } of refs) {
    const indexes = grouped.get(txHash) ?? [];
    if (!indexes.includes(index)) grouped.set(txHash, [...indexes, index]);
  }
  return grouped;
}

function overloaded(): Unavailable {
  const message = 'too many lookups of unspent outputs wait for Kupo; try again in a moment';
  return new Unavailable(new Failure('OVERLOADED', message, { retryAfterSeconds: RETRY_AFTER_S }));
}

function notReady(reason: string): Unavailable {
  const message = `unspent outputs cannot be looked up now (Kupo: ${reason}); try again`;
  return new Unavailable(new Failure('NOT_READY', message, { retryAfterSeconds: RETRY_AFTER_S }));
}

function refused({ message }: KupoError): Unavailable {
  return new Unavailable(new Failure('SERVER_ERROR', `Kupo refused a lookup: ${message}`));
}

type AskKupo = (path: string, signal: AbortSignal) => Promise<KupoAnswer>;

class TipCheck {
  readonly #ask: AskKupo;
  /** A tip that Kupo had, and what it named as its own newest block then. */
  #seen: { readonly tipHash: string; readonly newest: string | null } | null = null;
  #looking: { readonly tipHash: string; readonly done: Promise<void> } | null = null;

  constructor(ask: AskKupo) {
    this.#ask = ask;
  }

  /** Throws `NoAnswer` while Kupo does not have `tip`; asked once for all who wait for it. */
  async reached(tip: Point, signal: AbortSignal): Promise<void> {
    if (this.#seen?.tipHash === tip.hash) return;
    if (this.#looking?.tipHash !== tip.hash) {
      const done = this.#look(tip, signal).finally(() => {
        if (this.#looking?.done === done) this.#looking = null;
      });
      this.#looking = { tipHash: tip.hash, done };
    }
    await this.#looking.done;
  }

  /** Throws `NoAnswer` where Kupo may have left `tip` before it gave these answers. */
  async kept(tip: Point, answers: readonly KupoAnswer[], signal: AbortSignal): Promise<void> {
    if (answers.some(({ checkpointSlot }) => checkpointSlot < tip.slot)) {
      this.#seen = null;
      throw new KupoError(`it went back behind slot ${tip.slot}`);
    }
    const isAsSeen = ({ checkpointHash }: KupoAnswer) =>
      this.#seen?.tipHash === tip.hash && this.#seen.newest === checkpointHash;
    if (!answers.every(isAsSeen)) await this.#look(tip, signal);
  }

  async #look(tip: Point, signal: AbortSignal): Promise<void> {
    const { body, checkpointSlot, checkpointHash } = await this.#ask(
      `/checkpoints/${tip.slot}?strict`,
      signal,
    );
    const hash = readCheckpoint(body);
    if (hash === tip.hash) {
      this.#seen = { tipHash: tip.hash, newest: checkpointHash };
      return;
    }
    this.#seen = null;
    if (checkpointSlot < tip.slot) {
      throw new KupoError(`it is at slot ${checkpointSlot}, the tip at ${tip.slot}`);
    }
    throw new KupoError(`it does not have the block of slot ${tip.slot}`);
  }
}
