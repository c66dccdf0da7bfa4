/** Reads values in JSON documents; a missing value reads as empty. */
import type { Json } from '../../../engine/runtime/json.ts';
import type { JsonObject } from '../definitions.ts';

export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((inside, name) => objectOf(inside)[name], value);
}

function objectOf(value: Json | undefined): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}

export function entriesAt(
  value: Json | undefined,
  ...path: readonly string[]
): readonly (readonly [string, Json])[] {
  return Object.entries(objectOf(at(value, ...path)));
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

export function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
