/** Collect: the creator gets exactly the amount owed, in an output that serves nothing else. */
import { type Assets, Constr, type Data, scriptFromNative } from '@lucid-evolution/lucid';
import { attack, legal } from '../cases.ts';
import type { Input, Output, Plan } from '../judge.ts';
import { ammDatum, type Ids, launched, longer, redeemers } from '../layouts.ts';
import { withOrder } from '../trades.ts';
import {
  ADA,
  ALICE,
  BANK,
  CREATOR,
  EXECUTOR,
  KEEP,
  type Key,
  swapped,
  utxo,
  type World,
} from '../world.ts';
import { executing } from './settings.ts';

const X = 18_188_400_000n;
const Y = 263_536_686n;
const OWED = 5_000_000n;

interface Case {
  readonly redeemer?: Data;
  readonly creatorStake?: string;
  readonly owed1?: bigint;
  readonly datum1?: (datum: Constr<Data>) => Constr<Data>;
  readonly address1?: (world: World) => string;
  readonly assets1?: (assets: Assets, ids: Ids) => Assets;
}

function pool(world: World, ids: Ids, index: number, one: Case): [Input, Output] {
  const { redeemer = redeemers.collect(index, 2), creatorStake = CREATOR.skh } = one;
  const { owed1 = 0n, datum1, address1, assets1 } = one;
  const before = { lovelace: X + KEEP + OWED, [ids.token]: Y, [ids.nft]: 1n };
  const after = { ...before, lovelace: X + KEEP };
  const address = world.address('ammPool');
  const datum = ammDatum(world, ids, { owed: owed1, creatorStake });
  const old = ammDatum(world, ids, { owed: OWED, creatorStake });
  return [
    { utxo: utxo(`1${index}`, 0, address, before, old), redeemer },
    {
      address: address1?.(world) ?? address,
      assets: assets1?.(after, ids) ?? after,
      datum: datum1?.(datum) ?? datum,
    },
  ];
}

const payout = (address = CREATOR.address, lovelace = OWED): Output => ({
  address,
  assets: { lovelace },
});

/** Paired with the bank's input, so that payouts come behind every pair. */
const filler: Output = { address: BANK.enterprise, assets: { lovelace: 2n * ADA } };

function collect(world: World, one: Case = {}, paid = [payout()], signer: Key = EXECUTOR): Plan {
  const [input, output] = pool(world, launched(world), 0, one);
  return { inputs: [input], outputs: [output, filler, ...paid], signers: [signer] };
}

legal('collect: to the creator, exactly what is owed', (world) => collect(world));
legal('collect: to a creator without stake part', (world) =>
  collect(world, { creatorStake: '' }, [payout(CREATOR.enterprise)]),
);
legal('collect: into a later output', (world) =>
  collect(world, { redeemer: redeemers.collect(0, 3) }, [payout(ALICE.address), payout()]),
);

executing('collect', (world) => collect(world));
attack('collect: without the executor', 'executor signature missing', (world) =>
  collect(world, {}, [payout()], CREATOR),
);
attack('collect: one lovelace short', 'payout too small', (world) =>
  collect(world, {}, [payout(CREATOR.address, OWED - 1n)]),
);
attack('collect: to another', 'payout to another', (world) =>
  collect(world, {}, [payout(ALICE.address)]),
);
attack('collect: without the stake part', 'payout to another', (world) =>
  collect(world, {}, [payout(CREATOR.enterprise)]),
);
attack('collect: with a foreign stake part', 'payout to another', (world) =>
  collect(world, {}, [payout(swapped(CREATOR, ALICE))]),
);
attack('collect: with a stake part where there is none', 'payout to another', (world) =>
  collect(world, { creatorStake: '' }),
);
attack('collect: no such output', 'index out of range', (world) =>
  collect(world, { redeemer: redeemers.collect(0, 9) }),
);
attack('collect: an output that belongs to an input', 'payout belongs to an input', (world) =>
  collect(world, { redeemer: redeemers.collect(0, 1) }),
);
attack('collect: a negative payout', 'payout belongs to an input', (world) =>
  collect(world, { redeemer: redeemers.collect(0, -1) }),
);
attack('collect: a negative index', null, (world) =>
  collect(world, { redeemer: redeemers.collect(-1, 2) }),
);
attack('collect: the index of another input', 'not my index', (world) =>
  collect(world, { redeemer: redeemers.collect(1, 2) }),
);
attack('collect: still owed', 'wrong datum', (world) => collect(world, { owed1: OWED }));
attack('collect: a lovelace still owed', 'wrong datum', (world) => collect(world, { owed1: 1n }));
attack('collect: a field added to the datum', 'wrong datum', (world) =>
  collect(world, { datum1: longer }),
);
attack('collect: another creator from now on', 'wrong datum', (world) =>
  collect(world, { datum1: ({ fields }) => new Constr(0, fields.with(5, ALICE.pkh)) }),
);
attack('collect: the pool pays a lovelace more', 'wrong value', (world) =>
  collect(world, { assets1: (all) => ({ ...all, lovelace: X + KEEP - 1n }) }),
);
attack('collect: the pool pays a lovelace less', 'wrong value', (world) =>
  collect(world, { assets1: (all) => ({ ...all, lovelace: X + KEEP + 1n }) }),
);
attack('collect: a token taken', 'tokens changed', (world) =>
  collect(world, { assets1: (all, { token }) => ({ ...all, [token]: Y - 1n }) }),
);
attack('collect: the NFT stolen', 'tokens changed', (world) =>
  collect(world, { assets1: ({ [launched(world).nft]: _, ...rest }) => rest }),
);
attack('collect: the pool moved away', 'address changed', (world) =>
  collect(world, { address1: ({ address }) => address('ammPool', ALICE) }),
);

attack('collect: a script on the pool', 'reference script on the pool', (world) => {
  const plan = collect(world);
  const [next, ...others] = plan.outputs;
  const scriptRef = scriptFromNative({ type: 'sig', keyHash: EXECUTOR.pkh });
  return { ...plan, outputs: next ? [{ ...next, scriptRef }, ...others] : [] };
});
attack('collect: an order filled beside it', 'another script beside it', (world) =>
  withOrder(collect(world, { redeemer: redeemers.collect(0, 4) }), world, ALICE),
);

/** Two pools of one creator. */
function both(world: World, first: Data, second: Data, count = 2): Plan {
  const [in0, out0] = pool(world, launched(world), 0, { redeemer: first });
  const [in1, out1] = pool(world, launched(world, 'bb'), 1, { redeemer: second });
  const paid = [payout(), payout()].slice(0, count);
  return { inputs: [in0, in1], outputs: [out0, out1, filler, ...paid], signers: [EXECUTOR] };
}

attack('collect: two pools of one creator', 'another script beside it', (world) =>
  both(world, redeemers.collect(0, 3), redeemers.collect(1, 4)),
);
attack('collect: one payout for two pools', 'another script beside it', (world) =>
  both(world, redeemers.collect(0, 3), redeemers.collect(1, 3), 1),
);
attack('collect: beside a trade of another pool', 'another script beside it', (world) =>
  both(world, redeemers.collect(0, 3), redeemers.trade(1, [])),
);
