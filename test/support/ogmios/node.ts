/** A fake Ogmios' knowledge of its network, beside blocks; a test may replace any of it. */

import type { NodeFacts, ServedNode } from '../../../src/devnet/ogmios/served.ts';
import { MAINNET_645 } from '../../../src/devnet/parameters.ts';
import { MAINNET_ERAS, MAINNET_START } from './mainnetEras.ts';

export type { NodeFacts } from '../../../src/devnet/ogmios/served.ts';

export type Submit = ServedNode['submit'];

export const MAINNET_FACTS: NodeFacts = {
  network: 'mainnet',
  networkMagic: 764_824_073,
  startTime: MAINNET_START,
  eras: MAINNET_ERAS,
  parameters: MAINNET_645.json,
  synchronization: 1,
  isConnected: true,
};
