/**
 * Checks a client's input against a schema and describes its first errors with their paths. An
 * optional field that is `null` or `""` counts as absent (protocol.md section 0), so it is removed
 * before the check. After the check, absent fields get their defaults.
 *
 * The work is bounded by the schema, not by the input: fields that the schema does not name are not
 * looked at, and a list with too many items is refused before its items are.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import { type Detail, Failure } from '../../engine/runtime/errors.ts';

/** Validation ends with this many. */
const MAX_ERRORS = 8;

/** `root` is the first part of the paths in details: `query`, `body`, `data`. */
export type Check<Value = unknown> = (value: unknown, root: string) => Checked<Value> | Failure;

export interface Checked<Value = unknown> {
  readonly value: Value;
}

export function checkOf<Schema extends TSchema>(schema: Schema): Check<Static<Schema>> {
  const validator = Compile(schema);
  const defaults = defaultsOf(schema);
  return (value, root) => {
    const long = tooManyItems(schema, value, '');
    if (long !== null) return refused(describe([long], root, schema), root);
    const present = withoutAbsent(schema, value);
    if (validator.Check(present)) return { value: withDefaults(present, defaults) };
    const errors: SchemaError[] = [];
    addErrors(schema, present, '', errors);
    return refused(describe(errors, root, schema), root);
  };
}

function refused(details: Detail[], root: string): Failure {
  const first = details[0];
  const where = first === undefined ? root : `${first.path} ${first.message}`;
  return new Failure('INVALID_PARAMS', where, { details });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy without optional fields that hold null or "", at every level the schema describes. */
function withoutAbsent(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return itemsWithoutAbsent(schema, value);
  if (!isRecord(schema) || !isRecord(schema.properties) || !isRecord(value)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  // Others are ignored, unless the schema refuses them: then it has to see them.
  const names = Object.keys(schema.additionalProperties === false ? value : schema.properties);
  const kept: [string, unknown][] = [];
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue;
    const field = value[name];
    const isAbsent = (field === null || field === '') && !required.includes(name);
    if (isAbsent && Object.hasOwn(schema.properties, name)) continue;
    kept.push([name, withoutAbsent(schema.properties[name], field)]);
  }
  return Object.fromEntries(kept);
}

function itemsWithoutAbsent(schema: unknown, values: readonly unknown[]): readonly unknown[] {
  const items = isRecord(schema) ? schema.items : undefined;
  if (!isRecord(items) || !isRecord(items.properties)) return values;
  return values.map((value) => withoutAbsent(items, value));
}

/** Defaults of the fields of an object, not of objects inside it: no schema has any there. */
function defaultsOf(schema: unknown): readonly (readonly [string, unknown])[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  return Object.entries(schema.properties).flatMap(([name, field]) =>
    isRecord(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  );
}

function withDefaults<Value>(value: Value, defaults: ReturnType<typeof defaultsOf>): Value {
  if (defaults.length === 0 || !isRecord(value)) return value;
  return { ...Object.fromEntries(defaults), ...value };
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** Looks at no item of a list that is too long; null: every list fits. */
function tooManyItems(schema: unknown, value: unknown, at: string): SchemaError | null {
  if (Array.isArray(value)) {
    const list = listIn(schema);
    const limit = list?.maxItems;
    if (typeof limit === 'number' && value.length > limit) {
      const message = `must not have more than ${limit} items`;
      return { keyword: 'maxItems', instancePath: at, message, params: { limit } };
    }
    return firstOf(holdsLists(list?.items) ? value : [], (item, index) =>
      tooManyItems(list?.items, item, `${at}/${index}`),
    );
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema.properties)) return null;
  return firstOf(Object.entries(schema.properties), ([name, field]) =>
    Object.hasOwn(value, name) ? tooManyItems(field, value[name], `${at}/${name}`) : null,
  );
}

function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item, index: number) => Found | null,
): Found | null {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== null) return found;
  }
  return null;
}

/** A schema of lists, or the one among the choices of a union; null: it takes none. */
function listIn(schema: unknown): Record<string, unknown> | null {
  if (!isRecord(schema)) return null;
  if (schema.type === 'array') return schema;
  return firstOf(Array.isArray(schema.anyOf) ? schema.anyOf : [], listIn);
}

function holdsLists(schema: unknown): boolean {
  if (listIn(schema) !== null) return true;
  return (
    isRecord(schema) &&
    isRecord(schema.properties) &&
    Object.values(schema.properties).some(holdsLists)
  );
}

/** Adds the first errors of a value that does not fit. The library would check the whole value. */
function addErrors(schema: TSchema, value: unknown, at: string, errors: SchemaError[]): void {
  const list = Array.isArray(value) ? listIn(schema) : null;
  if (list !== null && Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) {
      if (errors.length >= MAX_ERRORS) return;
      // trust: the items of a schema are a schema
      addErrorsOf(list.items as TSchema, item, `${at}/${index}`, errors);
    }
    return;
  }
  const { rest, lists } = apart(schema, value);
  for (const error of Value.Errors(rest.schema, rest.value)) {
    if (errors.length < MAX_ERRORS)
      errors.push({ ...error, instancePath: at + error.instancePath });
  }
  for (const { name, field, inner } of lists) {
    if (errors.length < MAX_ERRORS) addErrorsOf(field, inner, `${at}/${name}`, errors);
  }
}

