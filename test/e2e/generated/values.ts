/**
 * Values that a JSON schema takes. Texts that name something come from the running market if they
 * fit the schema, so that requests find it; else they are made up.
 */
import fc from 'fast-check';
import { type Json, listOf, objectOf, type Served } from './document.ts';

/** Things of the market, by kind; the same seed draws the same places of these lists. */
export interface Finds {
  readonly assets: readonly string[];
  readonly keyHashes: readonly string[];
  readonly addresses: readonly string[];
  /** `<tx>:<index>` of orders, locks and wallets. */
  readonly refs: readonly string[];
  readonly hashes: readonly string[];
  readonly beacons: readonly string[];
  readonly contentIds: readonly string[];
  /** `<asset>.png` */
  readonly pictures: readonly string[];
  readonly transactions: readonly string[];
  readonly witnesses: readonly string[];
  /** CIP-30: hex CBOR of `[input, output]`. */
  readonly outputs: readonly string[];
  readonly tradeIds: readonly string[];
  /** Subscriptions of an event stream, in JSON. */
  readonly subscriptions: readonly string[];
  /** Around the market's time, Unix seconds. */
  readonly times: readonly number[];
  /** Whole bodies by route: what fits together only as a whole. */
  readonly bodies: Readonly<Record<string, readonly unknown[]>>;
}

/** Patterns of field names, with the kind of thing that such a field holds. The first that fits. */
const KINDS: readonly (readonly [RegExp, Exclude<keyof Finds, 'bodies' | 'times'>])[] = [
  [/witness/i, 'witnesses'],
  [/cbor/i, 'transactions'],
  [/utxos|collaterals/i, 'outputs'],
  [/address/i, 'addresses'],
  [/beacon/i, 'beacons'],
  [/pkh|vkh/i, 'keyHashes'],
  [/cid/i, 'contentIds'],
  [/^file$/, 'pictures'],
  [/^(after|id|before)$/i, 'refs'],
  [/before/i, 'tradeIds'],
  [/^sub$/, 'subscriptions'],
  [/txHash/i, 'hashes'],
  [/asset|base|quote|unit/i, 'assets'],
];
const MAX_ITEMS = 4;
const LONGEST_MADE_UP = 60;

export class Values {
  readonly #openapi: Served;
  readonly #finds: Finds;

  constructor(openapi: Served, finds: Finds) {
    this.#openapi = openapi;
    this.#finds = finds;
  }

  /** `name` is the name of the field or parameter. */
  of(given: Json, name: string): fc.Arbitrary<unknown> {
    const schema = this.#openapi.resolved(given);
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const choices = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
    if (choices.length > 0) {
      return fc.oneof(...choices.map((choice) => this.of(objectOf(choice), name)));
    }
    switch (schema.type) {
      case 'integer':
      case 'number':
        return this.#number(schema, name);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return this.#array(schema, name);
      case 'object':
        return this.#object(schema);
      case 'string':
        return this.#text(schema, name);
      default:
        return fc.jsonValue();
    }
  }

  #number(schema: Json, name: string): fc.Arbitrary<number> {
    const { minimum = -(2 ** 31), maximum = Number.MAX_SAFE_INTEGER } = schema;
    const bounds = { min: Number(minimum), max: Number(maximum) };
    const fits = (value: number) => value >= bounds.min && value <= bounds.max;
    const edges = [bounds.min, bounds.max, 0, 1, 10, 100].filter(fits);
    const times = this.#finds.times.filter(fits);
    const lockEnds = /lockEnd/.test(name) ? times.map((time) => (time + 86_400) * 1000) : [];
    return fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...edges) },
      { weight: 2, arbitrary: fc.integer(bounds) },
      { weight: /^(from|to)$/.test(name) ? 6 : 0, arbitrary: fc.constantFrom(...times, ...edges) },
      { weight: lockEnds.length > 0 ? 9 : 0, arbitrary: fc.constantFrom(0, ...lockEnds) },
    );
  }

  #array(schema: Json, name: string): fc.Arbitrary<unknown[]> {
    const { minItems = 0, maxItems = MAX_ITEMS } = schema;
    const least = Number(minItems);
    const maxLength = Math.max(least, Math.min(Number(maxItems), MAX_ITEMS));
    return fc.array(this.of(objectOf(schema.items), name), { minLength: least, maxLength });
  }

  #object(schema: Json): fc.Arbitrary<unknown> {
    const properties = Object.entries(objectOf(schema.properties ?? {}));
    const fields: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
      properties.map(([name, field]) => [name, this.of(objectOf(field), name)]),
    );
    const required = listOf(schema.required).map(String);
    const requiredKeys = properties.map(([name]) => name).filter((name) => required.includes(name));
    return fc.record(fields, { requiredKeys, noNullPrototype: true });
  }

  #text(schema: Json, name: string): fc.Arbitrary<string> {
    const { pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER } = schema;
    const longest = Math.min(Number(maxLength), LONGEST_MADE_UP);
    const form = typeof pattern === 'string' ? new RegExp(pattern) : null;
    const madeUp =
      form === null
        ? fc.string({ unit: 'grapheme', minLength: Number(minLength), maxLength: longest })
        : fc.stringMatching(form).filter((text) => text.length <= Number(maxLength));
    const short = madeUp.filter((text) => [...text].length <= Number(maxLength));
    const known = this.#known(name).filter((text) => {
      return (form === null || form.test(text)) && text.length <= Number(maxLength);
    });
    if (known.length > 0) {
      const hit = fc.constantFrom(...known);
      return fc.oneof({ weight: 6, arbitrary: hit }, { weight: 1, arbitrary: short });
    }
    const amounts = ['0', '1', '25000000', '1000000', '999999999999999999'];
    const numerals = amounts.filter((text) => form?.test(text) && !form.test('zz'));
    if (numerals.length === 0) return short;
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...numerals) }, short);
  }

  #known(name: string): readonly string[] {
    const [kind] = KINDS.flatMap(([form, found]) => (form.test(name) ? [found] : []));
    if (name === 'before') return [...this.#finds.refs, ...this.#finds.tradeIds];
    return kind === undefined ? [] : this.#finds[kind];
  }
}
