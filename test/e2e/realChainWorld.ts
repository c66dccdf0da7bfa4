/**
 * A market on a separate network behind a fake Ogmios: the devnet app makes the chain, executes
 * orders and builds for its users; other apps follow that chain as a real one.
 */
import assert from 'node:assert/strict';
import type { Deployment, NetworkDeployment } from '../../src/cardano/datums/deployment.ts';
import type { ChainFeatures } from '../../src/server/wiring/chain.ts';
import type { Readiness } from '../api/readiness.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { Bridge } from '../support/ogmios/bridge.ts';
import { type Environment, type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { DevnetWorld } from './devnet/world.ts';

interface RealOptions {
  readonly directory?: string;
  readonly env?: Environment;
}

export class RealWorld {
  readonly network: DevnetWorld;
  readonly bridge: Bridge;
  readonly #scope: Scope;

  private constructor(scope: Scope, network: DevnetWorld, bridge: Bridge) {
    this.#scope = scope;
    this.network = network;
    this.bridge = bridge;
  }

  static async start(scope: Scope): Promise<RealWorld> {
    const network = await DevnetWorld.start(scope);
    const bridge = new Bridge(network.chain);
    await bridge.start();
    scope.after(() => bridge.stop());
    return new RealWorld(scope, network, bridge);
  }

  /** As it would be on preprod, with all scripts deployed. */
  get deployment(): NetworkDeployment {
    const complete: Deployment = { ...this.network.chain.deployment, network: 'preprod' };
    return {
      network: 'preprod',
      start: null,
      partial: complete,
      complete,
      missing: [],
      mismatch: null,
    };
  }

  /** An app that follows the network. */
  async follow({ directory = temporaryDirectory(), env = {} }: RealOptions = {}): Promise<Real> {
    const usual = { NETWORK: 'preprod', OGMIOS_URL: this.bridge.url, FINAL_GRACE_MS: '3600000' };
    const app = await startTestApp(this.#scope, {
      directory,
      env: { ...usual, ...env },
      deployment: this.deployment,
    });
    return new Real(app, directory);
  }
}

export class Real {
  readonly app: TestApp;
  readonly directory: string;

  constructor(app: TestApp, directory: string) {
    this.app = app;
    this.directory = directory;
  }

  get kit(): ChainFeatures {
    return this.app.app.chain ?? assert.fail('it has a chain');
  }

  ready(): ReturnType<typeof readyOf> {
    return readyOf(this.app.url);
  }

  /** Waits until it serves this block. */
  async shows(hash: string | null): Promise<void> {
    await untilAsked(
      `block ${hash} is served`,
      async () => (await this.ready()).body,
      ({ tip, synced }) => tip.hash === hash && synced,
      60_000,
    );
  }

  async get(path: string): Promise<{ status: number; headers: Headers; body: unknown }> {
    const answer = await fetch(this.app.url + path);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: JSON.parse(text) };
  }
}

export async function readyOf(
  url: string,
): Promise<{ readonly status: number; readonly body: Readiness }> {
  const answer = await fetch(`${url}/health/ready`);
  // trust: the server's own answer, of which a test reads a few fields
  return { status: answer.status, body: (await answer.json()) as Readiness };
}
