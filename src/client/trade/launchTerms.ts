/** What the transaction of a launch must say, computed from the request and the deployment. */
import { LAUNCH_TYPES } from '../../cardano/datums/metadata.ts';
import { buyTokens } from '../../engine/market/curve.ts';
import { webLink } from '../../engine/market/webLink.ts';
import type { ProtocolConfigAnswer } from '../types.ts';
import { contentIdOf } from './contentId.ts';
import type { LaunchIntent } from './launchCheck.ts';
import type { LaunchRequest } from './tradingClient.ts';
import { integerOf } from './utxo.ts';

/** The curve is new, so the first buy brings exactly what its parameters give. */
export async function launchTerms(
  request: LaunchRequest,
  { addresses, parameters }: ProtocolConfigAnswer,
): Promise<Omit<LaunchIntent, 'kind' | 'asset'>> {
  const { image, ticker, description, initialLovelace } = request;
  const supply = integerOf(parameters.tokenEmission.raw);
  const [aNum, bNum] = [integerOf(parameters.aNum), integerOf(parameters.bNum)];
  const launchType = request.launchType || 'DEFAULT';
  return {
    ...{ ticker, description, initialLovelace, supply },
    name: request.name.trim(),
    logoCID: contentIdOf(new Uint8Array(await image.arrayBuffer())),
    mediaType: image.type,
    launchType: LAUNCH_TYPES.indexOf(launchType),
    socials: {
      twitter: linkOf(request.twitter),
      discord: linkOf(request.discord),
      telegram: linkOf(request.telegram),
      website: linkOf(request.website),
    },
    userTokens: buyTokens({ supply, aNum, bNum }, 0n, initialLovelace),
    launchPolicy: addresses.launchPolicy,
    metadataAddress: addresses.metadata,
  };
}

/** As a launch stores it; what is no link is refused by the server. */
function linkOf(text: string | null | undefined): string {
  return text ? (webLink(text) ?? text) : '';
}
