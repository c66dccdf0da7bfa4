/** Reads a JSON object field by field and collects every fault. */

/** undefined: `value` is not of this type. */
type Read<T> = (value: unknown) => T | undefined;

/** How to read a value, its name in messages, and its replacement after a fault. */
export interface FieldType<T> {
  readonly read: Read<T>;
  readonly what: string;
  readonly fallback: T;
}

export class JsonFields {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #path: string;
  readonly #faults: string[];
  readonly #taken = new Set<string>();

  constructor(value: unknown, path: string, faults: string[]) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) faults.push(`${path === '' ? 'the file' : path}: an object was expected`);
    this.#fields = new Map(isObject ? Object.entries(value) : []);
    this.#path = path;
    this.#faults = faults;
  }

  read<T>(name: string, { read, what, fallback: standIn }: FieldType<T>): T {
    const found = this.#value(name);
    if (found === undefined) return standIn;
    const value = read(found);
    if (value !== undefined) return value;
    this.#faults.push(`${this.#pathOf(name)}: ${what} was expected`);
    return standIn;
  }

  object(name: string): JsonFields {
    return new JsonFields(this.#value(name) ?? {}, this.#pathOf(name), this.#faults);
  }

  /** Whether a field that may be absent is there. */
  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Call it last: reports fields that were not read. */
  rejectUnknown(): void {
    for (const name of this.#fields.keys()) {
      if (!this.#taken.has(name)) this.#faults.push(`${this.#pathOf(name)}: is not known`);
    }
  }

  #value(name: string): unknown {
    this.#taken.add(name);
    const value = this.#fields.get(name);
    if (value === undefined) this.#faults.push(`${this.#pathOf(name)}: is missing`);
    return value;
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

export function textLike(pattern: RegExp, what: string): FieldType<string> {
  const read = (value: unknown) =>
    typeof value === 'string' && pattern.test(value) ? value : undefined;
  return { read, what, fallback: '' };
}

export function orNull<T>({ read, what }: FieldType<T>): FieldType<T | null> {
  return {
    read: (value) => (value === null ? null : read(value)),
    what: `${what}, or null,`,
    fallback: null,
  };
}

/** An amount as decimal digits in a string: JSON numbers are not exact. */
export const AMOUNT: FieldType<bigint> = {
  read: (value) =>
    typeof value === 'string' && /^(0|[1-9]\d{0,23})$/.test(value) ? BigInt(value) : undefined,
  what: 'an integer as text',
  fallback: 0n,
};

export function integerUpTo(most: number): FieldType<number> {
  return {
    read: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most
        ? value
        : undefined,
    what: `an integer from 0 to ${most}`,
    fallback: 0,
  };
}
