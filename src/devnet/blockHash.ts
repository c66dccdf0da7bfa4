/** A block's hash: of the block before it, of where it stands and of the transactions it holds. */
import { blake2b256 } from '../cardano/codec/hash.ts';

export function blockHash(
  parent: { readonly hash: string } | null,
  { height, slot }: { readonly height: number; readonly slot: number },
  transactions: readonly { readonly id: string }[],
): string {
  const ids = transactions.map(({ id }) => id).join('');
  return blake2b256(Buffer.from(`${parent?.hash ?? ''} ${height} ${slot} ${ids}`));
}
