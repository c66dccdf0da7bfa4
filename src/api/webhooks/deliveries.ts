/**
 * Delivers all webhooks, on the node that leads. It follows the fold as the streams of sockets do:
 * by tags, so that a batch costs as much as it changes.
 */
import type { TopicHub } from '../../engine/node/foldListeners.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import type { ApiKeys } from '../gateway/apiKeys.ts';
import type { NodeView } from '../gateway/port.ts';
import type { Topic } from '../topics/port.ts';
import type { OpenTopic } from './nextBody.ts';
import type { StoredWebhook, WebhookStore, WebhookTopic } from './port.ts';
import type { Sender } from './sender.ts';
import {
  WebhookDelivery,
  type WebhookDeliveryDeps,
  type WebhookObserver,
} from './webhookDelivery.ts';

interface DeliveriesDeps {
  readonly store: WebhookStore;
  readonly sender: Sender;
  readonly topics: readonly Topic[];
  readonly nodeView: Pick<NodeView, 'applied' | 'synced' | 'logEnd'>;
  readonly apiKeys: ApiKeys;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: WebhookObserver & {
    /** How many there are, and how many of them fail or have stopped. */
    webhooksKnown(all: number, failing: number): void;
  };
}

/** Receivers that are slow must not fill the memory: a body of each is kept. */
const MAX_IN_FLIGHT = 64;
/**
 * Limit for one API key: receivers that do not answer must not delay the receivers of other keys.
 */
const MAX_IN_FLIGHT_EACH = 12;
/** Looks into the store without a reason: what another node told us may have been lost. */
const LOOK_MS = 30_000;
/** After the store gave no answer. */
const LOAD_AGAIN_MS = 2_000;

