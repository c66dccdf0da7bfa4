/** Launch and token policy: one mint of one NFT and one supply, into exactly this deployment. */
import {
  type Assets,
  Constr,
  type Data,
  mintingPolicyToId,
  scriptFromNative,
} from '@lucid-evolution/lucid';
import { buyTokens, DEFAULT_CURVE } from '../../../../src/engine/market/curve.ts';
import { attack, legal } from '../cases.ts';
import type { Mint, Plan } from '../judge.ts';
import {
  changed,
  curveDatum,
  type Ids,
  launched,
  longer,
  NEVER_AGAIN,
  nftName,
  redeemers,
  TOKEN_NAME,
} from '../layouts.ts';
import {
  ADA,
  ALICE,
  CAP,
  CREATOR,
  EXECUTOR,
  KEEP,
  type Key,
  PLATFORM,
  SUPPLY,
  settingsDatum,
  utxo,
  type World,
} from '../world.ts';
import { reading, withSettings } from './settings.ts';

const BUY = 132_500_000n;
const BOUGHT = buyTokens(DEFAULT_CURVE, 0n, BUY);
/** Dearer than the least fee of 1 ADA: 0.5 ADA + 1 % of the buy. */
const BUY_FEE = 1_825_000n;

/** A token that anyone may mint: no validator but the launch policy has a say in its launch. */
const NATIVE = scriptFromNative({ type: 'sig', keyHash: CREATOR.pkh });
const NATIVE_ID = mintingPolicyToId(NATIVE);

interface Case {
  readonly seed?: string;
  readonly ids?: Ids;
  readonly buy?: bigint;
  readonly bought?: bigint;
  readonly fee?: bigint;
  readonly feeTo?: string;
  readonly datum?: (datum: Constr<Data>) => Constr<Data>;
  readonly address?: string;
  readonly assets?: (assets: Assets) => Assets;
  readonly mints?: readonly Mint[];
  readonly signers?: readonly Key[];
}

function minted(world: World, { id, nft, token }: Ids): readonly Mint[] {
  return [
    { policy: world.launchPolicy, assets: { [nft]: 1n }, redeemer: redeemers.launch(id, 0, token) },
    {
      policy: world.tokenPolicy(nft.slice(56)),
      assets: { [token]: SUPPLY },
      redeemer: redeemers.mint(TOKEN_NAME),
    },
  ];
}

function launch(world: World, one: Case = {}): Plan {
  const { seed = '10', buy = 0n, bought = 0n, fee = ADA, feeTo = PLATFORM.address } = one;
  const { ids = launched(world, '10'), signers = [CREATOR], mints = minted(world, ids) } = one;
  const value = { lovelace: KEEP + buy, [ids.nft]: 1n, [ids.token]: SUPPLY - bought };
  const datum = curveDatum(world, ids);
  const pool = {
    address: one.address ?? world.address('curvePool', PLATFORM),
    assets: one.assets?.(value) ?? value,
    datum: one.datum?.(datum) ?? datum,
  };
  return {
    inputs: [{ utxo: utxo(seed, 0, signers[0]?.address ?? '', { lovelace: 10n * ADA }) }],
    outputs: [pool, { address: feeTo, assets: { lovelace: fee } }],
    mints,
    signers,
  };
}

/** NFT and token of another launch id. */
function idsOf(world: World, id: Constr<Data>): Ids {
  const nft = world.policyId + nftName(id);
  const token = mintingPolicyToId(world.tokenPolicy(nftName(id))) + TOKEN_NAME;
  return { id, nft, token };
}

/** A launch of a native token, with these assets under the launch policy and the native one. */
function native(
  world: World,
  nfts: (ids: Ids) => Assets,
  tokens: Assets,
  one: Case & { readonly redeemer?: Data } = {},
): Plan {
  const ids = { ...launched(world, '10'), token: NATIVE_ID + TOKEN_NAME };
  const { redeemer = redeemers.launch(ids.id, 0, ids.token) } = one;
  const mints = [
    { policy: world.launchPolicy, assets: nfts(ids), redeemer },
    { policy: NATIVE, assets: tokens },
  ];
  return launch(world, { ids, mints, ...one });
}
const one = ({ nft }: Ids): Assets => ({ [nft]: 1n });
const all = { [NATIVE_ID + TOKEN_NAME]: SUPPLY };

const FOREIGN = `${'cd'.repeat(28)}61`;
const withoutNft = (world: World): Case => ({
  assets: ({ [launched(world, '10').nft]: _, ...rest }) => rest,
});

const bought: Case = { buy: BUY, bought: BOUGHT, fee: BUY_FEE };

legal('launch: without an initial buy', (world) => launch(world));
legal('launch: with an initial buy', (world) => launch(world, bought));
legal('launch: a fee is rounded down', (world) => launch(world, { ...bought, buy: BUY + 99n }));
legal('launch: by a creator without stake part', (world) =>
  launch(world, { ids: idsOf(world, changed(launched(world, '10').id, 2, '')) }),
);
legal('launch: up to the last lovelace below the cap', (world) =>
  launch(world, { buy: CAP - KEEP - 1n, bought: 700_000_000n, fee: 200n * ADA }),
);
legal('launch: of a foreign token, which counts nowhere', (world) => native(world, one, all));

reading('launch', (world) => launch(world));
const moved = { datum: settingsDatum(EXECUTOR, ALICE.address) };
legal('launch: its fee to the new address, after a rotation', (world) =>
  withSettings(world, launch(world, { feeTo: ALICE.address }), moved),
);
attack('launch: its fee to the old address, after a rotation', 'launch fee unpaid', (world) =>
  withSettings(world, launch(world), moved),
);
attack('launch: for the old executor, after a rotation', 'wrong pool datum', (world) =>
  withSettings(world, launch(world), { datum: settingsDatum(ALICE) }),
);

