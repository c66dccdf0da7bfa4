/**
 * A block's JSON as Ogmios writes it. The devnet has no stake pools: what a header says of its
 * issuer is derived from the block's hash, so that it has the right shape and never changes.
 */
import { blake2b256 } from '../../cardano/codec/hash.ts';
import type { BlockHead } from '../ledgerFile.ts';
import { jsonText } from './json.ts';
import type { ServedTransaction } from './served.ts';

export function blockText(
  { height, slot, hash }: BlockHead,
  parent: BlockHead | null,
  transactions: readonly ServedTransaction[],
): string {
  const proof = { output: bytes(64, hash, 'output'), proof: bytes(80, hash, 'proof') };
  const head = {
    type: 'praos',
    era: 'conway',
    id: hash,
    ancestor: parent?.hash ?? 'genesis',
    height,
    size: { bytes: transactions.reduce((sum, each) => sum + each.bytes, 0) },
    slot,
    protocol: { version: { major: 10, minor: 0 } },
    issuer: {
      verificationKey: bytes(32, '', 'issuer'),
      vrfVerificationKey: bytes(32, '', 'vrf'),
      leaderValue: proof,
      operationalCertificate: {
        count: 0,
        sigma: bytes(64, '', 'sigma'),
        kes: { period: 0, verificationKey: bytes(32, '', 'kes') },
      },
    },
  };
  const list = transactions.map(({ text }) => text).join();
  return `${jsonText(head).slice(0, -1)},"transactions":[${list}]}`;
}

function bytes(count: number, hash: string, what: string): string {
  const seed = Buffer.from(`${hash} ${what}`);
  return blake2b256(seed)
    .repeat(Math.ceil(count / 32))
    .slice(0, 2 * count);
}
