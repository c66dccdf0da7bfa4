/**
 * All traders: turns come at random at the configured pace, with a bound on turns at once, fewer
 * when the server is busy or slow. Everything is bounded: wallets, tokens, turns in flight; a
 * turn's errors are reported and end that turn only.
 */

import { ApiError } from '../client/apiError.ts';
import { Client } from '../client/client.ts';
import type { Fetch } from '../client/platform.ts';
import { TradingClient } from '../client/trade/tradingClient.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { type Rng, seededRng } from '../engine/runtime/rng.ts';
import { Task } from '../engine/runtime/task.ts';
import type { TraderConfig } from './config.ts';
import { decide } from './decide.ts';
import { KnownTokens } from './knownTokens.ts';
import type { Report } from './messages.ts';
import { type Mood, nextMood } from './mood.ts';
import { exponentialMs } from './random.ts';
import { styleOf } from './styles.ts';
import { Trader, type Turn } from './trader.ts';
import { traderWallets } from './wallets.ts';

interface CrowdOptions {
  /** URL of a node; several are tried in turn. */
  readonly baseUrl: string | readonly string[];
  readonly config: TraderConfig;
  /** Above 0. */
  readonly pace: number;
  readonly seed: number;
  readonly clock: Clock;
  readonly fetch: Fetch;
  report(report: Report): void;
}

