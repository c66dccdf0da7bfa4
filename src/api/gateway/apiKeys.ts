/**
 * API keys: programs with limits of their own. A key is a text that begins with `upc_`; only its
 * SHA-256 is known here, so that neither the file of keys nor the memory of the server tells it.
 *
 * A caller with a key is limited by it alone, from whatever address, loopback included. Two keys
 * share nothing, so a program changes its key by having two for a while.
 */
import { hash } from 'node:crypto';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Quota } from '../../engine/runtime/tokenBucket.ts';

export interface KeyLimits {
  readonly read: Quota;
  readonly build: Quota;
  readonly launch: Quota;
  /** Open sockets and event streams. */
  readonly sockets: number;
}

export interface ApiKey {
  /** For people: in answers and in the log. */
  readonly name: string;
  /** Hash of the key, in lower-case hex. */
  readonly sha256: string;
  readonly limits: KeyLimits;
}

const PREFIX = 'upc_';
const BEARER = /^bearer +(upc_.*)$/i;

export class ApiKeys {
  #byHash: ReadonlyMap<string, ApiKey>;
  #byName: ReadonlyMap<string, ApiKey>;
  readonly #listeners: (() => void)[] = [];

  constructor(keys: readonly ApiKey[] = []) {
    this.#byHash = new Map(keys.map((key) => [key.sha256, key]));
    this.#byName = new Map(keys.map((key) => [key.name, key]));
  }

  /** null: there is no such key. */
  find(secret: string): ApiKey | null {
    if (!secret.startsWith(PREFIX) || this.#byHash.size === 0) return null;
    return this.#byHash.get(hash('sha256', secret)) ?? null;
  }

  /** null: there is no key of that name. */
  named(name: string): ApiKey | null {
    return this.#byName.get(name) ?? null;
  }

  has({ sha256 }: ApiKey): boolean {
    return this.#byHash.has(sha256);
  }

  /**
   * Takes other keys; returns the names of the removed keys, whose sockets end. A key whose limits
   * stay as they were keeps the tokens that it has left.
   */
  replace(keys: readonly ApiKey[]): readonly string[] {
    const old = this.#byHash;
    const kept = keys.map((key) => {
      const known = old.get(key.sha256);
      return known !== undefined && isSame(known, key) ? known : key;
    });
    this.#byHash = new Map(kept.map((key) => [key.sha256, key]));
    this.#byName = new Map(kept.map((key) => [key.name, key]));
    const gone = [...old.values()].filter((key) => !this.has(key)).map(({ name }) => name);
    for (const listener of this.#listeners) listener();
    return gone;
  }

  /** Called after each `replace`. */
  onReplaced(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** The key that an `Authorization` header presents; null: none. */
export function presentedKey(authorization: string): string | null {
  if (authorization === '') return null;
  return BEARER.exec(authorization)?.[1]?.trim() ?? null;
}

export function unknownKey(): Failure {
  const message = 'no such API key: send one that the operator of this server knows, or none';
  return new Failure('UNKNOWN_KEY', message);
}

export function keyRequired(): Failure {
  const message =
    'this needs an API key: send one that the operator of this server gave you, ' +
    'as Authorization: Bearer upc_…';
  return new Failure('KEY_REQUIRED', message);
}

function isSame(one: ApiKey, other: ApiKey): boolean {
  return JSON.stringify([one.name, one.limits]) === JSON.stringify([other.name, other.limits]);
}
