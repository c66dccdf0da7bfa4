/**
 * The types of `src/client/wire/`, made from the documents of a running server, which come from the
 * schemas that check its requests. `rest.test.ts` fails where the files differ from this; run
 * `node scripts/writeWireTypes.ts` to write them again.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { parse } from 'yaml';

/** The part of JSON Schema that the documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema | readonly Schema[] | false;
  readonly prefixItems?: readonly Schema[];
  readonly description?: string;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface Openapi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Asyncapi {
  readonly channels: Readonly<
    Record<string, { readonly messages: Readonly<Record<string, { readonly payload: Schema }>> }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Tags of the routes that the client has methods for, by the file that holds their types. */
const FILES: Readonly<Record<string, string>> = {
  Charts: 'charts',
  Pools: 'pools',
  Holders: 'holders',
  Orders: 'orders',
  Tickers: 'tickers',
  Trades: 'trades',
  Builder: 'builder',
  Vesting: 'vesting',
  'UTxO monitor': 'utxo',
  Devnet: 'devnet',
  Webhooks: 'webhooks',
};
/**
 * Files of operations whose file is not named after their tag, or that are alone with their tag.
 */
const SINGLE: Readonly<Record<string, string>> = {
  launch: 'transactions',
  cancel: 'transactions',
  transfer: 'transactions',
  sign: 'transactions',
  signAndSubmit: 'transactions',
  submit: 'transactions',
  serverTime: 'operations',
  limits: 'operations',
  adaUsdRate: 'operations',
  healthReady: 'operations',
};
/** Files of shapes and topics that are placed beside their routes. */
const HOMES: Readonly<Record<string, string>> = {
  Insights: 'holders',
  InsightsData: 'holders',
  Launch: 'pools',
  NewLaunchesData: 'pools',
  NewLaunchesInput: 'pools',
  NewestTradesData: 'trades',
  NewestTradesInput: 'trades',
  BookLevel: 'orders',
  ChangedLevel: 'orders',
  LimitLevel: 'orders',
  OrderBook: 'orders',
  OrderBookChanges: 'orders',
  OrderBookData: 'orders',
  OrderBookInput: 'orders',
  Spark: 'tickers',
  Ticker: 'tickers',
  TickerUpdate: 'tickers',
  TickersUpdate: 'tickers',
  TickersData: 'tickers',
  TickersInput: 'tickers',
};
/** The clients have classes of their own for errors, and ask for no problem details. */
const NOT_SHAPES = new Set(['Error', 'Problem']);
const HEADER = [
  '// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.',
];
const COMMENT_COLUMNS = 88;

export interface WireFile {
  /** `charts.ts` */
  readonly name: string;
  readonly text: string;
}

/** As served at `url`. */
export async function documentsOf(url: string): Promise<readonly [Openapi, Asyncapi]> {
  const read = async (name: string) => parse(await (await fetch(`${url}/v1/docs/${name}`)).text());
  return [await read('openapi'), await read('asyncapi')];
}

/** Operation ids that the client has types for, `<method> <path>` by id. */
export function coveredRoutes(openapi: Openapi): Map<string, string> {
  const routes = new Map<string, string>();
  for (const [path, methods] of Object.entries(openapi.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (fileOf(operation) !== null) routes.set(operation.operationId, `${method} ${path}`);
    }
  }
  return routes;
}

/** The operations that the clients have methods for. */
export function operationsOf({ paths }: Openapi): Operation[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return operations.filter((operation) => fileOf(operation) !== null);
}

function fileOf({ operationId, tags: [tag = ''] }: Operation): string | null {
  return SINGLE[operationId] ?? FILES[tag] ?? null;
}

export function wireFiles(openapi: Openapi, asyncapi: Asyncapi): WireFile[] {
  const declared: Declared[] = operationsOf(openapi).flatMap((operation) => {
    const file = fileOf(operation) ?? '';
    return typesOfRoute(operation).map((each) => ({ ...each, file }));
  });
  const shapes = { ...openapi.components.schemas, ...asyncapi.components.schemas };
  for (const [name, schema] of Object.entries(shapes)) {
    if (!NOT_SHAPES.has(name)) declared.push({ name, schema, file: HOMES[name] ?? 'shapes' });
  }
  for (const each of typesOfTopics(asyncapi)) {
    declared.push({ ...each, file: HOMES[each.name] ?? 'topics' });
  }
  const files = new Set(declared.map(({ file }) => file));
  return Array.from(files, (file) => fileWith(file, declared));
}

