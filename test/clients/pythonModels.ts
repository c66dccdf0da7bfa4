/**
 * `clients/python/src/upcurve/wire/`: the types of the Python client, made from the documents of a
 * running server. `test/client/rest.test.ts` fails where the files differ from this; run
 * `node scripts/writeWireTypes.ts` to write them again.
 */
import assert from 'node:assert/strict';
import {
  type Asyncapi,
  type Openapi,
  type Operation,
  operationsOf,
  type Schema,
  type WireFile,
} from '../client/wireTypes.ts';

const BY =
  'Made from the documents of the server by scripts/writeWireTypes.ts: not edited by hand.';
/** From `typing`, where a file uses them. */
const TYPING = ['Any', 'Literal', 'TypedDict'];
const KEYWORDS = new Set(['from', 'in', 'is', 'not', 'or', 'and', 'if', 'class', 'def', 'pass']);
const COMMENT_COLUMNS = 90;
/** It is the client's own class. */
const NOT_SHAPES = new Set(['Error', 'Problem']);

export function pythonFiles(openapi: Openapi, asyncapi: Asyncapi): WireFile[] {
  const shapes = new Models();
  const named = { ...openapi.components.schemas, ...asyncapi.components.schemas };
  for (const [name, schema] of Object.entries(named)) {
    if (!NOT_SHAPES.has(name)) shapes.declare(name, schema);
  }
  const rest = new Models();
  for (const operation of operationsOf(openapi)) declareRoute(rest, operation);
  const topics = new Models();
  for (const [topic, { messages }] of Object.entries(asyncapi.channels)) {
    if (topic !== 'socket') declareTopic(topics, topic, messages);
  }
  return [
    { name: 'shapes.py', text: shapes.text('Shapes used by both answers and topics.') },
    { name: 'rest.py', text: rest.text('Queries, bodies and answers over HTTP.', named) },
    { name: 'topics.py', text: topics.text('Topics of the socket.', named) },
  ];
}

function declareRoute(models: Models, operation: Operation): void {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const name = capital(operationId);
  // The client reads JSON.
  const query = parameters.filter(({ in: place, name }) => place === 'query' && name !== 'format');
  if (query.length > 0) {
    const properties = Object.fromEntries(query.map((one) => [argument(one), one.schema]));
    const required = query.filter((one) => one.required === true).map(argument);
    models.declare(`${name}Query`, { type: 'object', properties, required });
  }
  const content = requestBody?.content ?? {};
  const body = content['application/json']?.schema;
  if (body !== undefined && Object.keys(body.properties ?? { some: 1 }).length > 0) {
    models.declare(`${name}Body`, body);
  }
  const form = content['multipart/form-data']?.schema;
  for (const [part, schema] of Object.entries(form?.properties ?? {})) {
    if (schema.type === 'object') models.declare(`${name}${capital(part)}`, schema);
  }
  const answer = responses['200']?.content?.['application/json']?.schema;
  assert(answer !== undefined, `${operationId} answers JSON`);
  models.declare(`${name}Answer`, answer);
}

/** Python reserves `from`, so no argument can be called that; `routes.py` turns it back. */
function argument({ name }: { readonly name: string }): string {
  return (
    new Map([
      ['from', 'start'],
      ['to', 'end'],
    ]).get(name) ?? name
  );
}

type Messages = Asyncapi['channels'][string]['messages'];

function declareTopic(models: Models, topic: string, messages: Messages): void {
  for (const [event, { payload }] of Object.entries(messages)) {
    const data = payload.properties?.data;
    const isInput = event === 'subscribe';
    if (data === undefined || (isInput && Object.keys(data.properties ?? {}).length === 0))
      continue;
    const suffix = isInput ? 'Input' : event === `${topic}Update` ? 'Data' : 'Revised';
    models.declare(`${topic}${suffix}`, data);
  }
}

/** Declarations of one file. A declaration equal to an earlier one becomes an alias of that. */
class Models {
  readonly #parts: string[] = [];
  /** Names by the text of their declaration. */
  readonly #known = new Map<string, string>();
  readonly #references = new Set<string>();

  declare(name: string, schema: Schema): void {
    const { $ref, anyOf, properties } = schema;
    if ($ref === undefined && properties !== undefined) {
      const known = this.#declareObject(name, schema);
      if (known !== name) this.#parts.push(`${name} = ${known}`);
      return;
    }
    const parts = anyOf?.filter(({ type }) => type !== 'null') ?? [];
    const isOptional = parts.length === 1 && parts.length !== anyOf?.length;
    const inner = isOptional ? (parts[0] ?? schema) : schema;
    const type = this.#typeOf(isOptional ? `${name}Row` : name, inner);
    this.#parts.push(`${commentOf(schema)}${name} = ${type}${isOptional ? ' | None' : ''}`);
  }

