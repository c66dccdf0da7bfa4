/**
 * Reads the environment once and checks it: returns all settings, or every fault at once.
 *
 * Assumes: the caller hands in the environment; `process.env` is read in `main.ts` only.
 * Never:   guesses. A bad value stops the start; the default does not replace it.
 * Secrets are read by `secrets.ts`; settings may be printed.
 */

import Type, { type TSchema } from 'typebox';
import Value from 'typebox/value';
import { assert } from '../../engine/runtime/assert.ts';
import { beginningOf } from '../../engine/runtime/errors.ts';
import { checkCombinations, type SettingFault } from './checks.ts';
import { defaultOf, typeOf } from './help.ts';
import { type Settings, TABLE } from './table.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Why the program cannot start. `message` names every bad key for a person. */
export class BadSettings extends Error {
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(({ key, cause, remedy }) => `  ${key}: ${cause}. ${remedy}.`);
    super(`These settings cannot be used:\n${lines.join('\n')}\n`);
    this.faults = faults;
  }
}

/** An absent or blank setting has its default. */
export function readSettings(environment: Environment): Settings | BadSettings {
  const values: Record<string, unknown> = {};
  const faults: SettingFault[] = [];
  for (const [key, schema] of Object.entries(TABLE.properties)) {
    const given = environment[key]?.trim() ?? '';
    const value = given === '' ? defaultOf(schema) : parse(schema, given);
    const usable = value === undefined || Value.Check(schema, value);
    if (!usable) faults.push(typeFault(key, schema, given));
    const kept = usable ? value : defaultOf(schema);
    if (kept !== undefined) values[key] = kept;
  }
  assert(Value.Check(TABLE, values), 'the defaults fit the table of settings');
  faults.push(...checkCombinations(values, new Set(faults.map(({ key }) => key))));
  return faults.length === 0 ? values : new BadSettings(faults);
}

/** Converts `given` to the type of `schema`; a value that does not fit stays text and fails. */
function parse(schema: TSchema, given: string): unknown {
  if (Type.IsInteger(schema)) return /^-?\d{1,15}$/.test(given) ? Number(given) : given;
  if (Type.IsNumber(schema)) return /^\d{1,9}(\.\d{1,6})?$/.test(given) ? Number(given) : given;
  if (Type.IsBoolean(schema)) return { true: true, false: false }[given.toLowerCase()] ?? given;
  if (!Type.IsArray(schema)) return given;
  const items = given.split(',').map((item) => item.trim());
  return items.filter((item) => item !== '');
}

function typeFault(key: string, schema: TSchema, given: string): SettingFault {
  const shown = beginningOf(given, 40);
  const standard = defaultOf(schema);
  const instead = standard === undefined ? '' : ` for the default, ${String(standard)}`;
  return {
    key,
    cause: `"${shown}" is not valid: ${typeOf(schema)}`,
    remedy: `Correct it, or leave it out${instead}`,
  };
}
