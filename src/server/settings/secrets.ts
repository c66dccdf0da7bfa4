/**
 * The server's keys: 32 secret bytes each, created on the first start of a devnet and kept in
 * `keys.json` in DATA_DIR, readable by the owner only. Never part of the settings, never logged:
 * a `Secret` prints as a placeholder, and messages name the file, not its content.
 */

import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { systemCode } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';

export const SECRET_NAMES = ['executor', 'fee', 'collateral', 'faucet'] as const;
type SecretName = (typeof SECRET_NAMES)[number];

export class Secret {
  readonly #hex: string;

  constructor(hex: string) {
    this.#hex = hex;
  }

  /** 32 bytes, hex. For signing, nothing else. */
  reveal(): string {
    return this.#hex;
  }

  toJSON(): string {
    return '(secret)';
  }

  toString(): string {
    return '(secret)';
  }

  [inspect.custom](): string {
    return '(secret)';
  }
}

export type Secrets = Readonly<Record<SecretName, Secret>>;

const FILE = 'keys.json';
const OWNER_ONLY = 0o600;

/** `directory` must exist; `given` replaces its file. Throws with a remedy. */
export function readSecrets(directory: string, rng: Rng, given?: string): Secrets {
  const file = given ?? join(directory, FILE);
  return parse(file, readText(file) ?? create(file, rng));
}

/** Creates the file with these keys, where there is none. */
export function writeSecrets(
  directory: string,
  rng: Rng,
  keys: Readonly<Record<string, string>>,
): void {
  const file = join(directory, FILE);
  if (readText(file) === null) create(file, rng, keys);
}

/** Reads the secrets in a text with the form of the file. */
export function parseSecrets(text: string): Secrets {
  return parse('the recording', text);
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** If another process creates the file at the same moment, its keys are used. */
function create(file: string, rng: Rng, keys?: Readonly<Record<string, string>>): string {
  const seeds = keys ?? Object.fromEntries(SECRET_NAMES.map((name) => [name, rng.secret()]));
  const text = `${JSON.stringify(seeds, null, 2)}\n`;
  // Written under another name first, so that a reader never sees half of it.
  const part = `${file}.${rng.token(8)}`;
  const handle = openSync(part, 'wx', OWNER_ONLY);
  writeSync(handle, text);
  fsyncSync(handle);
  closeSync(handle);
  try {
    linkSync(part, file);
    return text;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(part, { force: true });
  }
}

function parse(file: string, text: string): Secrets {
  const seeds = asRecord(text);
  const secret = (name: SecretName): Secret => {
    const seed = seeds[name];
    if (typeof seed === 'string' && /^[0-9a-f]{64}$/.test(seed)) return new Secret(seed);
    throw new Error(`${file}: "${name}" is not 32 bytes in hex. Restore it from a backup`);
  };
  return {
    executor: secret('executor'),
    fee: secret('fee'),
    collateral: secret('collateral'),
    faucet: secret('faucet'),
  };
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Not JSON, so it has no key; the message says so.
    return {};
  }
}
