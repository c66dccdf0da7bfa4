/** A launch through the page, which another visitor sees before its block. */
import assert from 'node:assert/strict';
import { listenToCharts } from '../support.ts';
import { launchOn, startWallet } from '../tradeWorld.ts';
import { drawn, type Journey, type Scene } from './journey.ts';

export const launch: Journey = {
  name: 'launch',
  done: 'makes a wallet, takes coins from the faucet, launches a token with a first buy',
  seen: 'others see it before its block; the token’s own page: its first bar, trade and author',
  async run(scene) {
    const session = await scene.visit();
    await listenToCharts(session.page);
    await startWallet(session);
    const asset = await scene.market.hold(async () => {
      const launching = launchOn(session, 'Walk');
      await assertShownPending(scene, 'Walk');
      await scene.market.mine();
      return launching;
    });
    scene.keep(session, asset);
    await session.page.locator('.token-head').getByText('WALK', { exact: true }).waitFor();
    const bars = await drawn(session, scene.market, asset);
    assert.equal(bars.length, 1, 'one bar');
    await scene.picture(session);
  },
};

/** Another visitor sees the launch on the home page while it is in no block. */
async function assertShownPending(scene: Scene, name: string): Promise<void> {
  const other = await scene.visit();
  await other.open('#/');
  const card = other.page.locator('.best-newest').filter({ hasText: 'Launching now' });
  await card.getByText(name, { exact: true }).waitFor();
}
