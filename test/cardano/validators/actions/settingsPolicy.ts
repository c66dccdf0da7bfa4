/** The NFT of a deployment's settings: minted once, and never burnt. */
import type { Data } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { NEVER_AGAIN, redeemers } from '../layouts.ts';
import {
  ADA,
  ALICE,
  SEED,
  SETTINGS_ADDRESS,
  SIGNERS_HASH,
  settingsDatum,
  utxo,
  type World,
} from '../world.ts';

interface Case {
  readonly seed?: string;
  readonly amounts?: Readonly<Record<string, bigint>>;
  readonly redeemer?: Data;
}

/** Mints the settings NFT as `deploy` does. */
function mint({ settingsPolicy, settingsId }: World, one: Case = {}): Plan {
  const { seed = SEED, amounts = { [SIGNERS_HASH]: 1n } } = one;
  const { redeemer = redeemers.mintSettings(SIGNERS_HASH) } = one;
  const assets = Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [settingsId + name, amount]),
  );
  const kept = Object.entries(assets).filter(([, amount]) => amount > 0n);
  const held = Object.fromEntries(
    Object.entries(assets).flatMap(([unit, amount]) => (amount < 0n ? [[unit, -amount]] : [])),
  );
  const value = { lovelace: 5n * ADA, ...Object.fromEntries(kept) };
  return {
    inputs: [{ utxo: utxo(seed, 0, ALICE.enterprise, { lovelace: 10n * ADA, ...held }) }],
    outputs: [{ address: SETTINGS_ADDRESS, assets: value, datum: settingsDatum() }],
    mints: [{ policy: settingsPolicy, assets, redeemer }],
    signers: [ALICE],
  };
}

legal('settings: minted with their seed', (world) => mint(world));
attack('settings: minted again', 'seed not spent', (world) => mint(world, { seed: '5f' }));
attack('settings: burnt', 'seed not spent', (world) =>
  mint(world, { seed: '5f', amounts: { [SIGNERS_HASH]: -1n } }),
);
attack('settings: two NFTs', 'more than one NFT', (world) =>
  mint(world, { amounts: { [SIGNERS_HASH]: 2n } }),
);
attack('settings: a second NFT by another name', 'more than one asset name', (world) =>
  mint(world, { amounts: { [SIGNERS_HASH]: 1n, ['ab'.repeat(28)]: 1n } }),
);
attack('settings: an NFT by another name', 'another asset name', (world) =>
  mint(world, { amounts: { ['ab'.repeat(28)]: 1n } }),
);
attack('settings: an unknown redeemer', 'no such redeemer', (world) =>
  mint(world, { redeemer: NEVER_AGAIN }),
);
