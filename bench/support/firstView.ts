/**
 * The requests that a visitor's browser makes before the first view is complete, and the time until
 * its chart is.
 */
import type { Browser } from 'playwright-core';
import { visit } from '../../test/browser/support.ts';
import { quantile } from './quantile.ts';

export interface FirstView {
  readonly requests: number;
  /** As they came over the network: compressed, with their heads. */
  readonly kilobytes: number;
  /** Besides: messages of its sockets, which are not compressed. */
  readonly socketKilobytes: number;
  /** From the navigation on until `selector` is in the page. */
  readonly shownMs: number;
}

const SETTLE_MS = 2_000;
const VISITS = 5;

/** A browser that was never here before; medians of some visits. */
export async function firstView(
  browser: Browser,
  url: string,
  hash: string,
  selector: string,
): Promise<FirstView> {
  const views: FirstView[] = [];
  for (let made = 0; made < VISITS; made += 1) {
    views.push(await oneView(browser, url, hash, selector));
  }
  const median = (of: (view: FirstView) => number) => quantile(views.map(of), 0.5);
  return {
    requests: median(({ requests }) => requests),
    kilobytes: median(({ kilobytes }) => kilobytes),
    socketKilobytes: median(({ socketKilobytes }) => socketKilobytes),
    shownMs: median(({ shownMs }) => shownMs),
  };
}

async function oneView(
  browser: Browser,
  url: string,
  hash: string,
  selector: string,
): Promise<FirstView> {
  const { page } = await visit(browser, url);
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let [requests, bytes, socketBytes] = [0, 0, 0];
  session.on('Network.requestWillBeSent', ({ request }) => {
    if (!request.url.startsWith('data:')) requests += 1;
  });
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  session.on('Network.webSocketFrameReceived', ({ response }) => {
    socketBytes += Buffer.byteLength(response.payloadData);
  });
  await page.addInitScript(`(() => {
    const look = () => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) requestAnimationFrame(look);
      else globalThis.shownMs = performance.now();
    };
    requestAnimationFrame(look);
  })()`);
  await page.goto(`${url}/${hash}`);
  await page.locator(selector).first().waitFor({ state: 'attached' });
  // Requests after the view belong to it, too: logos, newest trades.
  await page.waitForTimeout(SETTLE_MS);
  const shownMs = await page.evaluate<number>('globalThis.shownMs');
  await page.context().close();
  return { requests, kilobytes: bytes / 1000, socketKilobytes: socketBytes / 1000, shownMs };
}