interface Type {
  readonly name: string;
  /** A text: as it stands. */
  readonly schema: Schema | string;
}

interface Declared extends Type {
  readonly file: string;
}

function fileWith(file: string, all: readonly Declared[]): WireFile {
  const own = all.filter((each) => each.file === file);
  const body = own.map((each) => named(declare(each, all), each, all)).join('\n\n');
  const used = [...new Set([...body.matchAll(/@([A-Za-z]+)@/g)].map(([, name]) => name ?? ''))];
  const homes = Map.groupBy(
    used.sort(),
    (name) => all.find((each) => each.name === name)?.file ?? '',
  );
  homes.delete(file);
  const imports = [...homes].sort().map(([home, names]) => {
    return `import type { ${names.join(', ')} } from './${home}.ts';`;
  });
  const plain = body.replaceAll(/@([A-Za-z]+)@/g, '$1');
  return { name: `${file}.ts`, text: formatted([...HEADER, ...imports, '', plain, ''].join('\n')) };
}

function formatted(text: string): string {
  const biome = new URL('../../node_modules/.bin/biome', import.meta.url).pathname;
  const root = new URL('../..', import.meta.url).pathname;
  const options = ['format', '--stdin-file-path=src/client/wire/types.ts'];
  return execFileSync(biome, options, { input: text, cwd: root, encoding: 'utf8' });
}

function typesOfRoute(operation: Operation): Type[] {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const name = capital(operationId);
  const types: Type[] = [];
  const add = (as: string, schema: Schema) => types.push({ name: `${name}${as}`, schema });
  const query = parameters.filter((parameter) => parameter.in === 'query');
  if (query.length > 0) {
    const properties = Object.fromEntries(query.map((one) => [one.name, one.schema]));
    const required = query.filter((one) => one.required === true).map((one) => one.name);
    add('Query', { type: 'object', properties, required });
  }
  const content = requestBody?.content ?? {};
  const body = content['application/json']?.schema;
  if (body !== undefined && Object.keys(body.properties ?? { some: 1 }).length > 0) {
    add('Body', body);
  }
  // Declares the JSON parts of a form; files are the client's own.
  const form = content['multipart/form-data']?.schema;
  for (const [part, schema] of Object.entries(form?.properties ?? {})) {
    if (schema.type === 'object') add(capital(part), schema);
  }
  const answer = responses['200']?.content?.['application/json']?.schema;
  assert(answer !== undefined, `${operationId} answers JSON`);
  add('Answer', answer);
  return types;
}

/** By name. */
function typesOfTopics({ channels }: Asyncapi): Type[] {
  const topics = Object.entries(channels).filter(([name]) => name !== 'socket');
  const types: Type[] = [];
  const names = new Map<string, string>();
  /** A type that equals the type of another topic becomes an alias of it. */
  const add = (name: string, schema: Schema) => {
    const text = typeOf(schema);
    const known = names.get(text);
    names.set(text, known ?? name);
    const alias = `export type ${name} = ${known};`;
    types.push({ name, schema: known === undefined ? schema : alias });
  };
  const rows = topics.map(([name, { messages }]) => {
    const input = messages.subscribe?.payload.properties?.data;
    const { [`${name}Update`]: update } = messages;
    const dataOf = (message: { readonly payload: Schema } | undefined) => {
      const data = message?.payload.properties?.data;
      assert(data !== undefined, `${name} has data`);
      return data;
    };
    add(`${name}Data`, dataOf(update));
    const others = Object.entries(messages).filter(
      ([event]) => event !== 'subscribe' && event !== `${name}Update`,
    );
    const revised = others.map(([event, message]) => {
      add(`${name}Revised`, dataOf(message));
      return `${event}: ${name}Revised`;
    });
    const hasInput = Object.keys(input?.properties ?? {}).length > 0;
    if (hasInput && input !== undefined) add(`${name}Input`, input);
    const refer = (type: string) => (type in HOMES ? `@${type}@` : type);
    const inputType = hasInput ? refer(`${name}Input`) : 'undefined';
    const rest = revised.length === 0 ? 'Record<never, never>' : `{ ${revised.join('; ')} }`;
    return `${name}: { input: ${inputType}; data: ${refer(`${name}Data`)}; others: ${rest} };`;
  });
  const all = `/** By topic. */\nexport interface Topics {\n${rows.join('\n')}\n}`;
  return [...types, { name: 'Topics', schema: all }];
}

