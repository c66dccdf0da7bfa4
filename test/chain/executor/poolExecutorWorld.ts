/** Executors of our own over a running market, whose own one is stopped. */
import assert from 'node:assert/strict';
import { Key } from '../../../src/cardano/keys/keys.ts';
import type { Submitter, UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { Builder } from '../../../src/cardano/transactions/port.ts';
import { Executor } from '../../../src/chain/executor/executor.ts';
import { FundingUtxos } from '../../../src/chain/executor/fundingUtxos.ts';
import { PoolBackoff } from '../../../src/chain/executor/poolBackoff.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import type { StateStore } from '../../../src/engine/store/state.ts';
import { readSecrets } from '../../../src/server/settings/secrets.ts';
import type { DevnetWorld } from '../../e2e/devnet/world.ts';
import type { Scope } from '../../support/server.ts';

export interface Heard {
  readonly submitted: string[];
  /** Kinds of submitted transactions: batch, graduate or collect. */
  readonly kinds: string[];
  readonly rejected: { readonly kind: string; readonly reason: string }[];
  readonly failed: unknown[];
  readonly stuck: string[];
  /** Why it may not trade, as it changed. */
  readonly mayNotTrade: (string | null)[];
}

interface TestExecutor {
  readonly backoff: PoolBackoff;
  readonly executor: Executor;
  readonly heard: Heard;
}

export async function stopOwn(world: DevnetWorld): Promise<void> {
  const own = world.kit.services.find(({ name }) => name === 'executor');
  assert(own !== undefined);
  await own.stop();
}

interface ExecutorChange {
  readonly submitter?: Submitter;
  /** Where it looks for funding: another order makes another transaction. */
  readonly fundingLookup?: UtxoLookup;
  readonly builder?: Builder;
  /** Reads the rows instead of the market's own store. */
  readonly store?: () => StateStore;
  /** Clock for the pauses of pools that were refused. */
  readonly pacer?: Pick<Clock, 'monotonicMs'>;
}

/** As `lookup`, last output first. */
export function backwards(lookup: UtxoLookup): UtxoLookup {
  return {
    byPaymentKey: async (...asked) => [...(await lookup.byPaymentKey(...asked))].reverse(),
    byAsset: (...asked) => lookup.byAsset(...asked),
    newestOf: (ref, asset) => lookup.newestOf(ref, asset),
    byRefs: (refs) => lookup.byRefs(refs),
  };
}

export function executorOver(
  scope: Scope,
  world: DevnetWorld,
  change: ExecutorChange = {},
): TestExecutor {
  const { txContext } = world.kit;
  const { deployment, slots, utxos, clock, store } = txContext;
  const {
    submitter = world.chain,
    fundingLookup = world.chain,
    builder = txContext.builder,
  } = change;
  const secrets = readSecrets(world.directory, seededRng(1));
  const heard: Heard = {
    submitted: [],
    kinds: [],
    rejected: [],
    failed: [],
    stuck: [],
    mayNotTrade: [],
  };
  const backoff = new PoolBackoff(change.pacer ?? systemClock);
  const executor = new Executor(
    {
      ...{ deployment, slots, utxos, builder, clock, submitter, backoff },
      store: change.store ?? (() => store()),
      funding: new FundingUtxos(fundingLookup),
      keys: [secrets.executor, secrets.fee, secrets.collateral].map((key) => new Key(key.reveal())),
      onApplied: (listener) => world.app.app.node.onApplied(listener),
    },
    {
      executorSubmitted: (kind, _token, txHash) => {
        heard.kinds.push(kind);
        heard.submitted.push(txHash);
      },
      executorRejected: (kind, _token, reason) => void heard.rejected.push({ kind, reason }),
      poolStuck: (token) => void heard.stuck.push(token),
      executorMayNotTrade: (why) => void heard.mayNotTrade.push(why),
      executorFailed: (_token, error) => void heard.failed.push(error),
    },
  );
  scope.after(() => executor.stop());
  executor.start();
  return { executor, heard, backoff };
}
