/**
 * Webhooks that several nodes share: a key-value bucket, one value a webhook, its key
 * `webhook.<hash of its owner>.<id>`.
 */
import { hash } from 'node:crypto';
import { type Failure, notNow } from '../../engine/runtime/errors.ts';
import type { Progress, StoredWebhook, Webhook, WebhookStore } from './port.ts';

type Written =
  | { readonly write: 'done'; readonly revision: number }
  | { readonly write: 'refused' | 'unreachable' };

/** As much of a bucket as is used. */
interface SharedValues {
  entries(
    prefix: string,
  ): Promise<readonly { readonly text: string; readonly revision: number }[] | 'unreachable'>;
  create(key: string, text: string): Promise<Written>;
  update(key: string, text: string, revision: number): Promise<Written>;
  put(key: string, text: string): Promise<Written>;
  remove(key: string): Promise<Written>;
  watch(keys: string, listener: (text: string) => void): void;
  /** null: no node of this market wrote that; it is reported. */
  readonly messages: {
    read(kind: 'webhook', text: string): { webhook: Webhook; progress: Progress } | null;
  };
}

const PREFIX = 'webhook';
/** Put after each change of the list, with the owner as its text: nodes hear it. */
const CHANGED = 'changed';

export class SharedWebhooks implements WebhookStore {
  readonly #values: SharedValues;
  readonly #listeners = new Set<(owner: string) => void>();
  #isListening = false;

  constructor(values: SharedValues) {
    this.#values = values;
  }

  all(): Promise<readonly StoredWebhook[] | Failure> {
    return this.#under(`${PREFIX}.*`);
  }

  ownedBy(owner: string): Promise<readonly StoredWebhook[] | Failure> {
    return this.#under(prefixOf(owner));
  }

  async add(webhook: Webhook, progress: Progress): Promise<Failure | null> {
    const { write } = await this.#values.create(keyOf(webhook), textOf(webhook, progress));
    if (write !== 'done') return unreachable();
    await this.#notifyChanged(webhook.owner);
    return null;
  }

  async remove(webhook: Pick<Webhook, 'id' | 'owner'>): Promise<Failure | null> {
    const { write } = await this.#values.remove(keyOf(webhook));
    if (write !== 'done') return unreachable();
    await this.#notifyChanged(webhook.owner);
    return null;
  }

  async save({
    webhook,
    progress,
    version,
  }: StoredWebhook): Promise<number | 'outdated' | Failure> {
    const text = textOf(webhook, progress);
    const written = await this.#values.update(keyOf(webhook), text, version);
    if (written.write === 'done') return written.revision;
    return written.write === 'refused' ? 'outdated' : unreachable();
  }

  onChange(listener: (owner: string) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) {
      this.#isListening = true;
      this.#values.watch(CHANGED, (owner) => {
        for (const each of this.#listeners) each(owner);
      });
    }
    return () => this.#listeners.delete(listener);
  }

  close(): void {}

  /** A lost message costs only time: the leader looks now and then by itself. */
  async #notifyChanged(owner: string): Promise<void> {
    await this.#values.put(CHANGED, owner);
  }

  async #under(prefix: string): Promise<readonly StoredWebhook[] | Failure> {
    const found = await this.#values.entries(prefix);
    if (found === 'unreachable') return unreachable();
    const all: StoredWebhook[] = [];
    for (const { text, revision } of found) {
      const stored = this.#values.messages.read('webhook', text);
      if (stored !== null) all.push({ ...stored, version: revision });
    }
    return all;
  }
}

function prefixOf(owner: string): string {
  return `${PREFIX}.${hash('sha256', owner).slice(0, 32)}`;
}

function keyOf({ id, owner }: Pick<Webhook, 'id' | 'owner'>): string {
  return `${prefixOf(owner)}.${id}`;
}

function textOf(webhook: Webhook, progress: Progress): string {
  return JSON.stringify({ webhook, progress });
}

function unreachable(): Failure {
  return notNow('the webhooks of all nodes cannot be reached, or have no room: try again');
}
