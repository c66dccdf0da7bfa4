import type { Logger } from 'pino';
import type { Observer } from '../../api/gateway/observer.ts';
import type { GatewayOptions } from '../../api/gateway/options.ts';
import type { Server } from '../../api/gateway/server.ts';
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { StartBuilders } from '../../cardano/transactions/builderThreads.ts';
import type { ChainAccess } from '../../chain/access.ts';
import type { StartOgmiosThread } from '../../chain/ogmios/ogmiosThread.ts';
import type { DialNats } from '../../cluster/nats/connection.ts';
import type { OpenLogFile } from '../../engine/log/logOwner.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { OpenWriter } from '../../engine/store/stateWriter.ts';
import type { TraderConfig } from '../../traders/config.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Settings } from '../settings/table.ts';

/**
 * Threads and the listening port of a node. A simulation runs many nodes in one thread, and passes
 * replacements.
 */
export interface Host {
  readonly logFile: OpenLogFile;
  readonly stateWriter: OpenWriter;
  readonly builderThreads: StartBuilders;
  readonly nodeReader: StartOgmiosThread;
  readonly createServer: (observer: Observer) => Server;
}

/** Everything that the app receives from outside; tests start it with another world. */
export interface AppDeps {
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
    /** A new chain in an empty directory begins with the recorded past; absent: it does not. */
    readonly beginsWithPast?: boolean;
    /** `fittingHistory` found that this past fits. */
    readonly historyFile?: string;
  };
  /** Keys for a public network; absent: none. */
  readonly secrets?: KeySecrets;
  /** The deployment on a public network, in place of the settings' file. */
  readonly deployment?: NetworkDeployment;
  /** Absent: threads of this process, and uWebSockets.js. */
  readonly host?: Host;
  /** How Ogmios, Kupo and a devnet are reached; absent: over the network. */
  readonly chainAccess?: ChainAccess;
  /** Absent: over TCP. */
  readonly dialNats?: DialNats;
  /** Calls `read` whenever the operator asks to read files again; absent: never. */
  readonly onReload?: (read: () => void) => void;
  /** Before the server listens; else when they are first asked for. */
  readonly preparesDocuments?: boolean;
  /** Tests shorten waits and limits with these. */
  readonly gateway?: Partial<GatewayOptions>;
}

/** Whether there is a chain: a replay needs none. */
export function followsChain({ settings: { NETWORK }, devnet }: AppDeps): boolean {
  return NETWORK !== 'none' && (NETWORK !== 'devnet' || devnet !== undefined);
}
