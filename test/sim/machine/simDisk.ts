/**
 * The disks of all nodes of a run: real files, whose writes pass here first. A disk may be full, a
 * kill may come before any write, and a crash leaves the files as a real one does.
 *
 * `install` replaces the writing functions of node:fs and of better-sqlite3 for this process (Node
 * documents `syncBuiltinESMExports` for that), so the nodes need no port for it.
 *
 * Writes are a transaction of SQLite, a checkpoint, a call of node:fs that changes a file. SQLite's
 * own writes inside a transaction are not seen one by one: `loseUnsynced` cuts its write-ahead log
 * at any byte instead, with the same result as a crash inside a transaction.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve, sep } from 'node:path';
import BetterSqlite, { type Database } from 'better-sqlite3';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import type { VirtualTime } from './virtualTime.ts';

/**
 * Functions of node:fs and of node:fs/promises: the ones that a full disk refuses, and the others.
 */
const GROWING = ['writeFile', 'appendFile', 'copyFile', 'mkdir'];
const OTHERS = ['rename', 'rm', 'unlink', 'link', 'truncate'];
const WRITING_FLAGS = /[wa+]/;

const [HEADER_BYTES, FRAME_BYTES] = [32, 24 + 4096];
/** In the wal-index: frames that a checkpoint has moved, or has started to move, into the file. */
const [BACKFILLED_AT, ATTEMPTED_AT] = [96, 128];

type AnyFunction = (this: unknown, ...values: unknown[]) => unknown;

export class SimDisk {
  /** Called before each write. If it kills the node, the write does not happen. */
  onWrite: ((path: string) => void) | null = null;
  /**
   * Called after each transaction, before its caller learns of it: what kills the node in it leaves
   * a write that was not acknowledged, and may tear it. `from`, `to`: its bytes in the `-wal` file.
   */
  onWritten: ((path: string, from: number, to: number) => void) | null = null;
  readonly #time: VirtualTime;
  readonly #full = new Set<string>();
  readonly #open = new Set<Database>();
  /** Bytes of each write-ahead log that a crash cannot take. */
  #isWithin = false;
  readonly #synced = new Map<string, number>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Nothing more can be written below `directory`. */
  fill(directory: string): void {
    this.#full.add(resolve(directory));
  }

  free(directory: string): void {
    this.#full.delete(resolve(directory));
  }

  /** Returns what takes it back. */
  install(): () => void {
    const undo = [...this.#wrapFiles(), ...this.#wrapDatabases()];
    syncBuiltinESMExports();
    return () => {
      for (const take of undo) take();
      syncBuiltinESMExports();
    };
  }

  /** The process that has files open below `directory` is gone: they stay as they are. */
  crash(directory: string): void {
    this.#within(() => this.#crash(directory));
  }

  #crash(directory: string): void {
    const gone = [...this.#open].filter(({ name }) => isBelow(name, directory));
    const kept = new Map<string, Buffer | null>();
    for (const { name } of gone) {
      this.#synced.set(`${name}-wal`, syncedBytes(name));
      for (const file of [name, `${name}-wal`]) {
        kept.set(file, REAL.existsSync(file) ? REAL.readFileSync(file) : null);
      }
    }
    for (const database of gone) {
      this.#open.delete(database);
      database.close();
    }
    for (const [file, bytes] of kept) {
      if (bytes === null) REAL.rmSync(file, { force: true });
      else REAL.writeFileSync(file, bytes);
    }
    for (const { name } of gone) REAL.rmSync(`${name}-shm`, { force: true });
  }

  /**
   * After `crash`, where the power went with the process: cuts written but unsynced bytes.
   * `isTorn`: at any byte, else between two pages.
   */
  loseUnsynced(directory: string, rng: Rng, isTorn: boolean): void {
    this.#within(() => this.#loseUnsynced(directory, rng, isTorn));
  }

  #loseUnsynced(directory: string, rng: Rng, isTorn: boolean): void {
    for (const [file, synced] of [...this.#synced]) {
      if (!isBelow(file, directory) || !REAL.existsSync(file)) continue;
      const { size } = REAL.statSync(file);
      if (synced >= size) continue;
      const cut = synced + Math.floor(rng.unit() * (size - synced + 1));
      const pages = Math.floor(Math.max(0, cut - HEADER_BYTES) / FRAME_BYTES);
      const whole = Math.max(synced, HEADER_BYTES + pages * FRAME_BYTES);
      REAL.truncateSync(file, isTorn ? cut : Math.min(whole, size));
      this.#synced.delete(file);
    }
  }

  #wrapFiles(): (() => void)[] {
    const undo: (() => void)[] = [];
    const wrap = (owner: object, name: string, isGrowing: (values: unknown[]) => boolean) => {
      const real: AnyFunction = Reflect.get(owner, name);
      const isAsync = owner === fs.promises;
      const disk = this;
      const wrapped: AnyFunction = function (...values) {
        const path = targetOf(name, values);
        try {
          if (path !== null) disk.#beforeWrite(path, isGrowing(values) ? 'ENOSPC' : null);
        } catch (error) {
          if (isAsync) return Promise.reject(error);
          throw error;
        }
        return isAsync ? real.apply(this, values) : disk.#within(() => real.apply(this, values));
      };
      Reflect.set(owner, name, wrapped);
      undo.push(() => Reflect.set(owner, name, real));
    };
    for (const name of GROWING) {
      wrap(fs, `${name}Sync`, () => true);
      wrap(fs.promises, name, () => true);
    }
    for (const name of OTHERS) {
      wrap(fs, `${name}Sync`, () => false);
      wrap(fs.promises, name, () => false);
    }
    const writes = ([, flags = 'r']: unknown[]) => WRITING_FLAGS.test(String(flags));
    wrap(fs, 'openSync', writes);
    wrap(fs.promises, 'open', writes);
    return undo;
  }

