import { parseNumber } from '../amounts.ts';
import { command, textOf } from '../command.ts';

export interface DevnetCommand {
  readonly name: 'devnet';
  readonly ogmiosPort: number;
  readonly kupoPort: number;
  /** Time between blocks; 0: blocks on demand; null: BLOCK_EVERY_MS. */
  readonly paceMs: number | null;
  /** A file with the outputs of a new chain's genesis; null: three wallets. */
  readonly genesis: string | null;
  /** The genesis of a new chain contains the outputs of a market. */
  readonly launchpad: boolean;
  /** A file with protocol parameters; null: the chain's own. */
  readonly parameters: string | null;
  /** The version of Ogmios that it speaks as. */
  readonly ogmiosMajor: 6 | 7;
  /** A host name, beside loopback, that requests may name; null: none. */
  readonly allowHost: string | null;
}

const OGMIOS_PORT = 1337;
const KUPO_PORT = 1442;
const MAX_PORT = 65_535;
const MIN_PACE_MS = 50;
const MAX_PACE_MS = 60_000;

export const DEVNET = command({
  name: 'devnet',
  group: 'data',
  uses: [['', 'a Cardano devnet alone, for any program: Ogmios, Kupo']],
  options: {
    'ogmios-port': { value: '1337', about: 'of Ogmios (default 1337)' },
    'kupo-port': { value: '1442', about: 'of Kupo (default 1442)' },
    ogmios: { value: '6|7', about: 'the version of Ogmios that it speaks as (default 6)' },
    pace: { value: '1000', about: 'ms between blocks; 0: on demand' },
    genesis: { value: 'FILE', about: 'what a new chain begins with (default: three wallets)' },
    launchpad: { about: 'or with what a market needs: scripts, and wallets of KEYS_FILE' },
    parameters: { value: 'FILE', about: "protocol parameters: Ogmios' JSON (default: mainnet's)" },
    'allow-host': { value: 'NAME', about: 'another host name under which programs reach it' },
  },
  parse(_rest, values): DevnetCommand | string {
    const ogmiosPort = portOf(values['ogmios-port'], OGMIOS_PORT);
    const kupoPort = portOf(values['kupo-port'], KUPO_PORT);
    if (ogmiosPort === null) return '--ogmios-port takes a port, 0 to 65535';
    if (kupoPort === null) return '--kupo-port takes a port, 0 to 65535';
    const paceMs = typeof values.pace === 'string' ? parseNumber(values.pace) : null;
    const isPace =
      values.pace === undefined ||
      paceMs === 0 ||
      (paceMs !== null && Number.isInteger(paceMs) && inRange(paceMs));
    if (!isPace) return `--pace takes ms between blocks: 0, or ${MIN_PACE_MS} to ${MAX_PACE_MS}`;
    const ogmios = values.ogmios ?? '6';
    if (ogmios !== '6' && ogmios !== '7') return '--ogmios takes 6 or 7';
    const launchpad = values.launchpad === true;
    if (launchpad && values.genesis !== undefined) {
      return '--launchpad and --genesis exclude each other';
    }
    return {
      name: 'devnet',
      launchpad,
      ogmiosPort,
      kupoPort,
      paceMs,
      genesis: textOf(values.genesis),
      parameters: textOf(values.parameters),
      ogmiosMajor: ogmios === '7' ? 7 : 6,
      allowHost: textOf(values['allow-host']),
    };
  },
  async run(args, shell) {
    const { runDevnet } = await import('../devnet.ts');
    const { launchpadFromSettings } = await import('../../wiring/devnet.ts');
    const { settings, rng } = shell.appDeps();
    return runDevnet(args, {
      ...shell,
      dataDirectory: settings.DATA_DIR,
      blockEveryMs: settings.BLOCK_EVERY_MS,
      host: settings.HOST,
      stopAsked: shell.terminal.stopAsked,
      launchpad: () => launchpadFromSettings(settings, rng),
    });
  },
});

function inRange(paceMs: number): boolean {
  return paceMs >= MIN_PACE_MS && paceMs <= MAX_PACE_MS;
}

/** null: no port. */
function portOf(value: string | boolean | undefined, otherwise: number): number | null {
  if (value === undefined) return otherwise;
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : MAX_PORT + 1;
  return port <= MAX_PORT ? port : null;
}
