/** Splits the command line into options and arguments, and says which option is wrong. */

import { parseArgs } from 'node:util';
import { closest, distance } from 'fastest-levenshtein';
import { messageOf } from '../../engine/runtime/errors.ts';
import {
  COMMAND_NAMES,
  type CommandName,
  commandRow,
  isCommandName,
  type OptionName,
} from './commandTable.ts';

export type Values = Readonly<Partial<Record<OptionName | 'help' | 'version', string | boolean>>>;

/** Of every command; `-h` is short for help. */
const GENERAL = ['help', 'version'];

const OPTIONS = Object.fromEntries([
  ...COMMAND_NAMES.filter(isCommandName).flatMap((name) =>
    Object.entries(commandRow(name).options).map(([option, { value }]) => [
      option,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  ),
  ...GENERAL.map((option) => [option, { type: 'boolean' as const }]),
  ['help', { type: 'boolean' as const, short: 'h' }],
]);

/** Options and positional arguments; a string is an error message. */
export function readOptions(
  args: readonly string[],
): { readonly values: Values; readonly positionals: readonly string[] } | string {
  const unknown = args
    .slice(0, args.includes('--') ? args.indexOf('--') : args.length)
    .map((arg) => /^--([a-zA-Z][\w-]*)/.exec(arg)?.[1])
    .find((name) => name !== undefined && !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    return `unknown option: --${unknown}${suggestion(unknown, Object.keys(OPTIONS), '--')}`;
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
      strict: true,
    });
    // trust: OPTIONS has these names, and no option may be repeated
    return { values: values as Values, positionals };
  } catch (error) {
    const message = messageOf(error);
    return message.split('. ')[0] ?? message;
  }
}

/** An error message if an option does not belong to the command; null: none. */
export function misplacedOption(command: CommandName, values: Values): string | null {
  const takes = (name: string, option: string) =>
    isCommandName(name) && Object.hasOwn(commandRow(name).options, option);
  const misplaced = Object.keys(values).find(
    (name) => !GENERAL.includes(name) && !takes(command, name),
  );
  if (misplaced === undefined) return null;
  const commands = COMMAND_NAMES.filter((name) => takes(name, misplaced));
  return `--${misplaced} goes with ${commands.join(', ')}`;
}

const MOST_EDITS = 2;

/** ` Did you mean …?`, or nothing where no word is near. */
export function suggestion(word: string, known: readonly string[], prefix = ''): string {
  const near = closest(word, known);
  const isNear = distance(word, near) <= Math.min(MOST_EDITS, Math.floor(word.length / 2));
  return isNear ? `. Did you mean ${prefix}${near}?` : '';
}

/** Networks whose scripts are ours: mainnet's belong to another team. */
export type OwnNetwork = 'preprod' | 'preview' | 'devnet';

export function isOwnNetwork(name: unknown): name is OwnNetwork {
  return name === 'preprod' || name === 'preview' || name === 'devnet';
}
