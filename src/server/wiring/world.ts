import type { Logger } from 'pino';
import type { GatewayOptions } from '../../api/gateway/options.ts';
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { TraderConfig } from '../../client/traders/config.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Settings } from '../settings/table.ts';

/** All that the app is given; tests start the same app in another world. */
export interface World {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly version: string;
  /** Gives up a start that takes long (a rebuild) with `Interrupted`. */
  readonly signal?: AbortSignal;
  /** The market of a devnet, this process's own or another's; absent: only what is replayed. */
  readonly devnet?: {
    /** Those whose wallets the genesis fills. */
    readonly traders: TraderConfig;
    /** How lively they are; 0: they do not trade. */
    readonly pace: number;
    readonly seed: number;
    /** false: it runs in the caller's thread, on `clock`. */
    readonly inThread?: boolean;
  };
  /** Keys for a public network; absent: none. */
  readonly secrets?: KeySecrets;
  /** What is followed on a public network, instead of what the settings name. */
  readonly deployment?: NetworkDeployment;
  /** Tests shorten waits and limits with these. */
  readonly gateway?: Partial<GatewayOptions>;
}

/** Whether there is a chain at all: what is replayed needs none. */
export function followsChain({ settings: { NETWORK }, devnet }: World): boolean {
  return NETWORK !== 'none' && (NETWORK !== 'devnet' || devnet !== undefined);
}
