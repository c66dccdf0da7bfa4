/** Webhooks that several nodes share: a key-value bucket, one value a webhook. */
import { Failure } from '../../engine/runtime/errors.ts';
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
  hear(keys: string, listener: () => void): void;
}

const PREFIX = 'webhook';
/** Put after each change of the list: nodes hear it. */
const CHANGED = 'changed';

export class SharedWebhooks implements WebhookStore {
  readonly #values: SharedValues;
  readonly #listeners = new Set<() => void>();
  #isListening = false;

  constructor(values: SharedValues) {
    this.#values = values;
  }

  async all(): Promise<readonly StoredWebhook[] | Failure> {
    const found = await this.#values.entries(PREFIX);
    if (found === 'unreachable') return unreachable();
    return found.map(({ text, revision }) => {
      // trust: written by `add` and `save` of a node of this market
      const stored = JSON.parse(text) as { webhook: Webhook; progress: Progress };
      return { ...stored, version: revision };
    });
  }

  async add(webhook: Webhook, progress: Progress): Promise<Failure | null> {
    const { write } = await this.#values.create(keyOf(webhook.id), textOf(webhook, progress));
    if (write !== 'done') return unreachable();
    await this.#tell(webhook.id);
    return null;
  }

  async remove(id: string): Promise<Failure | null> {
    const { write } = await this.#values.remove(keyOf(id));
    if (write !== 'done') return unreachable();
    await this.#tell(id);
    return null;
  }

  async save({
    webhook,
    progress,
    version,
  }: StoredWebhook): Promise<number | 'outdated' | Failure> {
    const text = textOf(webhook, progress);
    const written = await this.#values.update(keyOf(webhook.id), text, version);
    if (written.write === 'done') return written.revision;
    return written.write === 'refused' ? 'outdated' : unreachable();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) {
      this.#isListening = true;
      this.#values.hear(CHANGED, () => {
        for (const each of this.#listeners) each();
      });
    }
    return () => this.#listeners.delete(listener);
  }

  close(): void {}

  /** One that is lost costs time only: the leader looks now and then by itself. */
  async #tell(id: string): Promise<void> {
    await this.#values.put(CHANGED, id);
  }
}

function keyOf(id: string): string {
  return `${PREFIX}.${id}`;
}

function textOf(webhook: Webhook, progress: Progress): string {
  return JSON.stringify({ webhook, progress });
}

function unreachable(): Failure {
  return new Failure('SERVER_ERROR', 'the webhooks of all nodes cannot be reached: try again');
}
