/**
 * A ledger that has no knowledge of the market, behind a fake Ogmios and a fake Kupo, and nodes
 * that follow it as a real network: the tests choose the traders and their nodes.
 */

import type { TestContext } from 'node:test';
import type { NetworkDeployment } from '../../src/cardano/datums/deployment.ts';
import { ApiError, Client } from '../../src/client/index.ts';
import { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { KeyWallet } from '../../src/client/trade/wallet.ts';
import { type KeySecrets, NO_SECRETS } from '../../src/server/settings/keyFiles.ts';
import { Secret } from '../../src/server/settings/secrets.ts';
import { outcomeOf } from '../support/apiError.ts';
import { startTestApp } from '../support/app.ts';
import { FakeKupo } from '../support/kupo/fake.ts';
import { secretOf, startChain } from '../support/ledgerWorld.ts';
import { Bridge } from '../support/ogmios/bridge.ts';
import { type Environment, type Scope, temporaryDirectory } from '../support/server.ts';
import type { TestChain } from '../support/testChain.ts';
import { untilAsked } from '../support/until.ts';
import { Real } from './realChainWorld.ts';

/** Keys of the deployment in the ledger's genesis. */
export const KEYS: KeySecrets = {
  executor: new Secret(secretOf('executor')),
  fee: new Secret(secretOf('fee')),
  collateral: new Secret(secretOf('collateral')),
};

export interface NodeOptions {
  readonly secrets?: KeySecrets;
  /** Replaces the full deployment of the ledger, on preprod. */
  readonly some?: Partial<NetworkDeployment>;
  readonly withKupo?: boolean;
  readonly env?: Environment;
}

/** A node that follows, and Alice's trader there. */
export interface Followed {
  readonly real: Real;
  readonly trader: TradingClient;
}

/** A node that does not share its Ogmios and Kupo. */
export interface SeparateNode extends Followed {
  readonly bridge: Bridge;
  readonly kupo: FakeKupo;
}

export class RealLedger {
  readonly ledger: TestChain;
  readonly bridge: Bridge;
  readonly #kupo: FakeKupo;
  readonly #scope: Scope;
  readonly #nodes: Real[] = [];

  private constructor(scope: Scope, ledger: TestChain, bridge: Bridge, kupo: FakeKupo) {
    this.#scope = scope;
    this.ledger = ledger;
    this.bridge = bridge;
    this.#kupo = kupo;
  }

  /** Slots of a second from now on, blocks when the test wants them. */
  static async open(test: TestContext): Promise<RealLedger> {
    // Users of the ledger end before it does.
    const ends: (() => void | Promise<void>)[] = [];
    const t: Scope = { after: (end) => void ends.unshift(end) };
    test.after(async () => {
      for (const end of ends) await end();
    });
    const ledger = await startChain(t, { genesisTimeMs: Date.now() });
    await ledger.mine(1);
    const { bridge, kupo } = await around(t, ledger);
    return new RealLedger(t, ledger, bridge, kupo);
  }

  follow(options: NodeOptions = {}): Promise<Followed> {
    return this.#begin(options, this.bridge, this.#kupo);
  }

  async separateNode(options: NodeOptions = {}): Promise<SeparateNode> {
    const { bridge, kupo } = await around(this.#scope, this.ledger);
    return { ...(await this.#begin(options, bridge, kupo)), bridge, kupo };
  }

  async #begin(options: NodeOptions, bridge: Bridge, kupo: FakeKupo): Promise<Followed> {
    const { secrets = NO_SECRETS, some = {}, withKupo = true } = options;
    const complete = { ...this.ledger.deployment, network: 'preprod' } as const;
    const known = { network: 'preprod', start: null, missing: [], mismatch: null } as const;
    const deployment: NetworkDeployment = { ...known, partial: complete, complete, ...some };
    const directory = temporaryDirectory();
    const env: Environment = {
      NETWORK: deployment.network,
      OGMIOS_URL: bridge.url,
      FINAL_GRACE_MS: '3600000',
      ...(withKupo ? { KUPO_URL: kupo.url } : {}),
      ...options.env,
    };
    const app = await startTestApp(this.#scope, { directory, env, deployment, secrets });
    const real = new Real(app, directory);
    this.#nodes.push(real);
    const client = { url: app.url, timeoutMs: 30_000, maxAttempts: 4 };
    const wallet = new KeyWallet({ payment: secretOf('alice'), stake: null }, 'testnet');
    const trader = new TradingClient(new Client(client), wallet);
    await this.mine();
    return { real, trader };
  }

  /** Blocks, shown by every node that runs. */
  async mine(blocks = 1): Promise<void> {
    await this.ledger.mine(blocks);
    await this.bridge.settled();
    const hash = (await this.ledger.tip()).tip?.hash ?? null;
    const running = this.#nodes.filter(({ app }) => !app.stopped);
    await Promise.all(running.map((real) => real.shows(hash)));
  }

  async untilSpent(ref: string): Promise<void> {
    const [txHash = '', index] = ref.split(':');
    await untilAsked(
      `${ref} is spent`,
      async () => (await this.ledger.byRefs([{ txHash, index: Number(index) }]))[0]?.state,
      (state) => state === 'spent',
    );
  }
}

/** Ogmios and Kupo beside a node of the network. */
async function around(t: Scope, ledger: TestChain) {
  const kupo = await FakeKupo.begin(t, { source: ledger, genesis: ledger.genesis });
  const bridge = new Bridge(ledger);
  await bridge.start();
  t.after(() => bridge.stop());
  return { bridge, kupo };
}

/** The first blocks may find the builder without parameters. */
export async function built<T>(what: string, ask: () => Promise<T>): Promise<T> {
  const outcome = await answered(what, ask);
  if (outcome instanceof ApiError) throw outcome;
  return outcome;
}

export function answered<T>(what: string, ask: () => Promise<T>): Promise<T | ApiError> {
  const isReady = (found: T | ApiError) =>
    !(found instanceof ApiError && found.cause === 'NOT_READY');
  return untilAsked(what, () => outcomeOf(ask()), isReady);
}
