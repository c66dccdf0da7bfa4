/**
 * Delivers one webhook: one body at a time, the next one only after the one before was accepted. A
 * failed delivery is repeated with growing pauses, each time with the present state; after a day of
 * failures the webhook stops. Whether the receiver got a body whose answer was lost cannot be
 * known, so it may come twice, in the same order: the receiver ignores frames at or below its
 * position.
 */
import { backoffMs } from '../../engine/runtime/backoff.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { hasReached, type Position } from '../../engine/runtime/position.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import { type NextBody, nextBody, type OpenTopic } from './nextBody.ts';
import type { Progress, StoredWebhook, Webhook, WebhookStore } from './port.ts';
import type { Refusal, Sender } from './sender.ts';

export interface WebhookObserver {
  /** `why`: what its receiver or the network said; null: it was accepted. */
  webhookTried(owner: string, id: string, why: string | null, seconds: number): void;
  webhookStopped(owner: string, id: string, why: string): void;
  webhooksNotSaved(why: string): void;
  webhooksSaved(): void;
}

export interface WebhookDeliveryDeps {
  readonly store: WebhookStore;
  readonly sender: Pick<Sender, 'send'>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: WebhookObserver;
  applied(): Position;
  /** As of `NodeView`. */
  logEnd(): Promise<Position | null>;
  /** This node may report the state: it is synced. */
  isReady(): boolean;
  /** The API key that the webhook belongs to is known. */
  isKnown(owner: string): boolean;
  /** Runs `work` when there is room for one more delivery. */
  enqueue(work: () => Promise<void>): void;
  /** The store has another version, or it is gone there. */
  outdated(): void;
}

/** From the first pause to the longest. */
const RETRY = { firstMs: 1_000, maxMs: 300_000 };
const DAY_MS = 86_400_000;
/** A topic or this node could not tell; the receiver has nothing to do with it. */
const OWN_RETRY_MS = 2_000;
/** Epoch of marks that no longer count. */
const NO_EPOCH = '0-none';
/** Then a body is made at once: more changes than can be prepared for. */
const LONGEST_MS = 10_000;
/** Time after which a quiet webhook's position is saved, so that it stays within the horizon. */
const QUIET_MS = 600_000;

export class WebhookDelivery {
  readonly webhook: Webhook;
  readonly topics: readonly OpenTopic[];
  readonly #deps: WebhookDeliveryDeps;
  readonly #cadenceMs: number;
  #progress: Progress;
  #version: number;
  /** There may be something to say. */
  #isDirty = true;
  /** The receiver has everything up to the last `since`, unless this is dirty. */
  #isSettled = false;
  #isBusy = false;
  #isClosed = false;
  #timer: Timer | null = null;
  #notBeforeMs = 0;
  #savedMs: number;

  constructor(stored: StoredWebhook, topics: readonly OpenTopic[], deps: WebhookDeliveryDeps) {
    this.webhook = stored.webhook;
    this.topics = topics;
    this.#deps = deps;
    this.#progress = stored.progress;
    this.#version = stored.version;
    this.#cadenceMs = Math.min(...topics.map(({ cadenceMs }) => cadenceMs));
    this.#savedMs = deps.clock.monotonicMs();
  }

