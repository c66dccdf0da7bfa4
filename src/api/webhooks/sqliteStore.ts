/** Webhooks of a single node: a file beside its log. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Database, openDatabase } from '../../engine/store/database.ts';
import type { Progress, StoredWebhook, Webhook, WebhookStore } from './port.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, webhook TEXT NOT NULL, progress TEXT NOT NULL, version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

interface Row {
  readonly webhook: string;
  readonly progress: string;
  readonly version: number;
}

export class SqliteWebhooks implements WebhookStore {
  readonly #database: Database;
  readonly #listeners = new Set<() => void>();

  constructor(file: string) {
    // It holds secrets: nobody else on the machine may read it, or what SQLite keeps beside it.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    this.#database = openDatabase(file, { synchronous: 'FULL', maxMb: 0, cacheMb: 2 });
    this.#database.pragma('wal_autocheckpoint = 1000');
    this.#database.exec(SCHEMA);
  }

  async all(): Promise<readonly StoredWebhook[] | Failure> {
    return this.#guarded(() => {
      const query = this.#database.prepare<[], Row>(
        'SELECT webhook, progress, version FROM webhooks ORDER BY id',
      );
      return query.all().map(({ webhook, progress, version }) => ({
        // trust: written by `add` and `save`
        webhook: JSON.parse(webhook) as Webhook,
        progress: JSON.parse(progress) as Progress,
        version,
      }));
    });
  }

  async add(webhook: Webhook, progress: Progress): Promise<Failure | null> {
    return this.#change(() => {
      this.#run(
        'INSERT INTO webhooks (id, webhook, progress, version) VALUES (?, ?, ?, 1)',
        webhook.id,
        JSON.stringify(webhook),
        JSON.stringify(progress),
      );
      return null;
    });
  }

  async remove(id: string): Promise<Failure | null> {
    return this.#change(() => {
      this.#run('DELETE FROM webhooks WHERE id = ?', id);
      return null;
    });
  }

  async save({
    webhook: { id },
    progress,
    version,
  }: StoredWebhook): Promise<number | 'outdated' | Failure> {
    return this.#guarded(() => {
      const changed = this.#run(
        'UPDATE webhooks SET progress = ?, version = version + 1 WHERE id = ? AND version = ?',
        JSON.stringify(progress),
        id,
        version,
      );
      return changed === 0 ? 'outdated' : version + 1;
    });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#database.close();
  }

  async #change(change: () => Failure | null): Promise<Failure | null> {
    const failure = this.#guarded(change);
    if (failure === null) for (const listener of this.#listeners) listener();
    return failure;
  }

  #run(statement: string, ...values: (string | number)[]): number {
    return this.#database.prepare<(string | number)[]>(statement).run(...values).changes;
  }

  #guarded<T>(work: () => T): T | Failure {
    try {
      return work();
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason';
      return new Failure('SERVER_ERROR', `webhooks cannot be read or written (${code})`);
    }
  }
}
