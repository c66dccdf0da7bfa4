import { parseNumber } from '../amounts.ts';
import { command, textOf, type Values } from '../command.ts';

export interface ServeCommand {
  readonly name: 'serve';
  /** Overrides TRADERS_PACE; null: keeps it. */
  readonly tradersPace: number | null;
  /** Overrides START_POINT, and is checked like it; null: keeps it. */
  readonly from: string | null;
  /** A new devnet begins with the recorded past. */
  readonly withHistory: boolean;
}

const MAX_PACE = 50;

export const PACE = {
  pace: { value: 'N', about: "pace of a devnet's simulated traders (default 1, 0 is none)" },
  'no-traders': { about: 'the same as --pace 0' },
} as const;

export const SERVE = command({
  name: 'serve',
  group: 'data',
  uses: [['', 'serve what is in DATA_DIR (also without its name)']],
  options: {
    ...PACE,
    'no-history': { about: 'begin a new devnet empty, without the recorded day' },
    from: {
      value: 'SLOT.HASH',
      about: 'follow mainnet, preprod or preview from behind this block (or: origin)',
    },
    verify: { about: 'the same as the command verify' },
  },
  parse(_rest, values): ServeCommand | string {
    const tradersPace = paceOf(values);
    if (typeof tradersPace === 'string') return tradersPace;
    const withHistory = values['no-history'] !== true;
    const from = textOf(values.from);
    return { name: 'serve', tradersPace, from, withHistory };
  },
  async run(args, shell) {
    const { serve } = await import('../serve.ts');
    const from = args.from === null ? {} : { START_POINT: args.from };
    return serve(args, shell.appDeps({ ...paceSetting(args), ...from }), shell.terminal);
  },
});

/** null: keeps TRADERS_PACE; a string is an error message. */
export function paceOf(values: Values<keyof typeof PACE>): number | null | string {
  const { pace } = values;
  if (values['no-traders'] === true) {
    return pace === undefined ? 0 : '--pace and --no-traders exclude each other';
  }
  if (typeof pace !== 'string') return null;
  const tradersPace = parseNumber(pace);
  if (tradersPace !== null && tradersPace <= MAX_PACE) return tradersPace;
  return `--pace takes a number from 0 to ${MAX_PACE}`;
}

export function paceSetting({ tradersPace }: Pick<ServeCommand, 'tradersPace'>) {
  return tradersPace === null ? {} : { TRADERS_PACE: String(tradersPace) };
}
