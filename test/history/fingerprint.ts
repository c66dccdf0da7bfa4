/**
 * Fingerprint of everything that a recorded history depends on: the market's genesis, and what its
 * traders decide.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictureOf } from '../../src/client/trade/picture.ts';
import { sumOf } from '../../src/devnet/history.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { readSecrets } from '../../src/server/settings/secrets.ts';
import { makeLaunchpad } from '../../src/server/wiring/devnet.ts';
import { readTraderConfig } from '../../src/traders/config.ts';
import { decide } from '../../src/traders/decide.ts';
import { nextMood } from '../../src/traders/mood.ts';
import { styleOf } from '../../src/traders/styles.ts';
import { temporaryDirectory } from '../support/server.ts';
import { OTHER, TOKEN, token, view } from '../traders/views.ts';

const DECISIONS = 400;

export function fingerprint(refundAfterMs: number, keys: unknown) {
  const file = join(temporaryDirectory(), 'keys.json');
  writeFileSync(file, JSON.stringify(keys));
  const launchpad = makeLaunchpad(
    readSecrets('', seededRng(0), file),
    readTraderConfig(),
    refundAfterMs,
  );
  return { genesis: sumOf(launchpad), traders: sumOf(decisions()) };
}

function decisions(): unknown[] {
  const config = readTraderConfig();
  const market = [token(), token({ asset: OTHER, venue: 'AMM' })];
  return Array.from({ length: DECISIONS }, (_, seed) => {
    const rng = seededRng(seed);
    const mood = nextMood(rng, market, 0, 1_000);
    const tokens = new Map([[TOKEN, BigInt(seed) * 1_000_000n]]);
    const seen = view({ market, mood, style: styleOf(seed), tokens, launchDue: seed % 20 === 0 });
    const picture = seed < 3 ? Buffer.from(pictureOf(`${seed}`)).toString('hex') : '';
    return [decide(seen, config, rng), mood, picture];
  });
}