  get progress(): Progress {
    return this.#progress;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Something changed after position `previous`. */
  changedAfter(previous: number): void {
    if (!this.#isDirty && this.#isSettled) this.#advance(previous);
    this.#isDirty = true;
    this.schedule();
  }

  /** Now and then while nothing happens: nothing changed up to the position `seq`. */
  unchangedUpTo(seq: number): void {
    if (this.#isDirty || !this.#isSettled || this.#isBusy || this.#isClosed) return;
    this.#advance(seq);
    if (this.#deps.clock.monotonicMs() - this.#savedMs < QUIET_MS) return;
    this.#isBusy = true;
    void this.#save().finally(() => this.#free());
  }

  schedule(): void {
    const { clock, enqueue } = this.#deps;
    if (this.#isClosed || this.#isBusy || this.#timer !== null || !this.#isDirty) return;
    if (this.#progress.isStopped) return;
    const retryInMs = (this.#progress.nextTryMs ?? 0) - clock.nowMs();
    const waitMs = Math.max(this.#notBeforeMs - clock.monotonicMs(), retryInMs);
    const run = () => {
      this.#timer = null;
      if (this.#isClosed || this.#isBusy) return;
      this.#isBusy = true;
      enqueue(() => this.#deliver().finally(() => this.#free()));
    };
    this.#timer = waitMs <= 0 ? clock.soon(run) : clock.after(waitMs, run);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #free(): void {
    this.#isBusy = false;
    this.schedule();
  }

  #advance(seq: number): void {
    const marks = this.#progress.marks.map((mark) =>
      mark === null || mark.seq >= seq ? mark : { ...mark, seq },
    );
    this.#progress = { ...this.#progress, marks };
  }

  async #deliver(): Promise<void> {
    const { clock, observer, sender, isKnown, isReady } = this.#deps;
    const { owner, id } = this.webhook;
    if (this.#isClosed) return;
    if (!isKnown(owner)) {
      this.#refused('its API key is unknown to this server');
      return this.#save();
    }
    if (isReady() && !(await this.#hasPositions())) return this.#waitForUs();
    if (isReady()) await this.#prepare();
    const body = await this.#nextBodyInSlice();
    const text = body?.text ?? null;
    if (body === null || text === null) return;
    const startMs = clock.monotonicMs();
    this.#notBeforeMs = startMs + this.#cadenceMs;
    const { position, digest } = body;
    const delivery = { body: text, position, digest, attempt: this.#progress.failures };
    let refusal: Refusal;
    try {
      refusal = await sender.send(this.webhook, delivery);
    } catch (error) {
      // Stopped meanwhile: the next leader, or the next start, sends it again.
      if (this.#isClosed) return;
      refusal = `this server failed (${error instanceof Error ? error.name : 'no reason'})`;
    }
    observer.webhookTried(owner, id, refusal, (clock.monotonicMs() - startMs) / 1000);
    if (refusal === null) this.#accepted(body);
    else this.#refused(refusal);
    await this.#save();
  }

  /**
   * This node has reached the receiver's position. Where the log does not have it any more (a
   * backup was restored), each topic begins with a snapshot. false: this node is behind, or cannot
   * ask.
   */
  async #hasPositions(): Promise<boolean> {
    const { applied, logEnd } = this.#deps;
    const beyond = this.#positions().filter((each) => !hasReached(applied(), each));
    if (beyond.length === 0) return true;
    // Without an answer it is asked again; readiness says that NATS is away.
    const end = await logEnd().catch(() => null);
    if (end === null || !hasReached(applied(), end)) return false;
    if (beyond.every((each) => hasReached(end, each))) return false;
    this.#progress = { ...this.#progress, epoch: NO_EPOCH, marks: this.topics.map(() => null) };
    return true;
  }

  /** That the receiver has, or says that it has. */
  #positions(): Position[] {
    const { epoch, marks } = this.#progress;
    if (epoch === null) {
      return this.webhook.topics.flatMap(({ since }) => (since === undefined ? [] : [since]));
    }
    return marks.flatMap((mark) => (mark === null ? [] : [{ epoch, seq: mark.seq }]));
  }

  /** Does the long work of the topics in slices, until it is done or LONGEST_MS have passed. */
  async #prepare(): Promise<void> {
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + LONGEST_MS;
    const isStopping = () => this.#isClosed || clock.monotonicMs() >= untilMs;
    for (const { open } of this.topics) {
      const source = open();
      if (source instanceof Failure) continue;
      try {
        const prepare = (isOver: () => boolean) => source.prepare?.(isOver) ?? true;
        await Slices.of(clock).run(`webhooks ${this.webhook.owner}`, prepare, isStopping);
      } catch {
        // Making the body fails the same way and reports it.
      }
    }
  }

  /** One trade may concern many webhooks: their bodies are not made in one turn. */
  async #nextBodyInSlice(): Promise<NextBody | null> {
    let body: NextBody | null = null;
    const make = () => {
      body = this.#nextBody();
      return true;
    };
    const { clock } = this.#deps;
    await Slices.of(clock).run(`webhooks ${this.webhook.owner}`, make, () => this.#isClosed);
    return body;
  }

  /** null: nothing can be said now. */
  #nextBody(): NextBody | null {
    const { clock, applied, isReady } = this.#deps;
    if (!isReady()) {
      this.#waitForUs();
      return null;
    }
    const position = applied();
    this.#isDirty = false;
    this.#isSettled = false;
    let body: NextBody;
    try {
      body = nextBody(this.topics, this.#progress, position, clock.nowMs());
    } catch (error) {
      // A fault of a topic must not end the others.
      const failure = new Failure('SERVER_ERROR', error instanceof Error ? error.name : 'unknown');
      this.#notTold(failure);
      return null;
    }
    if (body.failure !== null) this.#notTold(body.failure);
    if (body.text !== null) return body;
    const { epoch, marks } = body;
    this.#progress = { ...this.#progress, epoch, marks };
    this.#isSettled = body.failure === null;
    return null;
  }

  #notTold({ message }: Failure): void {
    const lastError = { atMs: this.#deps.clock.nowMs(), message: `a topic: ${message}` };
    this.#progress = { ...this.#progress, lastError };
    this.#waitForUs();
  }

  #waitForUs(): void {
    this.#isDirty = true;
    this.#notBeforeMs = this.#deps.clock.monotonicMs() + OWN_RETRY_MS;
  }

  #accepted({ epoch, marks, isWhole, failure }: NextBody): void {
    const { lastError } = this.#progress;
    this.#progress = {
      epoch,
      marks,
      failures: 0,
      failingSinceMs: null,
      nextTryMs: null,
      lastError,
      deliveredMs: this.#deps.clock.nowMs(),
      isStopped: false,
    };
    this.#isSettled = isWhole && failure === null && !this.#isDirty;
    if (!isWhole) this.#isDirty = true;
  }

  #refused(message: string): void {
    const { clock, rng, observer } = this.#deps;
    const nowMs = clock.nowMs();
    const { failures, failingSinceMs } = this.#progress;
    const sinceMs = failingSinceMs ?? nowMs;
    const isStopped = nowMs - sinceMs >= DAY_MS;
    this.#isDirty = true;
    this.#progress = {
      ...this.#progress,
      failures: failures + 1,
      failingSinceMs: sinceMs,
      nextTryMs: isStopped ? null : nowMs + Math.ceil(backoffMs(failures, RETRY, rng)),
      lastError: { atMs: nowMs, message },
      isStopped,
    };
    if (isStopped) observer.webhookStopped(this.webhook.owner, this.webhook.id, message);
  }

  async #save(): Promise<void> {
    const { store, observer, outdated, clock } = this.#deps;
    const { webhook } = this;
    const saved = await store.save({ webhook, progress: this.#progress, version: this.#version });
    this.#savedMs = clock.monotonicMs();
    if (typeof saved === 'number') {
      this.#version = saved;
      observer.webhooksSaved();
    } else if (saved instanceof Failure) observer.webhooksNotSaved(saved.message);
    else {
      this.close();
      outdated();
    }
  }
}
