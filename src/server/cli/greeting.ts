/** What a person reads who starts a server in a terminal. Log lines come between and after it. */
import { reachableHost } from '../settings/reachableHost.ts';
import type { Settings } from '../settings/table.ts';

/** Before anything is opened. */
export function startingText(version: string, { NETWORK, DATA_DIR }: Settings): string {
  const chain =
    NETWORK === 'devnet'
      ? 'with a devnet of its own'
      : NETWORK === 'none'
        ? 'without a chain'
        : `following ${NETWORK}`;
  return `upcurve ${version}, ${chain}. Data directory: ${DATA_DIR}\n`;
}

/** Once it listens on `port`. */
export function listeningText({ HOST }: Settings, port: number): string {
  const url = `http://${reachableHost(HOST)}:${port}`;
  return `\n  open ${url}\n\n  API reference: ${url}/docs\n  Press Ctrl+C to stop.\n\n`;
}
