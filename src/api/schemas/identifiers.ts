/** Fields that several services take (protocol.md section 0). */
import Type, { type TUnsafe } from 'typebox';
import { ASSET_PATTERN } from '../../engine/market/asset.ts';

export const AssetIdShape = Type.String({
  pattern: ASSET_PATTERN,
  description: 'Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin.',
});
export const KeyHash = Type.String({
  pattern: '^[0-9a-fA-F]{56}$',
  description: 'Payment key hash, 56 hex digits.',
});
export const OutputId = Type.String({
  pattern: '^[0-9a-fA-F]{64}:(0|[1-9][0-9]{0,8})$',
  description: 'An output: `<transaction hash>:<index>`.',
});
export const TxHash = Type.String({ pattern: '^[0-9a-f]{64}$' });
export const Amount = Type.String({ pattern: '^[0-9]+$', description: 'Integer.' });
/** A bound of a filter, in ADA. */
export function AdaBound(description: string) {
  return Type.Optional(Type.String({ pattern: '^[0-9]{1,15}(\\.[0-9]{1,6})?$', description }));
}
export const AddressText = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'bech32; a base or enterprise key address of this network.',
});

/** One of these texts. The type is stated, since `Static` of a mapped union is `never`. */
export function OneOf<Text extends string>(
  texts: readonly Text[],
  options: { readonly description?: string } = {},
): TUnsafe<Text> {
  const literals = texts.map((text) => Type.Literal(text));
  return Type.Unsafe<Text>(Type.Union(literals, options));
}
