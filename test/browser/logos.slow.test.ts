/**
 * Logos of a long list, in a real browser: a reader at the top of the list loads only the logos
 * there.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundleText, openBrowser, visit } from './support.ts';

const ROWS = 60;
const ROW_PX = 45;
const ORIGIN = 'http://logos.test';
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>';
const DOCUMENT = `<!doctype html><style>
  body { margin: 0 } .logo { display: inline-block; width: 32px; height: 32px; overflow: hidden }
  </style><body></body><script type="module" src="/script"></script>`;
const PAGE = `
  import { h, render } from 'preact';
  import { Logo } from './src/web/components/logo.tsx';
  const row = (_, at) => h('div', { style: 'height: ${ROW_PX}px' },
    h(Logo, { asset: 'ab', ticker: 'T', logoCID: at === 1 ? 'missing' : 'logo' + at }),
    h(Logo, { asset: 'ab', ticker: 'T', logoCID: at < 2 ? 'missing' : 'logo' + at }));
  render(Array.from({ length: ${ROWS} }, row), document.body);`;

test('logos out of view are not asked for, and a missing one is asked for once', async (t) => {
  const browser = await openBrowser(t);
  const script = await bundleText({ stdin: { contents: PAGE, loader: 'ts', resolveDir: '.' } });
  const { page } = await visit(browser, ORIGIN, { viewport: { width: 400, height: 450 } });
  const asked: string[] = [];
  await page.route(`${ORIGIN}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') {
      return route.fulfill({ contentType: 'text/html', body: DOCUMENT });
    }
    if (pathname === '/script') {
      return route.fulfill({ contentType: 'text/javascript', body: script });
    }
    asked.push(pathname);
    if (pathname === '/ipfs/missing') return route.fulfill({ status: 404 });
    return route.fulfill({ contentType: 'image/svg+xml', body: LOGO });
  });
  await page.goto(ORIGIN);
  const logo = (at: number) => page.locator(`img[src="/ipfs/logo${at}"]`).first();
  await logo(9).waitFor({ state: 'attached' });
  assert.equal(await logo(ROWS - 1).count(), 0);
  assert(asked.length < ROWS / 2, asked.join());
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await logo(ROWS - 1).waitFor({ state: 'attached' });
  assert.equal(await logo(ROWS / 2).count(), 0, 'what was scrolled past is not asked for');
  const missing = asked.filter((path) => path === '/ipfs/missing');
  assert(missing.length < 3, 'three places would show it');
  await page.evaluate('scrollTo(0, 0)');
  await logo(2).waitFor({ state: 'attached' });
  assert.equal(await page.locator('img[src="/ipfs/missing"]').count(), 0);
});
