/** The token policy alone, where the launch policy does not speak first. */
import { Constr, type Data } from '@lucid-evolution/lucid';
import { attack } from '../cases.ts';
import type { Plan } from '../judge.ts';
import { launched, NEVER_AGAIN, redeemers, TOKEN_NAME } from '../layouts.ts';
import { ADA, CREATOR, SUPPLY, utxo, type World } from '../world.ts';

/** Mints under the token policy of a launch, in a transaction without that launch. */
function mint(world: World, minted: Readonly<Record<string, bigint>>, redeemer: Data): Plan {
  const { nft, token } = launched(world, '10');
  const assets = Object.fromEntries(
    Object.entries(minted).map(([name, amount]) => [token.slice(0, 56) + name, amount]),
  );
  const policy = world.tokenPolicy(nft.slice(56));
  const held = { lovelace: 10n * ADA, [token]: 5n };
  return {
    inputs: [{ utxo: utxo('10', 0, CREATOR.address, held) }],
    outputs: [],
    mints: [{ policy, assets, redeemer }],
    signers: [CREATOR],
  };
}

const named = redeemers.mint(TOKEN_NAME);

attack('token: the supply without its launch', 'launch NFT not minted', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY }, named),
);
attack('token: one token more', 'wrong supply', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY + 1n }, named),
);
attack('token: one token less', 'wrong supply', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY - 1n }, named),
);
attack('token: a burn', 'wrong supply', (world) => mint(world, { [TOKEN_NAME]: -1n }, named));
attack('token: a second asset name', 'more than one asset name', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY, '61': 1n }, named),
);
attack('token: another asset name', 'another asset name', (world) =>
  mint(world, { '61': SUPPLY }, named),
);
attack('token: an unknown redeemer', 'no such redeemer', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY }, NEVER_AGAIN),
);
attack('token: Never', 'no such redeemer', (world) =>
  mint(world, { [TOKEN_NAME]: SUPPLY }, new Constr<Data>(1, [])),
);
