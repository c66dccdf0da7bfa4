/** Without trades, every mirror must know every answer of HTTP, at its very position. */
import assert from 'node:assert/strict';
import { readHealth } from '../../support/chart.ts';
import type { Comparer } from './comparer.ts';
import type { Mirror } from './mirror.ts';

const MAX_TRIES = 10;

/** `mirrors` go on, with since, from where they stand, perhaps on another server. */
export async function assertSameAtRest(
  comparer: Comparer,
  mirrors: readonly Mirror[],
  { url, port }: { readonly url: string; readonly port: number },
): Promise<void> {
  comparer.url = url;
  for (const mirror of mirrors) await mirror.reconnect(port);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { epoch, seq } = await readHealth(url);
    for (const mirror of mirrors) await mirror.reached({ epoch, seq });
    const { asked, compared } = await comparer.everything();
    // The executor may still have had something to do.
    if ((await readHealth(url)).seq !== seq) continue;
    assert.equal(compared, asked * mirrors.length, 'every mirror knows every answer');
    return;
  }
  assert.fail('the market never came to rest');
}