function addErrorsOf(schema: TSchema, value: unknown, at: string, errors: SchemaError[]): void {
  if (!Value.Check(schema, value)) addErrors(schema, value, at, errors);
}

interface Apart {
  readonly rest: { readonly schema: TSchema; readonly value: unknown };
  readonly lists: { readonly name: string; readonly field: TSchema; readonly inner: unknown }[];
}

/** The fields of an object that hold lists, at any depth, and the others. */
function apart(schema: TSchema, value: unknown): Apart {
  const shape: unknown = schema;
  const lists: Apart['lists'] = [];
  const whole = { rest: { schema, value }, lists };
  if (!isRecord(value) || !isRecord(shape) || !isRecord(shape.properties)) return whole;
  const [properties, fields] = [{ ...shape.properties }, { ...value }];
  for (const [name, field] of Object.entries(shape.properties)) {
    const inner = value[name];
    if (typeof inner !== 'object' || inner === null || !holdsLists(field)) continue;
    // trust: the properties of a schema are schemas
    lists.push({ name, field: field as TSchema, inner });
    delete properties[name];
    delete fields[name];
  }
  if (lists.length === 0) return whole;
  const required = (Array.isArray(shape.required) ? shape.required : []).filter(
    (name) => !lists.some((each) => each.name === name),
  );
  return { rest: { schema: { ...schema, properties, required }, value: fields }, lists };
}

/**
 * One detail for each path; a choice between constants is described by a list of them, one between
 * types by their names. A choice whose type fits is described by what is wrong with that one alone.
 */
function describe(errors: readonly SchemaError[], root: string, schema: TSchema): Detail[] {
  const messages = new Map<string, string>();
  for (const error of errors) {
    const path = root + error.instancePath.replaceAll('/', '.');
    if ('requiredProperties' in error.params && Array.isArray(error.params.requiredProperties)) {
      for (const name of error.params.requiredProperties) {
        messages.set(`${path}.${name}`, 'is required');
      }
    } else if ('allowedValue' in error.params) {
      // From the schema: the library reports its first eight errors only.
      const allowed = constantsOf(fieldAt(schema, error.instancePath));
      const texts = (allowed.length === 0 ? [error.params.allowedValue] : allowed).map((one) =>
        JSON.stringify(one),
      );
      messages.set(path, `must be one of ${texts.join(', ')}`);
    } else if (error.keyword === 'type' || error.keyword === 'anyOf') {
      const types = typesAt(errors, error.instancePath);
      if (types !== null && !messages.has(path)) messages.set(path, `must be ${types}`);
    } else if (!messages.has(path)) {
      const about = error.keyword === 'pattern' ? aboutField(schema, error.instancePath) : null;
      messages.set(path, about === null ? error.message : `${error.message}: ${about}`);
    }
  }
  return Array.from(messages, ([path, message]) => ({ path, message }));
}

/** The types that a value may have; null: it has one, and other errors say what is wrong. */
function typesAt(errors: readonly SchemaError[], at: string): string | null {
  const choice = (each: SchemaError) => each.keyword === 'type' || each.keyword === 'anyOf';
  const isBelow = ({ instancePath }: SchemaError) => instancePath.startsWith(`${at}/`);
  const here = errors.filter(({ instancePath }) => instancePath === at);
  if (errors.some(isBelow) || !here.every(choice)) return null;
  const names = here.flatMap(({ params }) => ('type' in params ? [String(params.type)] : []));
  return [...new Set(names)].join(' or ');
}

/** The schema's description of a field, for readers who do not know patterns. */
function aboutField(schema: unknown, instancePath: string): string | null {
  const field = fieldAt(schema, instancePath);
  return isRecord(field) && typeof field.description === 'string' ? field.description : null;
}

function constantsOf(field: unknown): readonly unknown[] {
  if (!isRecord(field)) return [];
  if (field.const !== undefined) return [field.const];
  return Array.isArray(field.anyOf) ? field.anyOf.flatMap(constantsOf) : [];
}

/** The schema of the value at a JSON pointer. */
export function fieldAt(schema: unknown, instancePath: string): unknown {
  let at: unknown = schema;
  for (const name of instancePath.split('/').slice(1)) at = fieldOf(at, name);
  return at;
}

function fieldOf(schema: unknown, name: string): unknown {
  if (!isRecord(schema)) return null;
  if (isRecord(schema.properties)) return schema.properties[name];
  if (schema.items !== undefined) return schema.items;
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  return choices.map((choice) => fieldOf(choice, name)).find((field) => field != null);
}
