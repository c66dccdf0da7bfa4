/** What the ledgers of all nodes say when the market has ended: one chain, sound books. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Deployment } from '../../../src/cardano/datums/deployment.ts';
import { LedgerFile } from '../../../src/devnet/ledgerFile.ts';
import { audit } from '../../e2e/devnet/audit.ts';
import type { Nodes } from './nodes.ts';
import type { Accepted } from './people.ts';

export interface Chains {
  readonly height: number;
  readonly transactions: number;
  readonly inBlock: number;
  readonly displaced: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** All nodes have stopped. */
export function assertChains(nodes: Nodes, accepted: readonly Accepted[]): Chains {
  const paths = nodes.all.map(({ directory }) => join(directory, 'ledger.sqlite'));
  const files = paths.map((path) => new LedgerFile(path));
  const heights = files.map((file) => file.tip()?.height ?? 0);
  const height = Math.min(...heights);
  const [first] = files;
  assert(first !== undefined && height > 0);
  for (const file of files) {
    for (let at = 1; at <= height; at += 1) {
      assert.equal(file.head(at)?.hash, first.head(at)?.hash, `all have the same block ${at}`);
    }
  }
  const longest = heights.indexOf(Math.max(...heights));
  const chain = files[longest] ?? assert.fail();
  const fates = accepted.map((one) => ({ one, fate: fateOf(chain, one) }));
  const lost = fates.filter(({ fate }) => fate === 'lost').map(({ one }) => one);
  assert.deepEqual(lost, [], 'what was accepted is in a block, or its inputs are spent');
  const deployment = deploymentOf(chain);
  for (const file of files) file.close();
  const { counts, transactions } = audit(paths[longest] ?? '', deployment);
  const inBlock = fates.filter(({ fate }) => fate === 'in a block').length;
  return { height, transactions, inBlock, displaced: fates.length - inBlock, counts };
}

function fateOf(chain: LedgerFile, { txHash, inputs }: Accepted) {
  if (chain.isInBlock(txHash)) return 'in a block';
  const outputs = inputs.map((ref) => chain.output(ref));
  return outputs.some((output) => output === null || output.isSpent) ? 'displaced' : 'lost';
}

function deploymentOf(file: LedgerFile): Deployment {
  const readBigint = (_: string, value: unknown) => {
    return typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value;
  };
  // trust: written by the ledger, read here to compare
  const kept = JSON.parse(file.genesis() ?? '', readBigint) as { deployment: Deployment };
  return kept.deployment;
}
