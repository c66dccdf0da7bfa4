/** Subscribers by subject, with the wildcards `*` (one token) and `>` (the rest). */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject || pattern === '>') return true;
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  for (const [index, want] of wanted.entries()) {
    if (want === '>') return index < tokens.length;
    if (index >= tokens.length || (want !== '*' && want !== tokens[index])) return false;
  }
  return wanted.length === tokens.length;
}

const INNER = /[*>]/;

export class Interest<T> {
  readonly #exact = new Map<string, T[]>();
  /** `<prefix>.*` and `<prefix>.>`, by their prefix. */
  readonly #oneMore = new Map<string, T[]>();
  readonly #anyMore = new Map<string, T[]>();
  readonly #others = new Map<string, T[]>();

  add(pattern: string, listener: T): void {
    const [map, key] = this.#placeOf(pattern);
    const found = map.get(key);
    if (found === undefined) map.set(key, [listener]);
    else found.push(listener);
  }

  remove(pattern: string, listener: T): void {
    const [map, key] = this.#placeOf(pattern);
    const left = map.get(key)?.filter((one) => one !== listener) ?? [];
    if (left.length === 0) map.delete(key);
    else map.set(key, left);
  }

  of(subject: string): readonly T[] {
    const exact = this.#exact.get(subject);
    const end = subject.lastIndexOf('.');
    const last = end < 0 ? undefined : this.#oneMore.get(subject.slice(0, end));
    if (this.#anyMore.size === 0 && this.#others.size === 0) {
      if (last === undefined) return exact ?? [];
      if (exact === undefined) return last;
    }
    const all = [...(exact ?? []), ...(last ?? [])];
    for (let dot = subject.indexOf('.'); dot >= 0; dot = subject.indexOf('.', dot + 1)) {
      all.push(...(this.#anyMore.get(subject.slice(0, dot)) ?? []));
    }
    for (const [pattern, listeners] of this.#others) {
      if (matches(pattern, subject)) all.push(...listeners);
    }
    return all;
  }

  #placeOf(pattern: string): [Map<string, T[]>, string] {
    if (!INNER.test(pattern)) return [this.#exact, pattern];
    const prefix = pattern.slice(0, -2);
    if (INNER.test(prefix) || prefix === '') return [this.#others, pattern];
    if (pattern.endsWith('.*')) return [this.#oneMore, prefix];
    return pattern.endsWith('.>') ? [this.#anyMore, prefix] : [this.#others, pattern];
  }
}
