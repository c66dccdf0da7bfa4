/** Keeps a value, made from versioned data, until the version changes. */
import { LRUCache } from 'lru-cache';

export interface Versioned<Value, Version> {
  version: Version;
  readonly value: Value;
}

export class VersionedCache<Key extends {}, Value extends {}, Version> {
  readonly #kept: LRUCache<Key, Versioned<Value, Version>>;

  constructor(options: LRUCache.Options<Key, Versioned<Value, Version>, unknown>) {
    this.#kept = new LRUCache(options);
  }

  /**
   * The value at `version`; undefined: there is none. If `isSame` answers true for an earlier
   * version, its value holds and gets the new version.
   */
  find(key: Key, version: Version, isSame = (before: Version) => before === version) {
    const kept = this.#kept.get(key);
    if (kept === undefined || !isSame(kept.version)) return undefined;
    kept.version = version;
    return kept.value;
  }

  /** The same, made where there is none. */
  of(
    key: Key,
    version: Version,
    make: (before: Value | undefined) => Value,
    isSame?: (before: Version) => boolean,
  ): Value {
    const known = this.find(key, version, isSame);
    return known ?? this.set(key, version, make(this.last(key)?.value));
  }

  /** The value that was kept last, of any version. */
  last(key: Key): Readonly<Versioned<Value, Version>> | undefined {
    return this.#kept.peek(key);
  }

  set(key: Key, version: Version, value: Value): Value {
    this.#kept.set(key, { version, value });
    return value;
  }

  delete(key: Key): void {
    this.#kept.delete(key);
  }

  clear(): void {
    this.#kept.clear();
  }
}
