import { parseCommand } from '../../../src/server/cli/commands.ts';

/** The checked arguments of a command line, or the message for it. */
export function parsed(argv: readonly string[]) {
  const call = parseCommand(argv);
  return typeof call === 'string' ? call : call.args;
}
