/** How tests follow a chain: as the server follows a devnet, or a public network. */
import type { ChainPolicy } from '../../src/chain/policy.ts';

export const GRACE_MS = 10_000;

export const DEVNET_POLICY: ChainPolicy = {
  start: null,
  finalGraceMs: 0,
  timeEntries: false,
  clock: 'wall',
  believesShorter: true,
  comparesUnits: false,
  returnMs: 500,
};

export const PUBLIC_POLICY: ChainPolicy = {
  start: null,
  finalGraceMs: GRACE_MS,
  timeEntries: true,
  clock: 'wall',
  believesShorter: false,
  comparesUnits: true,
  returnMs: 2_000,
};
