/** Graduation: everything moves to the AMM, to the lovelace, for the creator who launched. */
import { type Assets, type Constr, type Data, scriptFromNative } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Plan } from '../judge.ts';
import {
  ammDatum,
  changed,
  curveDatum,
  type Ids,
  launched,
  launchId,
  longer,
  redeemers,
} from '../layouts.ts';
import { withOrder } from '../trades.ts';
import { ADA, ALICE, BOB, CAP, EXECUTOR, type Key, PLATFORM, utxo, type World } from '../world.ts';
import { executing } from './settings.ts';

interface Case {
  readonly coin?: bigint;
  readonly id?: Constr<Data>;
  readonly index?: number;
  readonly datum1?: (datum: Constr<Data>) => Constr<Data>;
  readonly address1?: (world: World) => string;
  readonly assets1?: (assets: Assets, ids: Ids) => Assets;
  readonly signer?: Key;
}

function graduation(world: World, one: Case = {}): Plan {
  const ids = launched(world);
  const { coin = CAP, id = ids.id, index = 0, datum1, address1, assets1, signer = EXECUTOR } = one;
  const assets: Assets = { lovelace: coin, [ids.token]: 263_536_686n, [ids.nft]: 1n };
  const moved = assets1?.(assets, ids) ?? assets;
  const datum = ammDatum(world, ids, { owed: 0n });
  const pool = utxo('10', 0, world.address('curvePool', PLATFORM), assets, curveDatum(world, ids));
  const left: Assets = { lovelace: 5n * ADA };
  for (const unit of [ids.token, ids.nft])
    left[unit] = 1n + (assets[unit] ?? 0n) - (moved[unit] ?? 0n);
  const held: Assets = { lovelace: 5n * ADA, [ids.token]: 1n, [ids.nft]: 1n };
  return {
    inputs: [
      { utxo: pool, redeemer: redeemers.graduate(index, id) },
      { utxo: utxo('20', 0, BOB.enterprise, held) },
    ],
    outputs: [
      {
        address: address1?.(world) ?? world.address('ammPool'),
        assets: moved,
        datum: datum1?.(datum) ?? datum,
      },
      { address: BOB.enterprise, assets: left },
    ],
    signers: [signer, BOB],
  };
}

legal('graduation: at the cap', (world) => graduation(world));
legal('graduation: beyond the cap', (world) => graduation(world, { coin: CAP + 18_191_400n }));
executing('graduation', (world) => graduation(world));

attack('graduation: one lovelace below the cap', 'cap not reached', (world) =>
  graduation(world, { coin: CAP - 1n }),
);
attack('graduation: without the executor', 'executor signature missing', (world) =>
  graduation(world, { signer: ALICE }),
);
attack('graduation: another index', 'not my index', (world) => graduation(world, { index: 1 }));
attack('graduation: a negative index', null, (world) => graduation(world, { index: -1 }));
attack('graduation: to another address', 'wrong address', (world) =>
  graduation(world, { address1: () => ALICE.address }),
);
attack('graduation: to the AMM with a stake part', 'wrong address', (world) =>
  graduation(world, { address1: ({ address }) => address('ammPool', PLATFORM) }),
);
attack('graduation: to the curve', 'wrong address', (world) =>
  graduation(world, { address1: ({ address }) => address('curvePool') }),
);
attack('graduation: one lovelace short', 'value changed', (world) =>
  graduation(world, { assets1: (all) => ({ ...all, lovelace: CAP - 1n }) }),
);
attack('graduation: one lovelace more', 'value changed', (world) =>
  graduation(world, { assets1: (all) => ({ ...all, lovelace: CAP + 1n }) }),
);
attack('graduation: one token short', 'value changed', (world) =>
  graduation(world, { assets1: (all, { token }) => ({ ...all, [token]: 263_536_685n }) }),
);
attack('graduation: the NFT stolen', 'value changed', (world) =>
  graduation(world, { assets1: ({ [launched(world).nft]: _, ...rest }) => rest }),
);
attack('graduation: for another creator', 'another launch', (world) =>
  graduation(world, { id: launchId('aa'.repeat(32), 0, ALICE) }),
);
attack('graduation: a launch id with one more field', 'another launch', (world) =>
  graduation(world, { id: longer(launched(world).id) }),
);
const wrong: readonly [string, (datum: Constr<Data>) => Constr<Data>][] = [
  ['another creator', (datum) => changed(datum, 5, ALICE.pkh)],
  ['another stake part of the creator', (datum) => changed(datum, 6, ALICE.skh)],
  ['something owed', (datum) => changed(datum, 7, 1n)],
  ['another LP fee', (datum) => changed(datum, 3, 0n)],
  ['another executor', (datum) => changed(datum, 4, ALICE.pkh)],
  ['other settings', (datum) => changed(datum, 8, ALICE.pkh)],
  ['one more field', longer],
];
for (const [name, datum1] of wrong) {
  attack(`graduation: a datum with ${name}`, 'wrong datum', (world) =>
    graduation(world, { datum1 }),
  );
}

attack('graduation: a script on the pool', 'reference script on the pool', (world) => {
  const plan = graduation(world);
  const [pool, ...others] = plan.outputs;
  const scriptRef = scriptFromNative({ type: 'sig', keyHash: EXECUTOR.pkh });
  return { ...plan, outputs: pool ? [{ ...pool, scriptRef }, ...others] : [] };
});
attack('graduation: an order filled beside it', 'another script beside it', (world) =>
  withOrder(graduation(world), world, ALICE),
);
