/** `devnet`: a small Cardano alone, for any Cardano program. */
import { parseNumber } from './amounts.ts';
import type { Values } from './options.ts';

export interface DevnetCommand {
  readonly name: 'devnet';
  readonly ogmiosPort: number;
  readonly kupoPort: number;
  /** Between blocks, ms; 0: on demand. null: as set (BLOCK_EVERY_MS). */
  readonly paceMs: number | null;
  /** A file with the outputs that a new chain begins with; null: three wallets. */
  readonly genesis: string | null;
  /** It begins with what a market needs, instead. */
  readonly launchpad: boolean;
  /** A host name, beside loopback, under which other programs reach it; null: none. */
  readonly allowHost: string | null;
}

const OGMIOS_PORT = 1337;
const KUPO_PORT = 1442;
const MOST_PORT = 65_535;
const LEAST_PACE_MS = 50;
const MOST_PACE_MS = 60_000;

export function parseDevnet(values: Values): DevnetCommand | string {
  const ogmiosPort = portOf(values['ogmios-port'], OGMIOS_PORT);
  const kupoPort = portOf(values['kupo-port'], KUPO_PORT);
  if (ogmiosPort === null) return '--ogmios-port takes a port, 0 to 65535';
  if (kupoPort === null) return '--kupo-port takes a port, 0 to 65535';
  const paceMs = typeof values.pace === 'string' ? parseNumber(values.pace) : null;
  const isPace =
    values.pace === undefined ||
    paceMs === 0 ||
    (paceMs !== null && Number.isInteger(paceMs) && inRange(paceMs));
  if (!isPace) return `--pace takes ms between blocks: 0, or ${LEAST_PACE_MS} to ${MOST_PACE_MS}`;
  const launchpad = values.launchpad === true;
  if (launchpad && values.genesis !== undefined) {
    return '--launchpad is a genesis of its own: leave --genesis out';
  }
  return {
    name: 'devnet',
    launchpad,
    ogmiosPort,
    kupoPort,
    paceMs,
    genesis: textOf(values.genesis),
    allowHost: textOf(values['allow-host']),
  };
}

function inRange(paceMs: number): boolean {
  return paceMs >= LEAST_PACE_MS && paceMs <= MOST_PACE_MS;
}

function textOf(value: string | boolean | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** null: no port. */
function portOf(value: string | boolean | undefined, otherwise: number): number | null {
  if (value === undefined) return otherwise;
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : MOST_PORT + 1;
  return port <= MOST_PORT ? port : null;
}
