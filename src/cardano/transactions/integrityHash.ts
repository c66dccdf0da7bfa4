/** The hash in a body over what its scripts are run with. Source: Conway CDDL, script_data_hash. */
import { array, byteString, integer, map, uint } from '../codec/encode.ts';
import { blake2b256 } from '../codec/hash.ts';
import { joined } from '../codec/hex.ts';

const EMPTY_MAP = map([]);
const INDEFINITE_ARRAY = Uint8Array.of(0x9f);
const BREAK = Uint8Array.of(0xff);

interface RunWith {
  /** As they stand in the witness set; null: there are none. */
  readonly redeemers: Uint8Array | null;
  readonly datums: Uint8Array | null;
  /** Versions of Plutus of the scripts that run: 1 to 3. */
  readonly languages: readonly number[];
}

/** `costModels`: of Plutus V1, V2 and V3. null: nothing is run. */
export function integrityHash(
  { redeemers, datums, languages }: RunWith,
  costModels: readonly (readonly (number | bigint)[])[],
): string | null {
  if (redeemers === null && datums === null && languages.length === 0) return null;
  const models = (version: number) => (costModels[version - 1] ?? []).map(integer);
  // The key of V1 is longer, so it comes last.
  const views = [2, 3, 1]
    .filter((version) => languages.includes(version))
    .map((version): readonly [Uint8Array, Uint8Array] =>
      version === 1
        ? [
            byteString(Uint8Array.of(0)),
            byteString(joined([INDEFINITE_ARRAY, ...models(version), BREAK])),
          ]
        : [uint(version - 1), array(models(version))],
    );
  return blake2b256(
    joined([redeemers ?? EMPTY_MAP, ...(datums === null ? [] : [datums]), map(views)]),
  );
}