  #wrapDatabases(): (() => void)[] {
    const sample = new BetterSqlite(':memory:');
    const owner: object = Object.getPrototypeOf(sample);
    sample.close();
    const disk = this;
    const real = (name: string): AnyFunction => Reflect.get(owner, name);
    const [pragma, transaction, close] = ['pragma', 'transaction', 'close'].map(real);
    const replaced: Record<string, (this: Database, ...values: unknown[]) => unknown> = {
      // The first that is called of each database that is opened.
      pragma(...values) {
        disk.#opened(this);
        if (String(values[0]).startsWith('wal_checkpoint')) disk.#beforeWrite(this.name, FULL);
        return pragma?.apply(this, values);
      },
      transaction(work) {
        let from = 0;
        let isWrite = false;
        const guarded: AnyFunction = (...values) => {
          const before = changesOf(this);
          // trust: only functions are made transactions
          const result = (work as AnyFunction)(...values);
          // A read needs no room. An exception here rolls the transaction back.
          isWrite = changesOf(this) !== before;
          if (isWrite) disk.#beforeWrite(this.name, FULL);
          from = walBytes(this.name);
          return result;
        };
        // trust: better-sqlite3 returns a function
        const run = transaction?.call(this, guarded) as AnyFunction;
        return (...values: unknown[]) => {
          const result = run(...values);
          if (isWrite) disk.#afterWrite(this.name, from);
          return result;
        };
      },
      close() {
        disk.#open.delete(this);
        return close?.call(this);
      },
    };
    for (const [name, method] of Object.entries(replaced)) Reflect.set(owner, name, method);
    return [
      () => Reflect.set(owner, 'pragma', pragma),
      () => Reflect.set(owner, 'transaction', transaction),
      () => Reflect.set(owner, 'close', close),
    ];
  }

  /** Functions of node:fs call each other. */
  #within<T>(run: () => T): T {
    const before = this.#isWithin;
    this.#isWithin = true;
    try {
      return run();
    } finally {
      this.#isWithin = before;
    }
  }

  #opened(database: Database): void {
    if (database.name === ':memory:' || database.readonly) return;
    if (this.#time.current.isDead) {
      database.close();
      throw new Error('its process was killed');
    }
    this.#open.add(database);
  }

  #afterWrite(path: string, from: number): void {
    this.onWritten?.(path, from, walBytes(path));
    if (this.#time.current.isDead) throw new Error('its process was killed');
  }

  /** `code`: the error code of a full disk; null: it needs no room. */
  #beforeWrite(path: string, code: string | null): void {
    if (this.#isWithin) return;
    const { current } = this.#time;
    if (!current.isDead) this.onWrite?.(path);
    if (current.isDead) throw new Error('its process was killed');
    if (code === null || ![...this.#full].some((directory) => isBelow(path, directory))) return;
    throw Object.assign(new Error(`${code}: the simulated disk of ${path} is full`), { code });
  }
}

const FULL = 'SQLITE_FULL';

const CHANGES = new WeakMap<Database, () => string>();

/** Another text after a statement that wrote. */
function changesOf(database: Database): string {
  const known = CHANGES.get(database);
  if (known !== undefined) return known();
  const text = "SELECT total_changes() || ' ' || schema_version FROM pragma_schema_version";
  const statement = database.prepare<[], string>(text).pluck();
  const read = () => statement.get() ?? '';
  CHANGES.set(database, read);
  return read();
}

function walBytes(database: string): number {
  return REAL.statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** The file that a call changes; null: it changes none. */
function targetOf(name: string, values: readonly unknown[]): string | null {
  const [path, second] = values;
  if (name.startsWith('open') && !WRITING_FLAGS.test(String(second ?? 'r'))) return null;
  const target = /^(copyFile|rename|link)/.test(name) ? second : path;
  return typeof target === 'string' ? target : null;
}

function isBelow(path: string, directory: string): boolean {
  const [whole, above] = [resolve(path), resolve(directory)];
  return whole === above || whole.startsWith(`${above}${sep}`);
}

/** A log that is synced at each commit has no wal-index file, and nothing to lose. */
function syncedBytes(database: string): number {
  const index = `${database}-shm`;
  if (!REAL.existsSync(index)) return Number.POSITIVE_INFINITY;
  const bytes = REAL.readFileSync(index);
  if (bytes.length < ATTEMPTED_AT + 4) return 0;
  const frames = Math.max(bytes.readUInt32LE(BACKFILLED_AT), bytes.readUInt32LE(ATTEMPTED_AT));
  return frames === 0 ? 0 : HEADER_BYTES + frames * FRAME_BYTES;
}

/** As they are before `install`. */
const REAL = { ...fs };