attack('launch: the seed not spent, as when minting again', 'seed not spent', (world) =>
  launch(world, { seed: '11' }),
);
attack('launch: not signed by its creator', 'creator signature missing', (world) =>
  launch(world, { signers: [ALICE] }),
);
attack('launch: a launch id with one more field', 'launch id has extra fields', (world) =>
  launch(world, { ids: idsOf(world, longer(launched(world, '10').id)) }),
);
attack('launch: a stake part that is no hash', 'creator stake is no hash', (world) =>
  launch(world, { ids: idsOf(world, changed(launched(world, '10').id, 2, '0102')) }),
);
attack('launch: an unknown redeemer', 'no such redeemer', (world) =>
  native(world, one, all, { redeemer: NEVER_AGAIN }),
);
attack('launch: Never', 'no such redeemer', (world) =>
  native(world, one, all, { redeemer: new Constr<Data>(1, []) }),
);
attack('launch: two NFTs', 'wrong mint', (world) =>
  native(world, ({ nft }) => ({ [nft]: 2n }), all),
);
attack('launch: an NFT by another name', 'wrong mint', (world) =>
  native(world, () => ({ [world.policyId + 'ab'.repeat(32)]: 1n }), all, withoutNft(world)),
);
attack('launch: a second NFT by another name', 'wrong mint', (world) =>
  native(world, ({ nft }) => ({ [nft]: 1n, [world.policyId + 'ab'.repeat(32)]: 1n }), all),
);
attack('launch: one token more than the supply', 'wrong mint', (world) =>
  native(world, one, { [NATIVE_ID + TOKEN_NAME]: SUPPLY + 1n }),
);
attack('launch: another token minted beside', 'wrong mint', (world) =>
  native(world, one, { ...all, [`${NATIVE_ID}61`]: 1n }),
);
attack('launch: NFTs in the name of the supply', 'token under the launch policy', (world) => {
  const ids = { ...launched(world, '10'), token: world.policyId + 'ab'.repeat(32) };
  const [mint] = minted(world, ids);
  const assets = { [ids.nft]: 1n, [ids.token]: SUPPLY };
  return launch(world, { ids, mints: mint ? [{ ...mint, assets }] : [] });
});
attack('launch: a foreign stake part on the pool', 'wrong pool address', (world) =>
  launch(world, { address: world.address('curvePool', CREATOR) }),
);
attack('launch: no stake part on the pool', 'wrong pool address', (world) =>
  launch(world, { address: world.address('curvePool') }),
);
attack('launch: a pool at a person', 'wrong pool address', (world) =>
  launch(world, { address: CREATOR.address }),
);
for (const field of [3, 4, 6]) {
  attack(`launch: field ${field} of the datum changed`, 'wrong pool datum', (world) =>
    launch(world, { datum: (datum) => changed(datum, field, 1n) }),
  );
}
for (const field of [5, 7, 8]) {
  attack(`launch: field ${field} of the datum changed`, 'wrong pool datum', (world) =>
    launch(world, { datum: (datum) => changed(datum, field, ALICE.pkh) }),
  );
}
for (const field of [0, 1, 2]) {
  attack(`launch: field ${field} of the datum changed`, 'wrong pool datum', (world) =>
    launch(world, { datum: (datum) => changed(datum, field, new Constr(0, ['', '61'])) }),
  );
}
attack('launch: a field added to the datum', 'wrong pool datum', (world) =>
  launch(world, { datum: longer }),
);
attack('launch: the NFT kept', 'wrong pool value', (world) => launch(world, withoutNft(world)));
attack('launch: a foreign token in the pool', 'wrong pool value', (world) => {
  const plan = launch(world, { assets: (assets) => ({ ...assets, [FOREIGN]: 1n }) });
  const held = utxo('10', 0, CREATOR.address, { lovelace: 10n * ADA, [FOREIGN]: 1n });
  return { ...plan, inputs: [{ utxo: held }] };
});
attack('launch: a script on the pool', 'reference script on the pool', (world) => {
  const plan = launch(world, bought);
  const [pool, ...others] = plan.outputs;
  const scriptRef = NATIVE;
  return { ...plan, outputs: pool ? [{ ...pool, scriptRef }, ...others] : [] };
});
attack('launch: a pool one lovelace short of 3 ADA', 'pool lacks its 3 ADA', (world) =>
  launch(world, { buy: -1n }),
);
attack('launch: an initial buy up to the cap', 'initial buy reaches the cap', (world) =>
  launch(world, { buy: CAP - KEEP, bought: 700_000_000n, fee: 200n * ADA }),
);
attack('launch: one token more than the buy pays', 'initial buy below the curve', (world) =>
  launch(world, { ...bought, bought: BOUGHT + 1n }),
);
attack('launch: one token for nothing', 'initial buy below the curve', (world) =>
  launch(world, { bought: 1n }),
);
attack('launch: a fee one lovelace below 1 ADA', 'launch fee unpaid', (world) =>
  launch(world, { fee: ADA - 1n }),
);
attack('launch: a fee one lovelace below its share', 'launch fee unpaid', (world) =>
  launch(world, { ...bought, fee: BUY_FEE - 1n }),
);
attack('launch: a fee without the stake part of its address', 'launch fee unpaid', (world) =>
  launch(world, { feeTo: PLATFORM.enterprise }),
);
