/**
 * Which network the server is on. The server is asked until it answers: a page may be up before it.
 * The document says when there is no chain.
 */
import { ApiError, type Client } from '../client/index.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Network } from './context.ts';
import type { Source } from './signal.ts';

const AGAIN_MS = 2_000;
const NAMES = ['devnet', 'preview', 'preprod', 'mainnet'] as const;
/** A server that only replays trades has no deployment. */
const NONE: Network = { name: 'none', addresses: 'testnet', supply: null };

export async function detectNetwork(
  client: Client,
  clock: Clock,
  network: Source<Network | null>,
): Promise<void> {
  if (document.documentElement.dataset.chain === 'none') {
    network.set(NONE);
    return;
  }
  try {
    const { data } = await client.build.protocolConfig();
    const name = NAMES.find((each) => each === data.environment);
    const addresses = data.network === 'mainnet' ? 'mainnet' : 'testnet';
    const supply = BigInt(data.parameters.tokenEmission.raw);
    network.set(name === undefined ? NONE : { name, addresses, supply });
  } catch (error) {
    if (error instanceof ApiError && error.cause === 'NOT_FOUND') network.set(NONE);
    else clock.after(AGAIN_MS, () => detectNetwork(client, clock, network));
  }
}
