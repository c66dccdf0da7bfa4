/** What the chain says when the market has ended: all that was accepted, sound books. */
import assert from 'node:assert/strict';
import { LedgerFile } from '../../../src/devnet/ledgerFile.ts';
import { audit } from '../../e2e/devnet/audit.ts';
import type { Nodes } from './nodes.ts';
import type { Accepted } from './testUsers.ts';

export interface Chains {
  readonly height: number;
  readonly transactions: number;
  readonly inBlock: number;
  readonly displaced: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** All nodes have stopped; so does the devnet here. */
export async function assertChains(
  { network: { devnet, chainFile, deployment } }: Nodes,
  accepted: readonly Accepted[],
): Promise<Chains> {
  await devnet.stop();
  const file = new LedgerFile(chainFile);
  const height = file.tip()?.height ?? 0;
  assert(height > 0);
  const fates = accepted.map((one) => ({ one, fate: fateOf(file, one) }));
  file.close();
  const lost = fates.filter(({ fate }) => fate === 'lost').map(({ one }) => one);
  assert.deepEqual(lost, [], 'what was accepted is in a block, or its inputs are spent');
  const { counts, transactions } = audit(chainFile, deployment);
  const inBlock = fates.filter(({ fate }) => fate === 'in a block').length;
  return { height, transactions, inBlock, displaced: fates.length - inBlock, counts };
}

function fateOf(chain: LedgerFile, { txHash, inputs }: Accepted) {
  if (chain.isInBlock(txHash)) return 'in a block';
  const outputs = inputs.map((ref) => chain.output(ref));
  return outputs.some((output) => output === null || output.isSpent) ? 'displaced' : 'lost';
}
