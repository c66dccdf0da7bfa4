/** One devnet in a thread of the bench, and the settings of nodes that follow it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startDevnetThread } from '../../src/devnet/thread.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { readSecrets } from '../../src/server/settings/secrets.ts';
import { BadSettings, readSettings } from '../../src/server/settings/settings.ts';
import { launchpadFromSettings } from '../../src/server/wiring/devnet.ts';

export interface SharedDevnet {
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** `paceMs` 0: blocks on demand. Its files and keys are in `directory`. */
export async function startSharedDevnet(directory: string, paceMs: number): Promise<SharedDevnet> {
  mkdirSync(directory, { recursive: true });
  const keysFile = join(directory, 'keys.json');
  const read = readSettings({ DATA_DIR: directory, KEYS_FILE: keysFile });
  if (read instanceof BadSettings) throw new Error(read.message);
  const { outputs: genesis } = launchpadFromSettings(read, systemRng);
  const faucetSecret = readSecrets(directory, systemRng, keysFile).faucet.reveal();
  const file = join(directory, 'chain.sqlite');
  const fail = (error: Error) => {
    throw error;
  };
  const devnet = await startDevnetThread(
    { file, genesis, faucetSecret, paceMs },
    { died: fail, stalled: (message) => message !== null && fail(new Error(message)) },
  );
  const settings = {
    NETWORK: 'devnet',
    OGMIOS_URL: devnet.ogmiosUrl,
    KUPO_URL: devnet.kupoUrl,
    KEYS_FILE: keysFile,
    BLOCK_EVERY_MS: String(paceMs),
  };
  return { settings, stop: () => devnet.stop() };
}