export class Deliveries implements Service, TopicHub {
  readonly name = 'webhooks';
  readonly #deps: DeliveriesDeps;
  readonly #topics: ReadonlyMap<string, Topic>;
  readonly #loading: Task;
  readonly #deliveries = new Map<string, WebhookDelivery>();
  readonly #byTag = new Map<string, Set<WebhookDelivery>>();
  readonly #tagsOf = new Map<WebhookDelivery, readonly string[]>();
  readonly #waiting: { readonly owner: string; readonly work: () => Promise<void> }[] = [];
  readonly #inFlightOf = new Map<string, number>();
  /** Owners whose webhooks were added or removed. */
  readonly #changed = new Set<string>();
  /** When the webhooks of all owners are read again, not only of owners in `#changed`. */
  #allDueMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** Applied before the current batch. */
  #previous: number;
  #resting: Timer | null = null;
  #unlisten = () => {};

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    this.#topics = new Map(deps.topics.map((topic) => [topic.name, topic]));
    this.#loading = new Task({ clock: deps.clock });
    this.#previous = deps.nodeView.applied().seq;
  }

  start(): void {
    this.#unlisten = this.#deps.store.onChange((owner) => this.#loadSoon(owner));
    this.#loading.start(() => this.#run());
  }

  async stop(): Promise<void> {
    const ended = this.#loading.stop();
    this.#unlisten();
    this.#resting?.cancel();
    for (const delivery of this.#deliveries.values()) delivery.close();
    this.#waiting.length = 0;
    this.#deps.sender.close();
    await ended;
  }

  applied(tags: Iterable<string>): void {
    for (const tag of tags) {
      for (const delivery of this.#byTag.get(tag) ?? []) delivery.changedAfter(this.#previous);
    }
    this.#previous = this.#deps.nodeView.applied().seq;
  }

  epochChanged(): void {
    this.#previous = this.#deps.nodeView.applied().seq;
    for (const delivery of this.#deliveries.values()) {
      this.#unlist(delivery);
      this.#list(delivery);
      delivery.changedAfter(0);
    }
  }

  async #run(): Promise<void> {
    do {
      const failure = await this.#load();
      if (this.#loading.isStopping) return;
      if (failure !== null) {
        this.#deps.observer.webhooksNotSaved(failure.message);
        this.#allDueMs = Number.NEGATIVE_INFINITY;
        if (!(await this.#loading.pause(LOAD_AGAIN_MS))) return;
        this.#loading.wake();
        continue;
      }
      this.#deps.observer.webhooksSaved();
      this.#rest();
    } while (await this.#loading.untilWoken(LOOK_MS));
  }

  #loadSoon(owner: string): void {
    this.#changed.add(owner);
    this.#loading.wake();
  }

  async #load(): Promise<Failure | null> {
    const { store, clock } = this.#deps;
    const owners = [...this.#changed];
    this.#changed.clear();
    const nowMs = clock.monotonicMs();
    const isAll = nowMs >= this.#allDueMs;
    if (isAll) this.#allDueMs = nowMs + LOOK_MS;
    for (const owner of isAll ? [null] : owners) {
      const found = await (owner === null ? store.all() : store.ownedBy(owner));
      if (found instanceof Failure) return found;
      if (this.#loading.isStopping) return null;
      this.#replaceWebhooks(found, owner);
    }
    return null;
  }

  /**
   * Takes over the store's webhooks, of `owner` alone or of all; one whose webhook is unchanged
   * continues.
   */
  #replaceWebhooks(found: readonly StoredWebhook[], owner: string | null): void {
    const ids = new Set(found.map(({ webhook }) => webhook.id));
    for (const delivery of this.#deliveries.values()) {
      const isAsked = owner === null || delivery.webhook.owner === owner;
      if (isAsked && !ids.has(delivery.webhook.id)) this.#drop(delivery);
    }
    for (const stored of found) {
      const known = this.#deliveries.get(stored.webhook.id);
      if (known !== undefined && !known.isClosed) continue;
      if (known !== undefined) this.#drop(known);
      this.#open(stored);
    }
  }

  #open(stored: StoredWebhook): void {
    const { store, sender, nodeView, apiKeys, clock, rng, observer } = this.#deps;
    const deps: WebhookDeliveryDeps = {
      store,
      sender,
      clock,
      rng,
      observer,
      applied: () => nodeView.applied(),
      logEnd: async () => (await nodeView.logEnd?.()) ?? null,
      isReady: () => nodeView.synced(),
      isKnown: (owner) => apiKeys.named(owner) !== null,
      enqueue: (work) => this.#enqueue(stored.webhook.owner, work),
      outdated: () => this.#loadSoon(stored.webhook.owner),
    };
    const delivery = new WebhookDelivery(stored, this.#openTopics(stored.webhook.topics), deps);
    this.#deliveries.set(stored.webhook.id, delivery);
    this.#list(delivery);
    delivery.schedule();
  }

  /** A topic that this version no longer has, or no longer takes so, is left out. */
  #openTopics(wanted: readonly WebhookTopic[]): OpenTopic[] {
    return wanted.map((each) => {
      const topic = this.#topics.get(each.topic);
      const open = topic?.accept(each.data ?? {});
      if (topic === undefined || open === undefined || open instanceof Failure) {
        const failure = new Failure('TOPIC_NOT_FOUND', `${each.topic} is no topic of this server`);
        return { wanted: each, cadenceMs: 1000, event: each.topic, open: () => failure };
      }
      const cadenceMs = Math.max(topic.cadenceMs, each.maxHz === undefined ? 0 : 1000 / each.maxHz);
      return { wanted: each, cadenceMs, event: topic.event, open };
    });
  }

  #list(delivery: WebhookDelivery): void {
    const tags = delivery.topics.flatMap(({ open }) => {
      const source = open();
      return source instanceof Failure ? [] : source.tags;
    });
    this.#tagsOf.set(delivery, tags);
    for (const tag of tags) {
      const tagged = this.#byTag.get(tag) ?? new Set();
      this.#byTag.set(tag, tagged.add(delivery));
    }
  }

  #unlist(delivery: WebhookDelivery): void {
    for (const tag of this.#tagsOf.get(delivery) ?? []) {
      const tagged = this.#byTag.get(tag);
      tagged?.delete(delivery);
      if (tagged?.size === 0) this.#byTag.delete(tag);
    }
    this.#tagsOf.delete(delivery);
  }

  #drop(delivery: WebhookDelivery): void {
    delivery.close();
    this.#unlist(delivery);
    this.#deliveries.delete(delivery.webhook.id);
  }

  /** In turn: one webhook is not served twice while another waits. */
  #enqueue(owner: string, work: () => Promise<void>): void {
    this.#waiting.push({ owner, work });
    this.#beginNext();
  }

  /** Starts the first waiting delivery whose key has room. */
  #beginNext(): void {
    if (this.#inFlight >= MAX_IN_FLIGHT) return;
    const own = (owner: string) => this.#inFlightOf.get(owner) ?? 0;
    const at = this.#waiting.findIndex(({ owner }) => own(owner) < MAX_IN_FLIGHT_EACH);
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (next === undefined) return;
    const { owner, work } = next;
    this.#inFlight += 1;
    this.#inFlightOf.set(owner, own(owner) + 1);
    void work().finally(() => {
      this.#inFlight -= 1;
      if (own(owner) > 1) this.#inFlightOf.set(owner, own(owner) - 1);
      else this.#inFlightOf.delete(owner);
      this.#beginNext();
    });
  }

  #rest(): void {
    this.#resting?.cancel();
    this.#resting = this.#deps.clock.after(LOOK_MS, () => this.#rest());
    const { seq } = this.#deps.nodeView.applied();
    let failing = 0;
    for (const delivery of this.#deliveries.values()) {
      delivery.unchangedUpTo(seq);
      if (delivery.progress.failures > 0) failing += 1;
    }
    this.#deps.observer.webhooksKnown(this.#deliveries.size, failing);
  }
}
