/** The eras of mainnet; the numbers are public. */
import type { Era, EraConfig } from '../../../src/devnet/ogmios/networkFacts.ts';

const BYRON = { epochSlots: 21_600, slotLengthMs: 20_000, safeZoneSlots: 4_320 };
const SHELLEY = { epochSlots: 432_000, slotLengthMs: 1_000, safeZoneSlots: 129_600 };

/** Where each era of mainnet began. */
export const MAINNET_ERAS: readonly EraConfig[] = [
  { era: 'byron', startSlot: 0, startEpoch: 0, startSeconds: 0, ...BYRON },
  ...eraStarts([
    ['shelley', 208],
    ['allegra', 236],
    ['mary', 251],
    ['alonzo', 290],
    ['babbage', 365],
    ['conway', 507],
  ]),
];
export const MAINNET_START = '2017-09-23T21:44:51Z';

function eraStarts(starts: readonly (readonly [Era, number])[]): EraConfig[] {
  return starts.map(([era, startEpoch]) => {
    const slots = (startEpoch - 208) * SHELLEY.epochSlots;
    const startSlot = 208 * BYRON.epochSlots + slots;
    return { era, startSlot, startEpoch, startSeconds: 89_856_000 + slots, ...SHELLEY };
  });
}
