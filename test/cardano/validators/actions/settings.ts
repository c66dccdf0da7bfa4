/** A script that reads settings accepts only the output with the settings NFT. */
import { credentialToAddress } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { longer } from '../layouts.ts';
import {
  ALICE,
  EXECUTOR,
  key,
  PLATFORM,
  SIGNERS_HASH,
  settingsDatum,
  settingsUtxo,
  type World,
} from '../world.ts';

const FOREIGN_POLICY = 'ab'.repeat(28);
const WITH_STAKE = credentialToAddress(
  'Custom',
  { type: 'Script', hash: SIGNERS_HASH },
  { type: 'Key', hash: PLATFORM.skh },
);

type Change = Parameters<typeof settingsUtxo>[1];

/** The plan with settings of which something is changed. */
export const withSettings = (world: World, plan: Plan, change: Change): Plan => ({
  ...plan,
  settings: [settingsUtxo(world.settingsId, change)],
});

/** Tests for a step that reads settings. */
export function reading(name: string, plan: (world: World) => Plan): void {
  const change = (what: string, check: string | null, to: Change) =>
    attack(`${name}: ${what}`, check, (world) => withSettings(world, plan(world), to));
  attack(`${name}: without settings`, 'settings missing', (world) => ({
    ...plan(world),
    settings: [],
  }));
  attack(`${name}: forged settings, without the NFT`, 'settings missing', (world) => ({
    ...plan(world),
    settings: [settingsUtxo(FOREIGN_POLICY)],
  }));
  attack(`${name}: two settings`, 'two settings', (world) => ({
    ...plan(world),
    settings: [world.settings, settingsUtxo(world.settingsId, { hash: 'ef' })],
  }));
  change('settings that were taken away', 'settings at another address', {
    address: ALICE.address,
  });
  change('settings under a stake part', 'settings at another address', { address: WITH_STAKE });
  change('settings with one more field', 'settings have extra fields', {
    datum: longer(settingsDatum()),
  });
}

/** Executes from a rotation on. */
const NEXT = key(14);

/** Tests for a step that the executor signs. */
export function executing(name: string, plan: (world: World) => Plan): void {
  reading(name, plan);
  const rotated = { datum: settingsDatum(NEXT) };
  attack(`${name}: the old executor, after a rotation`, 'executor signature missing', (world) =>
    withSettings(world, plan(world), rotated),
  );
  legal(`${name}: the new executor, after a rotation`, (world) => {
    const planned = plan(world);
    const signers = planned.signers.filter((one) => one !== EXECUTOR);
    return withSettings(world, { ...planned, signers: [NEXT, ...signers] }, rotated);
  });
}
