/**
 * Keys for a public network: from files or from the environment only, read once at the start. They
 * are not settings, so nothing prints them; a fault names the variable or the file, never its
 * content.
 *
 * A key is a signing key file of cardano-cli (`.skey`), or its 32 bytes as 64 hex digits.
 */

import { readFileSync, statSync } from 'node:fs';
import { systemCode } from '../../engine/runtime/errors.ts';
import type { SettingFault } from './checks.ts';
import { Secret } from './secrets.ts';
import { BadSettings, type Environment } from './settings.ts';

/** null: not given; the node then skips all work that needs the key. */
export interface KeySecrets {
  /** Fills orders; without it the node follows and builds. */
  readonly executor: Secret | null;
  /** Key of the fee address, which pays for executions; default: the executor's key. */
  readonly fee: Secret | null;
  /** Without it callers bring their own collateral. */
  readonly collateral: Secret | null;
}

export const NO_SECRETS: KeySecrets = { executor: null, fee: null, collateral: null };

export const KEYS_HELP = `Keys on a real network, from the environment (never printed):

  EXECUTOR_KEY_FILE, EXECUTOR_KEY
      Fills orders; without it the node follows and builds.
  FEE_KEY_FILE, FEE_KEY
      Of the fee address; empty: the executor's.
  COLLATERAL_KEY_FILE, COLLATERAL_KEY
      Collateral for those who bring none; empty: everybody brings their own.
  Each is a file of cardano-cli (.skey) or of 64 hex digits, or these themselves.
`;

/** The keys, or every fault at once. */
export function keyFiles(environment: Environment): KeySecrets | BadSettings {
  const faults: SettingFault[] = [];
  const read = (name: string): Secret | null => {
    const found = secretOf(name, environment);
    if (found === null || found instanceof Secret) return found;
    faults.push(found);
    return null;
  };
  const executor = read('EXECUTOR_KEY');
  const fee = read('FEE_KEY') ?? executor;
  const secrets = { executor, fee, collateral: read('COLLATERAL_KEY') };
  return faults.length === 0 ? secrets : new BadSettings(faults);
}

/** One key from a file that a command names. Throws with a remedy. */
export function secretFrom(file: string): Secret {
  const found = readKeyFile(file, file);
  if (found instanceof Secret) return found;
  throw new Error(`${found.cause}. ${found.remedy}`);
}

function secretOf(name: string, environment: Environment): Secret | SettingFault | null {
  const file = environment[`${name}_FILE`]?.trim() ?? '';
  const given = environment[name]?.trim() ?? '';
  if (file !== '' && given !== '') {
    const cause = `${name}_FILE is set as well, and one of them counts`;
    return { key: name, cause, remedy: 'Unset one of them' };
  }
  if (file !== '') return readKeyFile(`${name}_FILE`, file);
  return given === '' ? null : (parse(given) ?? malformed(name, 'it'));
}

const MAX_BYTES = 65_536;

function readKeyFile(key: string, file: string): Secret | SettingFault {
  try {
    if (statSync(file).size > MAX_BYTES) return malformed(key, file);
    return parse(readFileSync(file, 'utf8').trim()) ?? malformed(key, file);
  } catch (error) {
    const code = systemCode(error) ?? 'no reason';
    const remedy = 'Name a file that this process can read';
    return { key, cause: `${file} cannot be read (${code})`, remedy };
  }
}

function malformed(key: string, what: string): SettingFault {
  const remedy = 'Give a plain payment key: a .skey of cardano-cli, or 64 hex digits';
  return { key, cause: `${what} holds no signing key of 32 bytes`, remedy };
}

const RAW = /^[0-9a-fA-F]{64}$/;
/** CBOR: a byte string of 32 bytes. */
const SKEY = /^5820([0-9a-fA-F]{64})$/;

function parse(text: string): Secret | null {
  if (RAW.test(text)) return new Secret(text.toLowerCase());
  const [, hex] = SKEY.exec(cborHexOf(text)) ?? [];
  return hex === undefined ? null : new Secret(hex.toLowerCase());
}

/** From the text envelope of cardano-cli; an extended key has another type and length. */
function cborHexOf(text: string): string {
  try {
    const envelope: unknown = JSON.parse(text);
    const isObject = typeof envelope === 'object' && envelope !== null;
    const type: unknown = isObject ? Reflect.get(envelope, 'type') : null;
    const isPlain = typeof type === 'string' && /SigningKey(Shelley)?_ed25519$/.test(type);
    return isPlain && isObject ? String(Reflect.get(envelope, 'cborHex')) : '';
  } catch {
    // Not JSON, so not an envelope; the message says so.
    return '';
  }
}
