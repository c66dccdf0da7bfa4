/**
 * Unspent outputs from Kupo, with pending transactions overlaid on them.
 *
 * No answer is older than the tip that was served when the lookup started. Kupo names its newest
 * block with every answer, but a moment before that block's outputs can be read. So Kupo has a tip
 * only once the block itself was read back (`/checkpoints`), and that is checked again whenever
 * Kupo's newest block has changed. If transactions move from the mempool into a block meanwhile,
 * they are applied to an answer without that block; after a roll-back the lookup starts again.
 *
 * Slow is an outcome: at most `lookups` are under way, each for at most `deadlineMs`; beyond that
 * OVERLOADED and NOT_READY, as `Unavailable`.
 *
 * Kupo must match everything that is looked up: `--match '*'`, or every wallet and script in use.
 * It must keep spent outputs for 36 hours, which it does with `--prune-utxo` as well.
 */
import { type OutputRef, refText, type Utxo } from '../../cardano/codec/output.ts';
import type { UtxoLookup, UtxoState, UtxoView } from '../../cardano/ledger/port.ts';
import { UtxoSet } from '../../cardano/ledger/utxoSet.ts';
import { type Page, utxosOfAsset, utxosOfCredential } from '../../cardano/ledger/views.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import { Failure, Unavailable } from '../../engine/runtime/errors.ts';
import type { Fetch } from '../access.ts';
import type { Confirmed, MempoolOverlay } from '../mempoolOverlay.ts';
import type { Point } from '../port.ts';
import { KupoError, type Match, readCheckpoint, readMatches } from './answers.ts';
import { type KupoAnswer, KupoClient, type KupoObserver } from './client.ts';

interface KupoLookupDeps {
  /** Such as `http://127.0.0.1:1442`; may hold user and password. */
  readonly url: string;
  /** The newest served block; null: none yet, and then any answer is new enough. */
  readonly tip: () => Point | null;
  readonly overlay: MempoolOverlay;
  readonly clock: Clock;
  readonly observer: KupoObserver;
  readonly limits?: Partial<KupoLimits>;
  /** Absent: that of the network. */
  readonly fetch?: Fetch;
}

export interface KupoLimits {
  /** Lookups under way, queued ones included. */
  readonly lookups: number;
  /** Concurrent requests to Kupo. */
  readonly atOnce: number;
  /** Time limit of a whole lookup, time in the queue included. */
  readonly deadlineMs: number;
  /** Limit of one response. */
  readonly maxBytes: number;
}

const KUPO_LIMITS: KupoLimits = {
  lookups: 512,
  atOnce: 16,
  deadlineMs: 5_000,
  maxBytes: 16 << 20,
};

/** Between two attempts of one lookup. */
const RETRY_MS = 100;
const RETRY_AFTER_S = 2;
/** Concurrent requests of one lookup. */
const MAX_PARALLEL = 8;

/** Requests matches by path, and notes the response for the check of the tip. */
type Ask = (path: string) => Promise<Match[]>;
/** Computes the result, given the confirmed transactions that Kupo's responses do not have. */
type Answer<T> = (confirmed: readonly Confirmed[]) => T;
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
    this.#questions = new KupoClient(url, clock, observer, this.#limits, deps.fetch);
    this.#freshness = new TipCheck((path, signal) => this.#questions.ask(path, signal));
  }

  byPaymentKey(keyHash: string, view: UtxoView, page: Page = {}): Promise<readonly Utxo[]> {
    return this.#lookUp(async (ask) => {
      const matches = await ask(unspent(`${keyHash}/*`));
      return (confirmed) => {
        const state = { chain: this.#confirmed(matches, confirmed), mempool: this.#mempool };
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
      return (confirmed) => {
        const chain = this.#confirmed([...matches, ...around], confirmed);
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
      return (confirmed) => {
        const late = new LateEffects(confirmed);
        return refs.map((ref) => this.#stateOf(ref, found.get(refText(ref)), late));
      };
    });
  }

  get #mempool() {
    return this.#deps.overlay.mempool;
  }

  /** Runs the lookup again until Kupo has the tip that was served when the attempt started. */
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
        const [served, position] = [tip(), overlay.position()];
        try {
          const { answer, slot } = await this.#askAt(served, run, signal);
          const confirmed = overlay.confirmedSince(position);
          if (confirmed !== null) return answer(confirmed.filter((each) => each.slot > slot));
          reason = 'the chain went back meanwhile';
        } catch (error) {
          if (!(error instanceof KupoError)) throw error;
          if (error.isFinal) throw refused(error);
          if (signal.aborted) throw notReady(reason);
          reason = error.message;
        }
        await pause(clock, RETRY_MS, signal);
      }
    } finally {
      timer.cancel();
      this.#lookups -= 1;
    }
  }

  /** `slot`: Kupo had all blocks up to it when it answered. */
  async #askAt<T>(
    served: Point | null,
    run: Run<T>,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Answer<T>; readonly slot: number }> {
    const responses: KupoAnswer[] = [];
    const ask = async (path: string) => {
      const answered = await this.#questions.ask(path, signal);
      responses.push(answered);
      return readMatches(answered.body);
    };
    if (served !== null) await this.#freshness.reached(served, signal);
    const answer = await run(ask);
    if (served !== null) await this.#freshness.kept(served, responses, signal);
    return { answer, slot: Math.min(...responses.map(({ checkpointSlot }) => checkpointSlot)) };
  }

  /** The outputs that are unspent in blocks. */
  #confirmed(matches: readonly Match[], confirmed: readonly Confirmed[]): UtxoSet {
    const chain = new UtxoSet();
    for (const { utxo, isSpent } of matches) {
      const isKnown = chain.get(utxo.ref) !== undefined;
      if (!isSpent && !isKnown) chain.add(utxo);
    }
    for (const { effects } of confirmed) {
      for (const utxo of effects.made) if (chain.get(utxo.ref) === undefined) chain.add(utxo);
      for (const ref of effects.spent) if (chain.get(ref) !== undefined) chain.remove(ref);
    }
    return chain;
  }

  /** Outputs spent by pending transactions that move the asset: they name the previous owners. */
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

