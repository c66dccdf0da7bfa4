/** The market that a log's stream is labelled with: its epoch entry may be trimmed. */
import {
  type MarketIdentity,
  marketText,
  parseMarket,
} from '../../engine/runtime/marketIdentity.ts';
import type { NatsLink } from '../nats/connection.ts';
import { setDescription, settingsOf } from '../nats/streamSettings.ts';

const LABEL = 'upcurve ';

/** null: there is no label, or no stream. */
export async function labelOf(link: NatsLink, stream: string): Promise<MarketIdentity | null> {
  const { description } = (await settingsOf(link, stream)) ?? { description: '' };
  return description.startsWith(LABEL) ? parseMarket(description.slice(LABEL.length)) : null;
}

export async function setLabel(
  link: NatsLink,
  stream: string,
  market: MarketIdentity,
): Promise<void> {
  const found = await settingsOf(link, stream);
  const text = `${LABEL}${marketText(market)}`;
  if (found === null || found.description === text) return;
  await setDescription(link, stream, text);
}
