/**
 * The requests that a visitor's browser makes before the first view is complete, and the time until
 * its chart is.
 */
import type { Browser, CDPSession } from 'playwright-core';
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
  /** Largest contentful paint, from the navigation on. */
  readonly paintedMs: number;
  /** Total blocking time: what tasks take beyond 50 ms each. */
  readonly blockedMs: number;
}

/** A slow phone: a processor so many times slower, and a narrow screen. */
interface Phone {
  readonly slowdown: number;
  readonly kilobytesPerSecond: number;
}

const PHONE_SCREEN = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const TASK_MS = 50;

const SETTLE_MS = 2_000;
const VISITS = 3;

/** A browser that was never here before; medians of some visits. */
export async function firstView(
  browser: Browser,
  url: string,
  hash: string,
  selector: string,
  phone: Phone | null = null,
): Promise<FirstView> {
  const views: FirstView[] = [];
  for (let made = 0; made < VISITS; made += 1) {
    views.push(await oneView(browser, url, hash, selector, phone));
  }
  const median = (of: (view: FirstView) => number) => quantile(views.map(of), 0.5);
  return {
    requests: median(({ requests }) => requests),
    kilobytes: median(({ kilobytes }) => kilobytes),
    socketKilobytes: median(({ socketKilobytes }) => socketKilobytes),
    shownMs: median(({ shownMs }) => shownMs),
    paintedMs: median(({ paintedMs }) => paintedMs),
    blockedMs: median(({ blockedMs }) => blockedMs),
  };
}

async function oneView(
  browser: Browser,
  url: string,
  hash: string,
  selector: string,
  phone: Phone | null,
): Promise<FirstView> {
  const { page } = await visit(browser, url, phone === null ? {} : PHONE_SCREEN);
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  if (phone !== null) await slowDown(session, phone);
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
    globalThis.paintedMs = 0;
    globalThis.blockedMs = 0;
    const watch = (type, take) =>
      new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
        type,
        buffered: true,
      });
    watch('largest-contentful-paint', ({ startTime }) => { globalThis.paintedMs = startTime; });
    watch('longtask', ({ duration }) => { globalThis.blockedMs += duration - ${TASK_MS}; });
  })()`);
  await page.goto(`${url}/${hash}`);
  await page.locator(selector).first().waitFor({ state: 'attached' });
  // Requests after the view belong to it, too: logos, newest trades.
  await page.waitForTimeout(SETTLE_MS);
  const [shownMs = 0, paintedMs = 0, blockedMs = 0] = await page.evaluate<number[]>(
    '[shownMs, paintedMs, blockedMs]',
  );
  await page.context().close();
  const sizes = { kilobytes: bytes / 1000, socketKilobytes: socketBytes / 1000 };
  return { requests, ...sizes, shownMs, paintedMs, blockedMs };
}

async function slowDown(session: CDPSession, phone: Phone): Promise<void> {
  const throughput = phone.kilobytesPerSecond * 1000;
  await session.send('Emulation.setCPUThrottlingRate', { rate: phone.slowdown });
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  });
}
