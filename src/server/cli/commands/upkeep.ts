import { command } from '../command.ts';

export const VERIFY = command({
  name: 'verify',
  group: 'data',
  uses: [['', 'compare the state with a rebuild from the log']],
  options: { verify: { about: 'itself, as an option' } },
  parse: () => ({ name: 'verify' }) as const,
  async run(_args, shell) {
    const { verify } = await import('../verify.ts');
    return verify(shell.appDeps(), shell.terminal);
  },
});

export const RESET = command({
  name: 'reset',
  group: 'data',
  uses: [['', "move a devnet's chain and market aside, to begin again"]],
  options: {},
  parse: () => ({ name: 'reset' }) as const,
  async run(_args, shell) {
    const { runReset } = await import('../reset.ts');
    return runReset({ ...shell, settings: shell.appDeps().settings });
  },
});