function declare(declared: Declared, all: readonly Declared[]): string {
  const { name, schema } = declared;
  if (typeof schema === 'string') return schema;
  const comment = commentOf(schema);
  if (schema.properties === undefined) return `${comment}export type ${name} = ${typeOf(schema)};`;
  const base = baseOf(declared, all);
  const taken = base === null ? [] : rowsOf(base.schema);
  const rows = rowsOf(schema).filter((row) => !taken.includes(row));
  if (base !== null && rows.length === 0) return `${comment}export type ${name} = @${base.name}@;`;
  const extending = base === null ? '' : ` extends @${base.name}@`;
  return `${comment}export interface ${name}${extending} {\n${rows.join('\n')}\n}`;
}

/** Shorter types are written again sooner than they are named. */
const SHORT_TYPE = 200;

/** The same, with the names of types that stand in it: of its file, or shapes. */
function named(text: string, { name, schema, file }: Declared, all: readonly Declared[]): string {
  const own = textOf(schema);
  const place = all.findIndex((each) => each.name === name);
  const isOther = (each: Declared, at: number) =>
    each.name !== name &&
    (each.file === file || each.file === 'shapes') &&
    textOf(each.schema).length > SHORT_TYPE &&
    // If two types are the same, the first; an interface has its base for that.
    (textOf(each.schema) !== own || (at < place && !own.startsWith('{')));
  return all
    .filter(isOther)
    .sort((a, b) => textOf(b.schema).length - textOf(a.schema).length)
    .reduce((rest, each) => rest.replaceAll(textOf(each.schema), `@${each.name}@`), text);
}

function textOf(schema: Schema | string): string {
  return typeof schema === 'string' ? schema : typeOf(schema);
}

/** So few fields are written again sooner than they are taken from another type. */
const FEW_FIELDS = 3;

/** The same field where it may not be left out. */
function required(row: string): string {
  return row.replace(/(readonly [^:?]+)\?: /, '$1: ');
}

/** The largest type whose fields are all fields of this one: of its file, or a shape. */
function baseOf({ name, schema, file }: Declared, all: readonly Declared[]): Declared | null {
  const rows = rowsOf(schema);
  const place = all.findIndex((each) => each.name === name);
  const isBase = (each: Declared, at: number) => {
    if (each.name === name || (each.file !== file && each.file !== 'shapes')) return false;
    const others = rowsOf(each.schema);
    const isField = (row: string) => rows.includes(row) || rows.includes(required(row));
    if (others.length <= FEW_FIELDS || !others.every(isField)) return false;
    // If two types are the same, the name comes from a shape; else the first.
    const isSame = rows.every((row) => others.includes(row));
    return !isSame || each.file !== file || at < place;
  };
  const found = all.filter(isBase);
  const sizeOf = (each: Declared) => rowsOf(each.schema).length;
  return found.reduce<Declared | null>(
    (best, each) => (best === null || sizeOf(each) > sizeOf(best) ? each : best),
    null,
  );
}

function typeOf(schema: Schema): string {
  const { $ref, type, anyOf, prefixItems, items } = schema;
  if ($ref !== undefined) return `@${$ref.split('/').at(-1)}@`;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' | ');
  if (type === 'array') {
    const places = prefixItems ?? (Array.isArray(items) ? items : null);
    if (places !== null) return `readonly [${places.map(typeOf).join(', ')}]`;
    assert(items !== undefined && items !== false && !Array.isArray(items));
    return `readonly (${typeOf(items as Schema)})[]`;
  }
  if (type === 'object') return objectOf(schema);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  assert.equal(type, undefined, `a type that is known, not ${JSON.stringify(schema)}`);
  return 'unknown';
}

function objectOf({ properties, required = [], patternProperties }: Schema): string {
  if (properties === undefined) {
    const [value] = Object.values(patternProperties ?? {});
    return `Readonly<Record<string, ${value === undefined ? 'unknown' : typeOf(value)}>>`;
  }
  return `{\n${rowsOf({ properties, required }).join('\n')}\n}`;
}

function rowsOf(schema: Schema | string): string[] {
  if (typeof schema === 'string') return [];
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, field]) => {
    const mark = required.includes(name) ? '' : '?';
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${commentOf(field)}readonly ${key}${mark}: ${typeOf(field)};`;
  });
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function commentOf({ description }: Schema): string {
  if (description === undefined || description === '') return '';
  const lines: string[] = [];
  for (const word of description.replaceAll('*/', '* /').split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > COMMENT_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  const [only = ''] = lines;
  if (lines.length === 1) return `/** ${only} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */\n`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
