import { blake2b224 } from '../codec/hash.ts';
import { fromHex } from '../codec/hex.ts';
import { compareRefs, type OutputRef } from '../codec/output.ts';

/**
 * The name of an order before and after it is on the chain: a hash over the smallest input of its
 * transaction and its own output index, 28 bytes as hex. Source: onchain.md, section Outputs.
 */
export function beacon(inputs: readonly OutputRef[], outputIndex: number): string {
  const [first] = [...inputs].sort(compareRefs);
  if (first === undefined) throw new Error('a transaction has an input');
  const message = Buffer.alloc(48);
  message.set(fromHex(first.txHash), 0);
  message.writeBigUInt64BE(BigInt(first.index), 32);
  message.writeBigUInt64BE(BigInt(outputIndex), 40);
  return blake2b224(message);
}
