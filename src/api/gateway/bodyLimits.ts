/**
 * How large a JSON body may be: its bytes, and its values (items of lists and fields of objects).
 * Both are checked before the body is parsed. The route states the bytes; the number of values
 * follows from its schema.
 */
import type { TSchema } from 'typebox';
import { isRecord } from './input.ts';

export interface BodyLimits {
  readonly bytes: number;
  readonly values: number;
}

/** For a body of a few fields. */
const SMALL_BODY_BYTES = 16_384;
/** A thousand asset ids or key hashes, on lines of their own. */
export const LIST_BODY_BYTES = 131_072;
/** The outputs of a wallet, some thousand without tokens. */
export const OUTPUTS_BODY_BYTES = 262_144;

/** Where clients name topics with data of their own. */
export const MAX_BODY_BYTES = 1_048_576;

/** Fields that the schema does not name; they are ignored. */
const SPARE_VALUES = 100;
/** A field without a schema, such as the data of a subscription, may hold this many. */
const UNKNOWN_VALUES = 1_100;

export function bodyLimitsOf(
  schema: TSchema | undefined,
  { maxBodyBytes = SMALL_BODY_BYTES }: { readonly maxBodyBytes?: number },
  maxBytes = Number.POSITIVE_INFINITY,
): BodyLimits {
  return {
    bytes: Math.min(maxBodyBytes, maxBytes),
    values: SPARE_VALUES + (schema === undefined ? 0 : maxValues(schema)),
  };
}

function maxValues(schema: unknown): number {
  if (!isRecord(schema)) return UNKNOWN_VALUES;
  const { anyOf, properties, items, maxItems } = schema;
  if (Array.isArray(anyOf)) return Math.max(1, ...anyOf.map(maxValues));
  if (isRecord(properties)) {
    return Object.values(properties).reduce<number>((sum, each) => sum + maxValues(each), 1);
  }
  if (schema.type === 'array') {
    return 1 + (typeof maxItems === 'number' ? maxItems : UNKNOWN_VALUES) * maxValues(items);
  }
  const isPlain =
    schema.type !== undefined || schema.const !== undefined || schema.enum !== undefined;
  return isPlain ? 1 : UNKNOWN_VALUES;
}

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT] = Array.from('"\\,[{', (sign) =>
  sign.charCodeAt(0),
);

/** Whether a text of JSON has more values than that; of another text it says nothing. */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Each value takes at least one byte.
  if (json.length <= most) return false;
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (isText) {
      if (sign === BACKSLASH) at += 1;
      else if (sign === QUOTE) isText = false;
    } else if (sign === QUOTE) {
      isText = true;
    } else if (sign === COMMA || sign === OPEN_LIST || sign === OPEN_OBJECT) {
      values += 1;
      if (values > most) return true;
    }
  }
  return false;
}