const READY_EVERY_MS = 250;
/** How often the list of pools is read: more often while every new token is news. */
const REFRESH_NEW_MS = 1_000;
const REFRESH_MS = 3_000;
const NEW_MARKET = 5;
/** Between turns until the first tokens are there. */
const OPENING_MS = 300;
const MAX_SLOWDOWN = 64;
const SLOW_TURN_MS = 3_000;
const LAUNCH_AGAIN_MS = 10_000;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #rng: Rng;
  readonly #task: Task;
  readonly #client: Client;
  readonly #knownTokens: KnownTokens;
  readonly #traders: readonly Trader[];
  readonly #others: readonly string[];
  #slowdown = 1;
  #launches = 0;
  #nextLaunchMs = 0;
  #mood: Mood = { wait: 1, favourite: null, direction: 'up', untilMs: 0 };

  constructor(options: CrowdOptions) {
    const { baseUrl, config, clock, fetch, seed } = options;
    this.#options = options;
    this.#rng = seededRng(seed);
    this.#task = new Task({ clock });
    this.#client = new Client({ url: baseUrl, fetch, clock, maxAttempts: 2 });
    this.#knownTokens = new KnownTokens(this.#client);
    const wallets = traderWallets(config);
    this.#others = wallets.map(({ address }) => address);
    this.#traders = wallets.map((wallet, index) => {
      const rng = seededRng(seed + 1 + index);
      const trading = new TradingClient(this.#client, wallet);
      return new Trader(`trader ${index}`, trading, rng, styleOf(index));
    });
  }

  /** Trades once the server is ready; returns at once. */
  start(): void {
    this.#task.start(() => this.#guarded(() => this.#run()));
  }

  /** Resolves when nothing is in flight any more. */
  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#client.close();
    await ended;
  }

  async #run(): Promise<void> {
    await this.#untilReady();
    // Existing tokens are reused, so that a restart does not open the market again.
    await this.#refreshMarket();
    if (this.#task.isStopping) return;
    await Promise.all([this.#keepRefreshing(), this.#keepTrading()]);
  }

  async #untilReady(): Promise<void> {
    let isReported = false;
    do {
      const error = await this.#attempt(async () => this.#traders[0]?.trading.utxos());
      if (error === null) return;
      // Waiting for a server that syncs is not reported; anything else is, once.
      if (!error.isPassing && !isReported) {
        isReported = true;
        this.#reportRefusal('look', 'market', error);
      }
    } while (await this.#task.pause(READY_EVERY_MS));
  }

  async #refreshMarket(): Promise<void> {
    const error = await this.#attempt(() => this.#knownTokens.refresh(this.#now()));
    if (error !== null) this.#reportRefusal('look', 'market', error);
  }

  async #attempt(call: () => Promise<unknown>): Promise<ApiError | null> {
    try {
      await call();
      return null;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  async #keepRefreshing(): Promise<void> {
    while (await this.#task.pause(this.#refreshMs))
      await this.#guarded(() => this.#refreshMarket());
  }

  get #refreshMs(): number {
    const { config, pace } = this.#options;
    const minMs = this.#knownTokens.size < NEW_MARKET ? REFRESH_NEW_MS : REFRESH_MS;
    return Math.max(minMs, config.orders.everyMs / pace) * this.#slowdown;
  }

  /** Turns run concurrently; ends when every turn has ended. */
  async #keepTrading(): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let waitMs = 0;
    do {
      waitMs = this.#nextArrivalMs();
      const trader = this.#idleTrader();
      if (trader === null) continue;
      const turn = this.#guarded(() => this.#takeTurn(trader));
      inFlight.add(turn);
      void turn.then(() => inFlight.delete(turn));
    } while (await this.#task.pause(waitMs));
    await Promise.all(inFlight);
  }

  #nextArrivalMs(): number {
    const { config, pace } = this.#options;
    const { everyMs } = config.orders;
    const meanMs = this.#isOpening ? Math.min(OPENING_MS, everyMs) : everyMs;
    const nowMs = this.#now();
    if (nowMs >= this.#mood.untilMs) {
      this.#mood = nextMood(this.#rng, this.#knownTokens.open(), nowMs, everyMs / pace);
    }
    const { wait } = this.#isOpening ? { wait: 1 } : this.#mood;
    return exponentialMs(this.#rng, (meanMs * wait * this.#slowdown) / pace);
  }

  /** null: none, or as many turns as allowed are under way. */
  #idleTrader(): Trader | null {
    const idle = this.#traders.filter(({ isBusy }) => !isBusy);
    if (this.#traders.length - idle.length >= this.#options.config.mostAtOnce) return null;
    return idle[Math.floor(this.#rng.unit() * idle.length)] ?? null;
  }

  async #takeTurn(trader: Trader): Promise<void> {
    const { config, clock } = this.#options;
    const startMs = clock.monotonicMs();
    trader.isBusy = true;
    try {
      const turn = await trader.turn({
        nowMs: this.#now(),
        knownTokens: this.#knownTokens,
        others: this.#others,
        launchDue: this.#isLaunchDue(),
        mood: this.#mood,
        decide: (view, rng) => {
          const action = decide(view, config, rng);
          if (action.kind === 'launch') this.#launchClaimed();
          return action;
        },
      });
      this.#finished(trader, turn, startMs);
    } finally {
      trader.isBusy = false;
    }
  }

  #isLaunchDue(): boolean {
    const { launches } = this.#options.config;
    if (this.#now() < this.#nextLaunchMs) return false;
    return this.#knownTokens.size < launches.mostTokens;
  }

  /** At the start one launch follows the other; later they keep their distance. */
  #launchClaimed(): void {
    const { config, pace } = this.#options;
    this.#launches += 1;
    const everyMs = (config.launches.everySeconds * 1000) / pace;
    this.#nextLaunchMs = this.#now() + (this.#isOpening ? 0 : everyMs);
  }

  #finished({ name }: Trader, turn: Turn, startMs: number): void {
    const tookMs = this.#options.clock.monotonicMs() - startMs;
    if (turn.outcome === 'refused') {
      this.#reportRefusal(turn.action, name, turn.error);
      if (turn.action === 'launch') this.#nextLaunchMs = this.#now() + LAUNCH_AGAIN_MS;
      return;
    }
    const factor = tookMs > SLOW_TURN_MS ? 1.5 : 0.8;
    this.#slowdown = Math.min(MAX_SLOWDOWN, Math.max(1, this.#slowdown * factor));
    if (turn.outcome === 'rested') return;
    const { txHash, launched, notCancelled } = turn.result;
    if (launched !== null) this.#knownTokens.add(launched, this.#now());
    if (notCancelled !== null) this.#reportRefusal('cancel', name, notCancelled);
    const seconds = tookMs / 1000;
    this.#options.report({ kind: 'acted', trader: name, action: labelOf(turn), txHash, seconds });
  }

  #reportRefusal(action: string, trader: string, error: ApiError): void {
    if (error.cause === 'STOPPED') return;
    if (error.isPassing) this.#slowdown = Math.min(MAX_SLOWDOWN, this.#slowdown * 2);
    const { cause, message } = error;
    this.#options.report({ kind: 'refused', trader, action, cause, message });
  }

  /** Reports an error that the program throws; never rejects. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#options.report({ kind: 'fault', message });
    }
  }

  #now(): number {
    return this.#options.clock.nowMs();
  }

  /** The market still needs its first tokens. */
  get #isOpening(): boolean {
    const { atStart } = this.#options.config.launches;
    return Math.max(this.#launches, this.#knownTokens.size) < atStart;
  }
}

function labelOf(turn: Extract<Turn, { readonly outcome: 'acted' }>): string {
  const { action } = turn;
  if (action.kind !== 'order') return action.kind;
  const label = action.side === 'SELL' ? 'sell' : 'buy';
  return action.thenCancel && turn.result.notCancelled === null ? 'cancel' : label;
}