  text(about: string, shapes: Readonly<Record<string, Schema>> = {}): string {
    const body = this.#parts.join('\n\n');
    const has = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
    const typing = ['TYPE_CHECKING', ...TYPING.filter(has)].sort();
    const names = [...this.#references].filter((name) => name in shapes).sort();
    return [
      `"""${about}\n\n${BY}\n"""`,
      'from __future__ import annotations',
      has('Decimal') ? 'from decimal import Decimal' : '',
      `from typing import ${typing.join(', ')}`,
      names.length === 0 ? '' : `from .shapes import (\n    ${names.join(',\n    ')},\n)`,
      'if TYPE_CHECKING:\n    from typing_extensions import NotRequired',
      `\n${body}\n`,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
      .replaceAll(/\n{4,}/g, '\n\n\n');
  }

  #declareObject(name: string, { properties = {}, required = [] }: Schema): string {
    const rows = Object.entries(properties).map(([key, schema]) => {
      const type = this.#typeOf(`${name}${capital(key)}`, schema);
      const isRequired = required.includes(key);
      return { key, type: isRequired ? type : `NotRequired[${type}]`, about: commentOf(schema) };
    });
    const declared = rows.map(({ key, type }) => `${key}: ${type}`).join('\n');
    const known = this.#known.get(declared);
    if (known !== undefined) return known;
    this.#known.set(declared, name);
    const isPlain = rows.every(({ key }) => /^[A-Za-z_]\w*$/.test(key) && !KEYWORDS.has(key));
    const fields = rows.map(({ key, type, about }) =>
      isPlain ? `${about}${key}: ${type}` : `${about}"${key}": "${type.replaceAll('"', "'")}",`,
    );
    this.#parts.push(
      isPlain
        ? `\nclass ${name}(TypedDict):\n${indented(fields, 4)}\n`
        : `${name} = TypedDict(\n    "${name}",\n    {\n${indented(fields, 8)}\n    },\n)`,
    );
    return name;
  }

  #typeOf(name: string, schema: Schema): string {
    const { $ref, type, anyOf, prefixItems, items } = schema;
    if ($ref !== undefined) {
      const reference = $ref.split('/').at(-1) ?? '';
      this.#references.add(reference);
      return reference;
    }
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    if (anyOf !== undefined) return this.#unionOf(name, anyOf);
    if (type === 'array') {
      const places = prefixItems ?? (Array.isArray(items) ? items : null);
      const row = places === null ? [items as Schema] : places;
      const types = new Set(row.map((place) => this.#typeOf(`${name}Row`, place)));
      return `list[${[...types].join(' | ')}]`;
    }
    if (type === 'object') {
      if (schema.properties !== undefined) return this.#declareObject(name, schema);
      const [value] = Object.values(schema.patternProperties ?? {});
      return `dict[str, ${value === undefined ? 'Any' : this.#typeOf(`${name}Row`, value)}]`;
    }
    if (type === 'number') return 'int | Decimal';
    const scalars = { integer: 'int', string: 'str', boolean: 'bool', null: 'None' } as const;
    // trust: any other key answers undefined
    return scalars[type as keyof typeof scalars] ?? 'Any';
  }

  #unionOf(name: string, anyOf: readonly Schema[]): string {
    const types = new Set<string>();
    const literals: unknown[] = [];
    for (const [index, schema] of anyOf.entries()) {
      if (schema.const !== undefined) literals.push(schema.const);
      else types.add(this.#typeOf(index === 0 ? name : `${name}${index + 1}`, schema));
    }
    const all = [...(literals.length === 0 ? [] : [literal(literals)]), ...types];
    return all.join(' | ');
  }
}

function literal(values: readonly unknown[]): string {
  const texts = values.map((value) => {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return JSON.stringify(value);
  });
  return `Literal[${texts.join(', ')}]`;
}

function indented(rows: readonly string[], spaces: number): string {
  const lines = rows.flatMap((row) => row.split('\n'));
  return lines.map((line) => ' '.repeat(spaces) + line).join('\n');
}

function commentOf({ description = '' }: Schema): string {
  const lines: string[] = [];
  for (const word of description.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > COMMENT_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => `#: ${line}\n`).join('');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
