import { Constr, type Data } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { ADA, ALICE, BOB, SIGNERS, SLOT_MS, START_MS, utxo, type World } from '../world.ts';

const UNLOCK_MS = START_MS + 600 * SLOT_MS;
const TOKEN = `${'ab'.repeat(28)}44415645`;
const WITHDRAW = new Constr<Data>(0, []);

function withdrawal({ address }: World, change: Partial<Plan> & { redeemer?: Data } = {}): Plan {
  const { redeemer = WITHDRAW, ...rest } = change;
  const assets = { lovelace: 2n * ADA, [TOKEN]: 500n };
  const lock = new Constr<Data>(0, [BigInt(UNLOCK_MS), ALICE.pkh]);
  return {
    inputs: [{ utxo: utxo('10', 0, address('vesting', ALICE), assets, lock), redeemer }],
    outputs: [{ address: ALICE.address, assets }],
    signers: [ALICE],
    fromMs: UNLOCK_MS,
    ...rest,
  };
}

legal('vesting: withdrawal by the owner once unlocked', (world) => withdrawal(world));

attack('vesting: another signs', 'owner signature missing', (world) =>
  withdrawal(world, { signers: [BOB] }),
);

attack('vesting: the signers open it early', 'owner signature missing', (world) =>
  withdrawal(world, { signers: SIGNERS, fromMs: UNLOCK_MS - SLOT_MS }),
);

attack('vesting: one slot early', 'still locked', (world) =>
  withdrawal(world, { fromMs: UNLOCK_MS - SLOT_MS }),
);

attack('vesting: an unknown redeemer', 'no such redeemer', (world) =>
  withdrawal(world, { redeemer: new Constr(7, []) }),
);

attack('vesting: Never', 'no such redeemer', (world) =>
  withdrawal(world, { redeemer: new Constr(1, []) }),
);
