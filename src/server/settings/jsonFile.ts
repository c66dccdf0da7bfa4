/**
 * Checks a JSON file by its schema and names every fault, in the words of the field's description.
 */
import type { StaticDecode, TSchema } from 'typebox';
import { Settings } from 'typebox/system';
import { Value } from 'typebox/value';
import { fieldAt } from '../../api/gateway/input.ts';

/** The library stops at eight. A person mends a whole file at once. */
const MAX_FAULTS = 200;

/** Throws an error that names `path`, `what` the file is not, and every fault. */
export function parseJsonFile<Schema extends TSchema>(
  schema: Schema,
  text: string,
  { path, what }: { readonly path: string; readonly what: string },
): StaticDecode<Schema> {
  const found = asJson(text);
  const faults = found === undefined ? ['the file is not JSON'] : faultsOf(schema, found);
  if (faults.length === 0) return Value.Decode(schema, found);
  throw new Error(`${path} is no ${what}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It is no JSON: the caller says so.
    return undefined;
  }
}

function faultsOf(schema: TSchema, value: unknown): string[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: MAX_FAULTS });
  try {
    const told = new Map<string, string>();
    for (const error of Value.Errors(schema, value)) {
      for (const [path, text] of faultOf(schema, error)) {
        if (!told.has(path)) told.set(path, text);
      }
    }
    // A choice fails where its parts do: the parts say more.
    const isPart = (path: string) => [...told.keys()].some((one) => one.startsWith(`${path}.`));
    const faults = [...told].filter(([path]) => !isPart(path));
    return faults.map(([path, text]) => `${path === '' ? 'the file' : path}: ${text}`);
  } finally {
    Settings.Set({ maxErrors });
  }
}

function faultOf(
  schema: TSchema,
  { keyword, instancePath, params, message }: ReturnType<typeof Value.Errors>[number],
): (readonly [path: string, text: string])[] {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (keyword === 'required') {
    return params.requiredProperties.map((name) => [below(name), 'is missing']);
  }
  // Each of them has an error of its own.
  if (keyword === 'additionalProperties') return [];
  if (keyword === 'boolean') return [[path, 'is not known']];
  const field: unknown = fieldAt(schema, instancePath);
  if (typeof field === 'object' && field !== null && 'description' in field) {
    return [[path, `${field.description} was expected`]];
  }
  // Fields that must fit each other: the message begins with the name of one.
  const [name = '', ...rest] = message.split(': ');
  if (keyword === '~refine') return [[below(name), rest.join(': ')]];
  return [[path, 'an object was expected']];
}
