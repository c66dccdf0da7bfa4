/** A devnet for tests: in this thread, blocks on demand, the same funded keys as everywhere. */
import { join } from 'node:path';
import type { Utxo } from '../../src/cardano/codec/output.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxos } from '../../src/devnet/chainFile.ts';
import { Devnet, type DevnetOptions } from '../../src/devnet/devnet.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { addressOf, FUNDED, secretOf } from './ledgerWorld.ts';
import { type Scope, temporaryDirectory } from './server.ts';

const ADA = 1_000_000n;

export function devnetOptions(directory = temporaryDirectory()): DevnetOptions {
  const value = coins(1_000n * ADA);
  return {
    file: join(directory, 'chain.sqlite'),
    clock: systemClock,
    genesis: FUNDED.flatMap((name) => {
      return Array.from({ length: 5 }, () => ({ address: addressOf(name), value }));
    }),
    faucetSecret: secretOf('faucet'),
    paceMs: 0,
  };
}

/** The genesis outputs of `devnetOptions`. */
export function genesisOutputs(): Utxo[] {
  return genesisUtxos(devnetOptions());
}

/** Stops with the test. */
export async function startDevnet(
  scope: Scope,
  options: Partial<DevnetOptions> = {},
): Promise<Devnet> {
  const devnet = await Devnet.open({ ...devnetOptions(), ...options });
  scope.after(() => devnet.stop());
  return devnet;
}
