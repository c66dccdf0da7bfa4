/**
 * Checks a client's input against a schema and describes each error with its path. An optional
 * field that is `null` or `""` counts as absent (api.md section 0), so it is removed before the
 * check. After the check, absent fields get their defaults.
 */
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Detail, Failure } from '../../engine/runtime/errors.ts';

const MAX_DETAILS = 20;

/** `root` is the first part of the paths in details: `query`, `body`, `data`. */
export type Check<Value = unknown> = (value: unknown, root: string) => Checked<Value> | Failure;

export interface Checked<Value = unknown> {
  readonly value: Value;
}

export function checkOf<Schema extends TSchema>(schema: Schema): Check<Static<Schema>> {
  const validator = Compile(schema);
  const defaults = defaultsOf(schema);
  return (value, root) => {
    const present = withoutAbsent(schema, value);
    if (validator.Check(present)) return { value: withDefaults(present, defaults) };
    const details = describe(validator.Errors(present), root, schema);
    const first = details[0];
    const where = first === undefined ? root : `${first.path} ${first.message}`;
    return new Failure('INVALID_PARAMS', where, { details });
  };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy without optional fields that hold null or "", at every level the schema describes. */
function withoutAbsent(schema: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return itemsWithoutAbsent(schema, value);
  if (!isRecord(schema) || !isRecord(schema.properties) || !isRecord(value)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const absent = (field === null || field === '') && !required.includes(name);
    if (absent && name in schema.properties) continue;
    kept.push([name, withoutAbsent(schema.properties[name], field)]);
  }
  return Object.fromEntries(kept);
}

function itemsWithoutAbsent(schema: unknown, values: readonly unknown[]): readonly unknown[] {
  const items = isRecord(schema) ? schema.items : undefined;
  if (!isRecord(items) || !isRecord(items.properties)) return values;
  return values.map((value) => withoutAbsent(items, value));
}

/** Of the fields of an object, not of objects inside it: no schema has any there. */
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

/** One detail for each path; a choice between constants is described by a list of them. */
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
    } else if (!messages.has(path)) {
      const about = error.keyword === 'pattern' ? aboutField(schema, error.instancePath) : null;
      messages.set(path, about === null ? error.message : `${error.message}: ${about}`);
    }
  }
  return Array.from(messages, ([path, message]) => ({ path, message })).slice(0, MAX_DETAILS);
}

/** The schema's description of a field, for those who do not read patterns. */
function aboutField(schema: unknown, instancePath: string): string | null {
  const field = fieldAt(schema, instancePath);
  return isRecord(field) && typeof field.description === 'string' ? field.description : null;
}

function constantsOf(field: unknown): readonly unknown[] {
  if (!isRecord(field)) return [];
  if (field.const !== undefined) return [field.const];
  return Array.isArray(field.anyOf) ? field.anyOf.flatMap(constantsOf) : [];
}

function fieldAt(schema: unknown, instancePath: string): unknown {
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
