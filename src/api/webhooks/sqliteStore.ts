/** Webhooks of a single node: a file beside its log. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { Failure, notNow, systemCode } from '../../engine/runtime/errors.ts';
import { type Database, openDatabase, type Statement } from '../../engine/store/database.ts';
import type { Progress, StoredWebhook, Webhook, WebhookStore } from './port.ts';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, webhook TEXT NOT NULL, progress TEXT NOT NULL, version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS webhooks_by_owner ON webhooks (webhook ->> '$.owner');
`;
const READ = 'SELECT webhook, progress, version FROM webhooks';

const ADD = 'INSERT INTO webhooks (id, webhook, progress, version) VALUES (?, ?, ?, 1)';
const SAVE = `
  UPDATE webhooks SET progress = ?, version = version + 1 WHERE id = ? AND version = ?`;

const REFUSED = /^SQLITE_(FULL|BUSY|CANTOPEN|READONLY|IOERR)(?!_(READ|SHORT_READ|CORRUPTFS))/;

interface Row {
  readonly webhook: string;
  readonly progress: string;
  readonly version: number;
}

export class SqliteWebhooks implements WebhookStore {
  readonly #database: Database;
  /** Saves the progress after each delivery. */
  readonly #save: Statement<[string, string, number]>;
  readonly #listeners = new Set<(owner: string) => void>();

  constructor(file: string) {
    // It holds secrets: no other user of the machine may read it, or what SQLite keeps beside it.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    this.#database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0, cacheMb: 2 });
    this.#database.pragma('wal_autocheckpoint = 1000');
    this.#database.exec(SCHEMA);
    this.#save = this.#database.prepare(SAVE);
  }

  async all(): Promise<readonly StoredWebhook[] | Failure> {
    return this.#guarded(() => this.#database.prepare<[], Row>(READ).all().map(storedOf));
  }

  async ownedBy(owner: string): Promise<readonly StoredWebhook[] | Failure> {
    return this.#guarded(() => {
      const query = this.#database.prepare<[string], Row>(
        `${READ} WHERE webhook ->> '$.owner' = ?`,
      );
      return query.all(owner).map(storedOf);
    });
  }

  async add(webhook: Webhook, progress: Progress): Promise<Failure | null> {
    return this.#change(webhook.owner, () => {
      const values = [webhook.id, JSON.stringify(webhook), JSON.stringify(progress)];
      this.#database.prepare<string[]>(ADD).run(...values);
    });
  }

  async remove({ id, owner }: Pick<Webhook, 'id' | 'owner'>): Promise<Failure | null> {
    return this.#change(owner, () => {
      this.#database.prepare<[string]>('DELETE FROM webhooks WHERE id = ?').run(id);
    });
  }

  async save({
    webhook: { id },
    progress,
    version,
  }: StoredWebhook): Promise<number | 'outdated' | Failure> {
    return this.#guarded(() => {
      const { changes } = this.#save.run(JSON.stringify(progress), id, version);
      return changes === 0 ? 'outdated' : version + 1;
    });
  }

  onChange(listener: (owner: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#database.close();
  }

  /** Survives a power cut; a position that is lost with one is delivered again. */
  async #change(owner: string, change: () => void): Promise<Failure | null> {
    const failure = this.#guarded(() => {
      this.#database.pragma('synchronous = FULL');
      change();
      return null;
    });
    if (failure !== null) return failure;
    this.#database.pragma('synchronous = NORMAL');
    for (const listener of this.#listeners) listener(owner);
    return null;
  }

  #guarded<T>(work: () => T): T | Failure {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error) ?? 'no reason';
      const message = `webhooks cannot be read or written (${code})`;
      // A full or failing disk; anything else is damage, or a fault of the program.
      return REFUSED.test(code)
        ? notNow(`${message}: nothing was changed, try again`)
        : new Failure('SERVER_ERROR', message);
    }
  }
}

function storedOf({ webhook, progress, version }: Row): StoredWebhook {
  // trust: written by `add`
  const registered = JSON.parse(webhook) as Webhook;
  // trust: written by `add` and `save`
  return { webhook: registered, progress: JSON.parse(progress) as Progress, version };
}
