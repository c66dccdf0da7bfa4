/** Nodes of one market on an external network, each with an Ogmios. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JetstreamLog } from '../../src/cluster/log/jetstream.ts';
import { deploymentText } from '../../src/server/settings/deployments.ts';
import { type Real, RealWorld, readyOf } from '../e2e/realChainWorld.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { Bridge } from '../support/ogmios/bridge.ts';
import {
  type Environment,
  type Scope,
  type Server,
  startServer,
  temporaryDirectory,
} from '../support/server.ts';
import { untilAsked } from '../support/until.ts';

export const LIMIT_MS = 60_000;
const LEASE_MS = '1000';

/** A node that does not share its Ogmios. */
interface RealNode {
  readonly url: string;
  readonly bridge: Bridge;
  stop(): Promise<void>;
}

/** The report of a node. */
export interface Said {
  readonly url: string;
  readonly role: string;
  readonly term: number;
  readonly stateHash: string;
  readonly position: string;
  readonly epoch: string;
  readonly hash: string | null;
  readonly isWell: boolean;
  readonly isStale: boolean;
}

export class RealMarket {
  readonly world: RealWorld;
  readonly nats: NatsServer;
  readonly #scope: Scope;

  private constructor(scope: Scope, world: RealWorld, nats: NatsServer) {
    this.#scope = scope;
    this.world = world;
    this.nats = nats;
  }

  static async start(test: Scope): Promise<RealMarket> {
    // Users of NATS and of the network end before these two do.
    const ends: (() => unknown)[] = [];
    const scope: Scope = { after: (end) => void ends.unshift(end) };
    test.after(async () => {
      for (const end of ends) await end();
    });
    const nats = await NatsServer.start(scope);
    return new RealMarket(scope, await RealWorld.start(scope), nats);
  }

  environment(name: string): Environment {
    const OGMIOS_URL = this.world.bridge.url;
    return { NATS_URL: this.nats.url, NODE_NAME: name, LEASE_MS, OGMIOS_URL };
  }

  async log(): Promise<JetstreamLog> {
    return openLog(this.#scope, await this.nats.connect(this.#scope), 'upcurve');
  }

  /** In this process. */
  node(name: string, some: Environment = {}, directory = temporaryDirectory()): Promise<Real> {
    return this.world.follow({ directory, env: { ...this.environment(name), ...some } });
  }

  /** A node in this process that does not share its Ogmios. */
  async nodeWithOgmios(name: string, some: Environment = {}, node = 'there'): Promise<RealNode> {
    const bridge = new Bridge(this.world.network.chain);
    await bridge.start();
    if (node === 'refusing') bridge.ogmios.faults.refuse();
    this.#scope.after(() => bridge.stop());
    const { app } = await this.node(name, { OGMIOS_URL: bridge.url, ...some });
    return { url: app.url, bridge, stop: () => app.stop() };
  }

  /** Starts the node as a separate process. */
  process(name: string, directory = temporaryDirectory()): Promise<Server> {
    const file = join(directory, 'deployment.json');
    const { complete } = this.world.deployment;
    writeFileSync(file, deploymentText(complete ?? assert.fail(), null));
    return startServer(this.#scope, [], {
      ...this.environment(name),
      NETWORK: 'preprod',
      DEPLOYMENT_FILE: file,
      FINAL_GRACE_MS: '3600000',
      DATA_DIR: join(directory, 'data'),
    });
  }

  /** Its Cardano node loses its newest blocks; the returned function restores them. */
  async behind({ bridge }: RealNode, blocks: number): Promise<() => void> {
    await bridge.settled();
    const { chain } = bridge.ogmios;
    const missing = chain.blocks.slice(-blocks);
    chain.fork(blocks);
    return () => chain.extend(...missing);
  }

  /** Waits until all show the newest block at one position with one state; answers the leader. */
  async same(...urls: readonly string[]): Promise<readonly Said[]> {
    const { network } = this.world;
    return untilAsked(
      'all show the same, and one leads',
      () => Promise.all(urls.map(said)),
      (all) =>
        all.every(({ isWell, hash }) => isWell && hash === network.tip?.hash) &&
        new Set(all.map(({ position, stateHash }) => `${position} ${stateHash}`)).size === 1 &&
        all.filter(({ role }) => role === 'leader').length === 1,
      LIMIT_MS,
    );
  }
}

export async function said(url: string): Promise<Said> {
  const { status, body } = await readyOf(url);
  const { role, term, stateHash, position, tip, stale, synced } = body;
  const isWell = status === 200 && synced && !stale;
  const [epoch = ''] = position.split(':');
  return { url, role, term, stateHash, position, epoch, hash: tip.hash, isWell, isStale: stale };
}

export function urlsOf(...nodes: readonly { readonly url: string }[]): string[] {
  return nodes.map(({ url }) => url);
}

export function leaderOf<T extends { readonly url: string }>(
  nodes: readonly T[],
  all: readonly Said[],
): T {
  const url = all.find(({ role }) => role === 'leader')?.url;
  return nodes.find((node) => node.url === url) ?? assert.fail('one leads');
}
