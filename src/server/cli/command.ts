/**
 * A command of the command line is one object: its name, options and help, the check of its
 * arguments, and what it does. `run` imports the program that it needs: most commands do without
 * most of it.
 */
import type { Readable } from 'node:stream';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Environment } from '../settings/settings.ts';
import type { Settings } from '../settings/table.ts';
import type { AppDeps } from '../wiring/appDeps.ts';
import type { ProgressOutput } from './progress.ts';

export interface OptionRow {
  /** Name of the value, in the help; absent: a flag. */
  readonly value?: string;
  readonly about: string;
}

export type Values<Option extends string = string> = Readonly<
  Partial<Record<Option, string | boolean>>
>;

/** The process, as a command sees it. */
export interface Shell {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly fetch: typeof fetch;
  readonly version: string;
  readonly environment: Environment;
  /** Where the program is installed. */
  readonly directory: string;
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  /** Standard input and output. `write` and `say` take a drawn line of progress away first. */
  readonly input: typeof process.stdin;
  readonly output: typeof process.stdout;
  readonly terminal: Terminal;
  /** Aborted when the process is asked to stop. */
  readonly signal: AbortSignal;
  write(text: string): void;
  /** `say` prints a line of the result, `complain` one about a problem. */
  say(line: string): void;
  complain(line: string): void;
  /** Settings, keys and log. `overrides` replace the environment. Throws `BadSettings`. */
  appDeps(overrides?: Environment): AppDeps & { readonly secrets: KeySecrets };
}

export interface Terminal extends ProgressOutput {
  /** Prints lines for a person; absent: standard output is not a terminal. */
  readonly greet?: (text: string) => void;
  /** Standard input. */
  readonly input: Readable;
  /** Resolves with the reason to stop: a signal. */
  readonly stopAsked: Promise<string>;
}

interface CommandFacts<Option extends string> {
  readonly name: string;
  /** The help lists commands by group. */
  readonly group: 'data' | 'server' | 'wallet';
  /** Each way to call it, without its name: its arguments, and a description. */
  readonly uses: readonly (readonly [args: string, about: string])[];
  readonly options: Readonly<Record<Option, OptionRow>>;
  /** The most arguments without a name; absent: none. */
  readonly takes?: number;
  /** However often it is asked to stop, it ends in order. */
  readonly stopsInOrder?: boolean;
}

interface CommandDefinition<Option extends string, Args> extends CommandFacts<Option> {
  /** A string is an error message. */
  parse(rest: readonly string[], values: Values<Option>): Args | string;
  /** Returns the exit code: 0 done, 1 failed, 2 misuse. */
  run(args: Args, shell: Shell): Promise<number>;
}

export interface CliCommand<Args = unknown> extends CommandFacts<string> {
  /** `values`: options of this command only. A string is an error message. */
  call(rest: readonly string[], values: Values): Call<Args> | string;
}

/** A command with its checked arguments. */
export interface Call<Args = unknown> {
  readonly args: Args;
  readonly stopsInOrder: boolean;
  run(shell: Shell): Promise<number>;
}

export function command<const Option extends string, Args>(
  definition: CommandDefinition<Option, Args>,
): CliCommand<Args> {
  const { parse, run, ...facts } = definition;
  return {
    ...facts,
    call(rest, values) {
      // trust: `readOptions` let only options of this command through
      const args = tooMany(rest, facts) ?? parse(rest, values as Values<Option>);
      if (typeof args === 'string') return args;
      const { stopsInOrder = false } = facts;
      return { args, stopsInOrder, run: (shell) => run(args, shell) };
    },
  };
}

/** null: absent, or a flag. */
export function textOf(value: string | boolean | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function tooMany(rest: readonly string[], { takes = 0 }: Pick<CliCommand, 'takes'>): string | null {
  const word = rest[takes];
  return word === undefined ? null : `unexpected argument: ${word}`;
}

/** `auto`: text for a person at a terminal. */
export function logFormatOf(
  { LOG_FORMAT }: Settings,
  { isTTY }: Pick<Shell['output'], 'isTTY'>,
): 'json' | 'text' {
  if (LOG_FORMAT !== 'auto') return LOG_FORMAT;
  return isTTY ? 'text' : 'json';
}
