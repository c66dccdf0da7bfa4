/** Protocol parameters of mainnet, in tests: today's where nothing else is said. */
import { readFileSync } from 'node:fs';
import type { ProtocolParameters } from '../../src/cardano/ledger/parameters.ts';
import { MAINNET_645, readDevnetParameters } from '../../src/devnet/parameters.ts';

/** Parameters of epoch 645 (November 2026), as the devnet has them. */
export const PARAMETERS: ProtocolParameters = MAINNET_645.values;

const FILE_544 = new URL('../data/parameters/mainnet544.json', import.meta.url);

/**
 * Parameters of epoch 544 (2025), as Ogmios prints them: other cost models, 14 M units of memory.
 */
export const TEXT_544: string = readFileSync(FILE_544, 'utf8');
export const PARAMETERS_544: ProtocolParameters = readDevnetParameters(TEXT_544).values;
