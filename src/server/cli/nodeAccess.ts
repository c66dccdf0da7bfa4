/** Commands that work on a chain without a server: through Ogmios and Kupo, paid by a key file. */

import type { SlotConfig } from '../../cardano/codec/slots.ts';
import { type ProtocolParameters, unknownToEvaluator } from '../../cardano/ledger/parameters.ts';
import type { Submitter, UtxoLookup } from '../../cardano/ledger/port.ts';
import { evaluate } from '../../cardano/ledger/scalus.ts';
import type { Evaluate } from '../../cardano/transactions/assemble.ts';
import { KupoLookup } from '../../chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../chain/mempoolOverlay.ts';
import { OgmiosChain } from '../../chain/ogmios/ogmios.ts';
import type { Point } from '../../chain/port.ts';
import { type Clock, pause } from '../../engine/runtime/clock.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { KeySecrets } from '../settings/keyFiles.ts';
import type { Settings } from '../settings/table.ts';
import type { ProgressOutput } from './progress.ts';

export interface NodeCommandDeps {
  readonly settings: Settings;
  readonly secrets: KeySecrets;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly signal: AbortSignal;
  say(line: string): void;
  readonly terminal: ProgressOutput;
}

export interface NodeAccess {
  readonly utxos: UtxoLookup;
  readonly submitter: Submitter;
  readonly parameters: ProtocolParameters;
  readonly slots: SlotConfig;
  /** The newest block; null: the chain has none yet. */
  tip(): Promise<Point | null>;
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  say(line: string): void;
  readonly terminal: ProgressOutput;
}

/** Runs scripts; throws where this version does not know the node's parameters. */
export function scriptsOf(place: NodeAccess): Evaluate {
  return (transaction, utxos) => {
    const unknown = unknownToEvaluator(place.parameters);
    if (unknown === null) return evaluate(transaction, utxos, place);
    const what = `the node reports ${unknown}, which this version of upcurve cannot evaluate`;
    throw new Error(`${what}: install a version that knows it`);
  };
}

/** Connects to the node before `work` and disconnects after it. */
export async function withNode<T>(
  { settings, clock, rng, signal, say, terminal }: NodeCommandDeps,
  work: (place: NodeAccess) => Promise<T>,
): Promise<T> {
  const { OGMIOS_URL, KUPO_URL: url } = settings;
  if (OGMIOS_URL === undefined || url === undefined) {
    throw new Error('OGMIOS_URL and KUPO_URL say where the node is: both are needed');
  }
  const seen = () => ({ tokens: [], watched: [] });
  const observer = {
    nodeConnected: () => {},
    nodeLost: (_: string, cause: string, message: string) => say(`Ogmios: ${cause}, ${message}`),
    partPassedOver: () => {},
    ogmiosFailed: (error: unknown) => say(`Ogmios: ${error}`),
    kupoAsked: () => {},
    kupoHealth: () => {},
  };
  const chain = new OgmiosChain({
    url: OGMIOS_URL,
    deployment: null,
    watched: seen,
    clock,
    rng,
    observer,
  });
  const stop = () => void chain.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await chain.start();
    const [parameters, slots] = [await chain.parameters(), chain.slots()];
    // Nothing is served here, so Kupo's answers may be of any block.
    const common = { tip: () => null, overlay: new MempoolOverlay(), clock, observer };
    const utxos = new KupoLookup({ url, ...common });
    const tip = async () => {
      // A node names its tip with each block that it sends.
      const stream = await chain.open([]);
      while (chain.tip() === null && (await stream?.next()) != null);
      await stream?.close();
      return chain.tip();
    };
    const around = { clock, signal, say, terminal };
    return await work({ utxos, submitter: chain, parameters, slots, tip, ...around });
  } finally {
    signal.removeEventListener('abort', stop);
    await chain.stop();
  }
}

const LOOK_MS = 1_000;
/** Twenty minutes: blocks come every 20 seconds, and some are full. */
const MAX_LOOKS = 1_200;

/**
 * Asks again and again whether a block has it; `asked` is called each time. Throws with a remedy if
 * none does.
 */
export async function waitForBlock(
  { clock, signal, say }: Pick<NodeAccess, 'clock' | 'signal' | 'say'>,
  title: string,
  isThere: () => Promise<boolean>,
  asked: () => void = () => {},
): Promise<void> {
  say(`${title}: sent, waiting for a block`);
  for (let looks = 0; looks < MAX_LOOKS && !signal.aborted; looks += 1) {
    if (await isThere()) {
      say(`${title}: in a block`);
      return;
    }
    asked();
    await pause(clock, LOOK_MS, signal);
  }
  throw new Error(`${title}: no block has it yet; run the same command again to continue`);
}
