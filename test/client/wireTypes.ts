/**
 * The types of `src/client/wire/`, made from the documents of a running server, which come from the
 * schemas that check its requests. `rest.test.ts` fails where the files differ from this; run
 * `node test/client/writeWireTypes.ts` to write them again.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { parse } from 'yaml';

/** JSON Schema, as far as the documents use it. */
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
/** Of those that have another file than their tag, or a tag of which they are the only ones. */
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
/** Of shapes and topics that stand beside their routes, not among the others. */
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
  '// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.',
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

/** Those that the clients have methods for. */
export function operationsOf({ paths }: Openapi): Operation[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return operations.filter((operation) => fileOf(operation) !== null);
}

function fileOf({ operationId, tags: [tag = ''] }: Operation): string | null {
  return SINGLE[operationId] ?? FILES[tag] ?? null;
}

export function wireFiles(openapi: Openapi, asyncapi: Asyncapi): WireFile[] {
  const byFile = new Map<string, string[]>();
  for (const operation of operationsOf(openapi)) {
    const file = fileOf(operation) ?? '';
    byFile.set(file, [...(byFile.get(file) ?? []), ...typesOfRoute(operation)]);
  }
  const shapes = { ...openapi.components.schemas, ...asyncapi.components.schemas };
  const addTo = (file: string, text: string) => {
    byFile.set(file, [...(byFile.get(file) ?? []), text]);
  };
  for (const [name, schema] of Object.entries(shapes)) {
    if (!NOT_SHAPES.has(name)) addTo(HOMES[name] ?? 'shapes', declare(name, schema));
  }
  for (const [name, text] of typesOfTopics(asyncapi)) addTo(HOMES[name] ?? 'topics', text);
  return Array.from(byFile, ([file, parts]) => fileWith(file, parts));
}

function fileWith(file: string, parts: readonly string[]): WireFile {
  const body = parts.join('\n\n');
  const used = [...new Set([...body.matchAll(/@([A-Za-z]+)@/g)].map(([, name]) => name ?? ''))];
  const from = (home: string) => used.filter((name) => (HOMES[name] ?? 'shapes') === home).sort();
  const imports = [...new Set(['shapes', ...Object.values(HOMES)])]
    .sort()
    .filter((home) => home !== file && from(home).length > 0)
    .map((home) => `import type { ${from(home).join(', ')} } from './${home}.ts';`);
  const plain = body.replaceAll(/@([A-Za-z]+)@/g, '$1');
  return { name: `${file}.ts`, text: formatted([...HEADER, ...imports, '', plain, ''].join('\n')) };
}

function formatted(text: string): string {
  const biome = new URL('../../node_modules/.bin/biome', import.meta.url).pathname;
  const root = new URL('../..', import.meta.url).pathname;
  const options = ['format', '--stdin-file-path=src/client/wire/types.ts'];
  return execFileSync(biome, options, { input: text, cwd: root, encoding: 'utf8' });
}

function typesOfRoute(operation: Operation): string[] {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const name = capital(operationId);
  const types: string[] = [];
  const query = parameters.filter((parameter) => parameter.in === 'query');
  if (query.length > 0) {
    const properties = Object.fromEntries(query.map((one) => [one.name, one.schema]));
    const required = query.filter((one) => one.required === true).map((one) => one.name);
    types.push(declare(`${name}Query`, { type: 'object', properties, required }));
  }
  const content = requestBody?.content ?? {};
  const body = content['application/json']?.schema;
  if (body !== undefined && Object.keys(body.properties ?? { some: 1 }).length > 0) {
    types.push(declare(`${name}Body`, body));
  }
  // Of a form the parts that are JSON; files are the client's own.
  const form = content['multipart/form-data']?.schema;
  for (const [part, schema] of Object.entries(form?.properties ?? {})) {
    if (schema.type === 'object') types.push(declare(`${name}${capital(part)}`, schema));
  }
  const answer = responses['200']?.content?.['application/json']?.schema;
  assert(answer !== undefined, `${operationId} answers JSON`);
  types.push(declare(`${name}Answer`, answer));
  return types;
}

/** By name. */
function typesOfTopics({ channels }: Asyncapi): (readonly [string, string])[] {
  const topics = Object.entries(channels).filter(([name]) => name !== 'socket');
  const types: (readonly [string, string])[] = [];
  const names = new Map<string, string>();
  /** One that another topic has too is an alias of that. */
  const add = (name: string, schema: Schema) => {
    const text = typeOf(schema);
    const known = names.get(text);
    names.set(text, known ?? name);
    const alias = `export type ${name} = ${known};`;
    types.push([name, known === undefined ? declare(name, schema) : alias]);
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
  return [...types, ['Topics', all]];
}

function declare(name: string, schema: Schema): string {
  const text = typeOf(schema);
  const comment = commentOf(schema);
  return schema.properties !== undefined
    ? `${comment}export interface ${name} ${text}`
    : `${comment}export type ${name} = ${text};`;
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
  const rows = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return `${commentOf(schema)}readonly ${key}${mark}: ${typeOf(schema)};`;
  });
  return `{\n${rows.join('\n')}\n}`;
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
