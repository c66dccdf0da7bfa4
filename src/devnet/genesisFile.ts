/**
 * `--genesis FILE`: the outputs that a devnet begins with, as JSON. The devnet does not know
 * markets: this list contains a market's scripts and funds.
 *
 *     {"outputs": [{"address": "addr_test1…", "lovelace": "5000000",
 *                   "assets": {"<policy>.<name>": "1"},
 *                   "datum": "<CBOR>", "script": "<Plutus V2>"}]}
 */
import Type from 'typebox';
import { Value } from 'typebox/value';
import { parseAddress } from '../cardano/codec/address.ts';
import type { NewOutput } from '../cardano/codec/encode.ts';
import { asValue } from '../cardano/codec/value.ts';

const Amount = Type.String({ pattern: '^[1-9][0-9]{0,18}$' });
const Hex = Type.String({ pattern: '^([0-9a-f]{2})+$', maxLength: 40_000 });
const Genesis = Type.Object({
  outputs: Type.Array(
    Type.Object({
      address: Type.String(),
      lovelace: Amount,
      assets: Type.Optional(
        Type.Record(Type.String({ pattern: '^[0-9a-f]{56}\\.([0-9a-f]{2}){0,32}$' }), Amount),
      ),
      datum: Type.Optional(Hex),
      script: Type.Optional(Hex),
    }),
    { maxItems: 10_000 },
  ),
});

/** Throws an Error that says where the text is not of the form above. */
export function readGenesis(text: string): NewOutput[] {
  const value: unknown = JSON.parse(text);
  if (!Value.Check(Genesis, value)) {
    const [error] = Value.Errors(Genesis, value);
    throw new Error(`genesis${error?.instancePath ?? ''}: ${error?.message ?? 'not readable'}`);
  }
  return value.outputs.map(({ address, lovelace, assets = {}, datum, script }, at) => {
    if (parseAddress(address)?.network !== 'testnet') {
      throw new Error(`genesis/outputs/${at}/address: not a testnet address (addr_test1…)`);
    }
    const entries = Object.entries(assets).map(([id, amount]) => [id, BigInt(amount)] as const);
    return {
      address,
      value: asValue(BigInt(lovelace), entries),
      ...(datum === undefined ? {} : { datum }),
      ...(script === undefined ? {} : { script }),
    };
  });
}
