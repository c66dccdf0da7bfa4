/** The store of logos: an IPFS node, or a folder that several nodes share over NATS. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ImageFolder } from '../../api/images/folder.ts';
import { KuboImages } from '../../api/images/kubo.ts';
import type { ImageStore } from '../../api/images/port.ts';
import { SharedImages } from '../../api/images/shared.ts';
import type { Node } from '../../engine/node/node.ts';
import { MAX_POOLS, type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { AppDeps } from './appDeps.ts';
import type { Cluster } from './cluster.ts';

const KUBO_TIMEOUT_MS = 10_000;

export function imagesOf(
  { settings, clock, rng }: AppDeps,
  node: Node,
  cluster: Cluster | null,
): ImageStore {
  if (settings.KUBO_URL !== undefined) {
    return new KuboImages({ url: settings.KUBO_URL, clock, timeoutMs: KUBO_TIMEOUT_MS });
  }
  const folder = join(settings.DATA_DIR, 'images');
  mkdirSync(folder, { recursive: true });
  const own = new ImageFolder(folder, { isClaimed: claimedLogos(node) });
  return cluster === null ? own : new SharedImages(own, cluster.images, folder, rng);
}

/** Whether a launch names the logo; cached by position. */
function claimedLogos(node: Node): (cid: string) => boolean {
  let checkpoint: unknown;
  let logos: ReadonlySet<string> = new Set();
  return (cid) => {
    const { store } = node.fold;
    if (store.checkpoint !== checkpoint) {
      const pools = store.withPrefix('pools', '', MAX_POOLS);
      logos = new Set(pools.map(({ value }) => readRecord<PoolRecord>(value).logoCID));
      checkpoint = store.checkpoint;
    }
    return logos.has(cid);
  };
}
