import type { Logger } from 'pino';
import type { GatewayOptions } from '../../api/gateway/options.ts';
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { ChainAccess } from '../../chain/access.ts';
import type { TraderConfig } from '../../client/traders/config.ts';
import type { DialNats } from '../../cluster/nats/connection.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Settings } from '../settings/table.ts';

/** Everything that the app receives from outside; tests start it with another world. */
export interface World {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly version: string;
  /** Aborts a long start (a rebuild) with `interrupted`. */
  readonly signal?: AbortSignal;
  /** The market of a devnet, in this process or another; absent: only a replay. */
  readonly devnet?: {
    /** The genesis funds their wallets. */
    readonly traders: TraderConfig;
    /** Their activity; 0: they do not trade. */
    readonly pace: number;
    readonly seed: number;
    /** false: it runs in the caller's thread, on `clock`. */
    readonly inThread?: boolean;
  };
  /** Keys for a public network; absent: none. */
  readonly secrets?: KeySecrets;
  /** The deployment on a public network, in place of the settings' file. */
  readonly deployment?: NetworkDeployment;
  /** How Ogmios, Kupo and a devnet are reached; absent: over the network. */
  readonly chainAccess?: ChainAccess;
  /** Absent: over TCP. */
  readonly dialNats?: DialNats;
  /** Tests shorten waits and limits with these. */
  readonly gateway?: Partial<GatewayOptions>;
}

/** Whether there is a chain: a replay needs none. */
export function followsChain({ settings: { NETWORK }, devnet }: World): boolean {
  return NETWORK !== 'none' && (NETWORK !== 'devnet' || devnet !== undefined);
}
