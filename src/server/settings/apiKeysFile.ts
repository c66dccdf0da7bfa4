/**
 * The file of API keys: names, SHA-256 of each key, limits. A fault names a place in the file and
 * never quotes it, because somebody may have written a key in the place of its hash.
 */
import { readFileSync, statSync } from 'node:fs';
import Type from 'typebox';
import type { ApiKey, KeyLimits } from '../../api/gateway/apiKeys.ts';
import { checkOf } from '../../api/gateway/input.ts';
import { Failure, systemCode } from '../../engine/runtime/errors.ts';

const MAX_BYTES = 4 * 1_048_576;
const EXACT = { additionalProperties: false };

const QuotaShape = Type.Object(
  {
    perSecond: Type.Number({ minimum: 0.001, maximum: 1_000_000 }),
    burst: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  },
  EXACT,
);

const FileShape = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          name: Type.String({
            pattern: '^(?!upc_)[A-Za-z][A-Za-z0-9._-]{0,63}$',
            description: 'up to 64 letters, digits, dots, dashes, a letter first, and not a key',
          }),
          sha256: Type.String({
            pattern: '^[0-9a-fA-F]{64}$',
            description: '64 hex digits: the SHA-256 of the key, not the key',
          }),
          limits: Type.Optional(
            Type.Object(
              {
                read: Type.Optional(QuotaShape),
                build: Type.Optional(QuotaShape),
                launch: Type.Optional(QuotaShape),
                sockets: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
              },
              EXACT,
            ),
          ),
        },
        EXACT,
      ),
      { maxItems: 10_000 },
    ),
  },
  EXACT,
);

const check = checkOf(FileShape);
const KNOWN_PLACE =
  /^the file(\.(\d+|keys|name|sha256|limits|read|build|launch|sockets|perSecond|burst))*$/;

/** The keys, or an error message. `defaults`: limits that the file leaves out. */
export function readApiKeys(file: string, defaults: KeyLimits): readonly ApiKey[] | string {
  const text = textOf(file);
  if (text instanceof Failure) return text.message;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'it is no JSON';
  }
  const found = check(parsed, 'the file');
  if (found instanceof Failure) return faultsOf(found);
  const keys = found.value.keys.map(({ name, sha256, limits = {} }): ApiKey => {
    return { name, sha256: sha256.toLowerCase(), limits: { ...defaults, ...limits } };
  });
  return duplicateOf(keys) ?? keys;
}

function textOf(file: string): string | Failure {
  try {
    if (statSync(file).size <= MAX_BYTES) return readFileSync(file, 'utf8');
    return new Failure('INVALID_PARAMS', `it has more than ${MAX_BYTES} bytes`);
  } catch (error) {
    const code = systemCode(error) ?? 'no reason';
    return new Failure('INVALID_PARAMS', `it cannot be read (${code})`);
  }
}

/** The name of an unknown field may be a key, so only the fault of the object around it counts. */
function faultsOf({ details = [] }: Failure): string {
  const faults = details
    .filter(({ path }) => KNOWN_PLACE.test(path))
    .map(({ path, message }) => `${path} ${message}`);
  return faults.length === 0 ? 'the file holds something else' : faults.join('; ');
}

function duplicateOf(keys: readonly ApiKey[]): string | null {
  const seen = new Set<string>();
  for (const [index, { name, sha256 }] of keys.entries()) {
    if (seen.has(name)) return `the file.keys.${index}.name stands there twice`;
    if (seen.has(sha256)) return `the file.keys.${index}.sha256 stands there twice`;
    seen.add(name).add(sha256);
  }
  return null;
}
