/** Splits the command line into options and arguments, and says which option is wrong. */

import { parseArgs } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { messageOf } from '../../engine/runtime/errors.ts';
import type { CliCommand, Values } from './command.ts';

/** Options of every command; `-h` is short for help. */
const GENERAL = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const;

/** Options and positional arguments; a string is an error message. */
export function readOptions(
  args: readonly string[],
  commands: readonly CliCommand[],
): { readonly values: Values; readonly positionals: readonly string[] } | string {
  const rows = commands.flatMap(({ options }) => Object.entries(options));
  const known = rows.map(([name, { value }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const) },
  ]);
  const options = { ...Object.fromEntries(known), ...GENERAL };
  const unknown = args
    .slice(0, args.includes('--') ? args.indexOf('--') : args.length)
    .map((arg) => /^--([a-zA-Z][\w-]*)/.exec(arg)?.[1])
    .find((name) => name !== undefined && !Object.hasOwn(options, name));
  if (unknown !== undefined) {
    return `unknown option: --${unknown}${suggestion(unknown, Object.keys(options), '--')}`;
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    // trust: no option may be repeated
    return { values: values as Values, positionals };
  } catch (error) {
    const message = messageOf(error);
    return message.split('. ')[0] ?? message;
  }
}

/** An error message if an option does not belong to the command; null: none. */
export function misplacedOption(
  command: CliCommand,
  values: Values,
  commands: readonly CliCommand[],
): string | null {
  const takes = ({ options }: CliCommand, option: string) => Object.hasOwn(options, option);
  const misplaced = Object.keys(values).find(
    (name) => !Object.hasOwn(GENERAL, name) && !takes(command, name),
  );
  if (misplaced === undefined) return null;
  const owners = commands.filter((each) => takes(each, misplaced)).map(({ name }) => name);
  return `--${misplaced} goes with ${owners.join(', ')}`;
}

const MAX_EDITS = 2;

/** ` Did you mean …?`, or nothing where no word is near. */
export function suggestion(word: string, known: readonly string[], prefix = ''): string {
  const near = closest(word, known);
  const isNear = distance(word, near) <= Math.min(MAX_EDITS, Math.floor(word.length / 2));
  return isNear ? `. Did you mean ${prefix}${near}?` : '';
}