/** Slot of the first output with an asset, spent ones counted; null: not known. */
export type FirstSlotOf = (asset: AssetId) => Promise<number | null>;

/**
 * Kupo knows it where it began to follow before that output and keeps spent ones. Asked of pools
 * whose launch was never seen; where Kupo does not answer in time, it is not known.
 */
export function firstSlots({
  url,
  clock,
  observer,
  fetch: fetchUrl,
}: Pick<KupoLookupDeps, 'url' | 'clock' | 'observer' | 'fetch'>): FirstSlotOf {
  const client = new KupoClient(url, clock, observer, KUPO_LIMITS, fetchUrl);
  return async (asset) => {
    const abort = new AbortController();
    const timer = clock.after(KUPO_LIMITS.deadlineMs, () => abort.abort());
    try {
      const { body } = await client.ask(`/matches/${asset}`, abort.signal);
      const slots = readMatches(body).map(({ createdSlot }) => createdSlot);
      return slots.length === 0 ? null : slots.reduce((first, slot) => Math.min(first, slot));
    } catch (error) {
      if (error instanceof KupoError) return null;
      throw error;
    } finally {
      timer.cancel();
    }
  };
}

/** Effects of confirmed transactions in blocks that Kupo did not have. */
class LateEffects {
  readonly #made = new Map<string, Utxo>();
  readonly #spent = new Set<string>();

  constructor(confirmed: readonly Confirmed[]) {
    for (const { effects } of confirmed) {
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
  const worker = async () => {
    for (const path of walk) {
      for (const match of await ask(path)) {
        found.set(refText(match.utxo.ref), match);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_PARALLEL, paths.length) }, worker));
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

/** Checks, by reading it back, that Kupo has the served tip: its headers name a block too early. */
class TipCheck {
  readonly #ask: AskKupo;
  /** A tip that Kupo had, and Kupo's newest block at that time. */
  #reached: { readonly tipHash: string; readonly newest: string | null } | null = null;
  #check: { readonly tipHash: string; readonly done: Promise<void> } | null = null;

  constructor(ask: AskKupo) {
    this.#ask = ask;
  }

  /** Throws `KupoError` while Kupo does not have `tip`. Concurrent callers share one request. */
  async reached(tip: Point, signal: AbortSignal): Promise<void> {
    if (this.#reached?.tipHash === tip.hash) return;
    if (this.#check?.tipHash !== tip.hash) {
      const done = this.#readBack(tip, signal).finally(() => {
        if (this.#check?.done === done) this.#check = null;
      });
      this.#check = { tipHash: tip.hash, done };
    }
    await this.#check.done;
  }

  /** Throws `KupoError` where Kupo may have rolled `tip` back before it gave these answers. */
  async kept(tip: Point, answers: readonly KupoAnswer[], signal: AbortSignal): Promise<void> {
    if (answers.some(({ checkpointSlot }) => checkpointSlot < tip.slot)) {
      this.#reached = null;
      throw new KupoError(`it went back behind slot ${tip.slot}`);
    }
    const isUnchanged = ({ checkpointHash }: KupoAnswer) =>
      this.#reached?.tipHash === tip.hash && this.#reached.newest === checkpointHash;
    if (!answers.every(isUnchanged)) await this.#readBack(tip, signal);
  }

  async #readBack(tip: Point, signal: AbortSignal): Promise<void> {
    const { body, checkpointSlot, checkpointHash } = await this.#ask(
      `/checkpoints/${tip.slot}?strict`,
      signal,
    );
    const hash = readCheckpoint(body);
    if (hash === tip.hash) {
      this.#reached = { tipHash: tip.hash, newest: checkpointHash };
      return;
    }
    this.#reached = null;
    if (checkpointSlot < tip.slot) {
      throw new KupoError(`it is at slot ${checkpointSlot}, the tip at ${tip.slot}`);
    }
    throw new KupoError(`it does not have the block of slot ${tip.slot}`);
  }
}
