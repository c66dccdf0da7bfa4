/** Checks that every view must pass: the rules of axe, sizes and overlaps, and texts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { bundleText, type Visit } from './support.ts';

interface View {
  readonly hash: string;
  /** Is there when the view is. */
  readonly shown: string;
  /** Typed into the amount, so that there is a quote. */
  readonly amount?: string;
}

/** `asset`: a token with trades. */
export function viewsOf(asset: string): readonly View[] {
  return [
    { hash: '#/list/new', shown: '.pools a' },
    { hash: '#/list/watchlist', shown: '.empty' },
    { hash: `#/token/${asset}`, shown: '.tape > li', amount: '25' },
    { hash: `#/token/${'ab'.repeat(28)}.`, shown: '.empty' },
    { hash: '#/token/nonsense', shown: '.empty' },
    { hash: '#/launch', shown: '.launch-form' },
    { hash: '#/wallet', shown: '.pnl tbody tr' },
  ];
}

/** Chooses how the market is shown; the browser keeps it. */
export async function chooseView({ page, url }: Visit, name: 'table' | 'board'): Promise<void> {
  await page.goto(`${url}/#/`);
  const choice = page.locator('.lists > .choices > label');
  await (name === 'table' ? choice.first() : choice.last()).click();
}

/** After `chooseView`. */
export const BOARD: View = { hash: '#/', shown: '.board .card' };

export async function look({ page, url }: Visit, view: View): Promise<void> {
  await page.goto(`${url}/${view.hash}`);
  await page.locator(view.shown).first().waitFor();
  // Elements that fade in do not have their final colours before the animation ends.
  const still = 'Promise.allSettled(document.getAnimations().map((each) => each.finished))';
  await Promise.race([page.evaluate(still), page.waitForTimeout(2_000)]);
  if (view.amount === undefined) return;
  await page.locator('.token-columns:not(.coming)').waitFor();
  await page.locator('.trade-form input.amount').fill(view.amount);
  await page.locator('.quote[data-state=quote]').waitFor();
}

const WIDTHS = [320, 390, 768, 1280, 3840];

/** From the smallest phone to 4K nothing is wider than the screen. */
export async function tooWide({ page }: Visit): Promise<readonly string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wider = String(await page.evaluate(WIDER));
    if (wider !== '') found.push(`${width} pixels: ${wider}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

/** After the next frame: elements that make the page scroll sideways; none where it does not. */
const WIDER = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const names = Array.from(document.querySelectorAll('body *'))
    .filter((each) => {
      const { left, right } = each.getBoundingClientRect();
      return document.dir === 'rtl' ? left < -1 : right > clientWidth + 1;
    })
    .map((each) => each.tagName + '.' + each.className);
  resolve(scrollWidth > clientWidth ? [scrollWidth, ...names.slice(0, 6)] : []);
})))`;

/** As long as names of other launchpads may be, without a place to break. */
const LONG_NAME = 'W'.repeat(64);

/** Every name on the market as long as can be, on the smallest phone. */
export async function tooWideWithLongNames({ page, url }: Visit): Promise<string> {
  await page.goto(`${url}/#/list/new`);
  await page.locator('.pools a').first().waitFor();
  await page.setViewportSize({ width: 320, height: 900 });
  const lengthen = `for (const name of document.querySelectorAll('bdi'))
    name.textContent = ${JSON.stringify(LONG_NAME)}`;
  await page.evaluate(lengthen);
  return String(await page.evaluate(WIDER));
}

const CROWDED_WIDTHS = [320, 390, 820, 1024, 1100, 1440, 1920];

/** The widest numbers that a row of the market shows: lists overlapping and cut texts. */
export async function crowdedRow({ page, url }: Visit): Promise<readonly string[]> {
  await page.goto(`${url}/#/list/new`);
  await page.locator('.pools a').first().waitFor();
  const found: string[] = [];
  for (const width of CROWDED_WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const crowded = String(await page.evaluate(CROWDED));
    if (crowded !== '') found.push(`${width} pixels: ${crowded}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

const CROWDED = `new Promise((resolve) => requestAnimationFrame(() => {
  const row = document.querySelector('.pools tr');
  const widest = {
    'col-price .price': '0.0₁₂9999', 'col-volume24h': '99.9M ₳', 'col-marketCap': '99.9M ₳',
    'col-change1h > *': '▼99.99%', 'col-change24h > *': '▼99.99%', 'pool .name': 'Extraordinary Mo',
    'pool .ticker': 'EXTRAM', 'col-createdOn': '59 min', 'col-traders24h': '1,234',
  };
  for (const [selector, text] of Object.entries(widest)) {
    const cell = row.querySelector('.' + selector);
    if (cell !== null) cell.textContent = text;
  }
  const progress = row.querySelector('.col-progress');
  progress.innerHTML = '<span class="mark">Graduated</span>';
  const boxOf = (cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getBoundingClientRect();
  };
  const cells = Array.from(row.children).filter((cell) => cell.checkVisibility());
  const over = cells.flatMap((one, index) => cells.slice(index + 1).flatMap((other) => {
    const [a, b] = [boxOf(one), boxOf(other)];
    const apart =
      a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    return apart ? [] : [one.className + ' over ' + other.className];
  }));
  const badge = row.querySelector('.pool .badge')?.innerText ?? '';
  if (!/\\p{L}{3}/u.test(badge)) over.push('no badge that says of what its share is');
  const box = document.querySelector('.table-box');
  if (box.scrollWidth > box.clientWidth) over.push('the table is wider than its panel');
  const { right } = box.getBoundingClientRect();
  const spark = row.querySelector('.spark')?.getBoundingClientRect();
  if (spark !== undefined && spark.right > right) over.push('the line leaves the table');
  const texts = '.tickers thead th, .pool .name, .pool .ticker, .mark';
  const cut = Array.from(document.querySelectorAll(texts))
    .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.textContent + ' is cut');
  resolve([...over, ...cut]);
}))`;

/** From the first frame on: where the market begins, and where the choice of language stands. */
export const WATCH_PLACES = `(() => {
  const seen = { market: new Set(), language: new Set() };
  globalThis.places = seen;
  const edgeOf = (selector, edge) =>
    Math.round(document.querySelector(selector)?.getBoundingClientRect()[edge] ?? -1);
  const watch = () => {
    seen.market.add(edgeOf('.panel.market', 'top'));
    seen.language.add(edgeOf('.status .language', 'right'));
    requestAnimationFrame(watch);
  };
  watch();
})()`;

/** How many places each of them had; before it is there it has none. */
export async function placesSeen({ page }: Visit): Promise<unknown> {
  return page.evaluate(`Object.fromEntries(Object.entries(globalThis.places).map(
    ([name, seen]) => [name, Array.from(seen).filter((place) => place >= 0).length]))`);
}

const MAX_TABS = 150;

/** Presses Tab until the focus is there; every stop on the way is in view, and shows the focus. */
export async function tabTo({ page }: Visit, selector: string): Promise<void> {
  const passed: string[] = [];
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    await page.keyboard.press('Tab');
    // trust: the expression answers texts
    const [name = '', fault = '', is = ''] = (await page.evaluate(
      `(${FOCUSED})(${JSON.stringify(selector)})`,
    )) as readonly string[];
    assert.equal(fault, '', name);
    if (is !== '') return;
    passed.push(name);
  }
  assert.fail(`${selector} has no focus after ${passed.join(', ')}`);
}

/**
 * Describes the element with the focus: its name, its faults, and whether it matches `selector`.
 */
const FOCUSED = `(selector) => {
  const element = document.activeElement;
  // Scripts put it there, to begin from: no stop of the keyboard.
  if (element === null || element.tabIndex < 0) return ['', '', ''];
  const shows = [element, ...(element.labels ?? []), element.nextElementSibling].some((each) => {
    if (each === null) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  });
  const name = element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 30);
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isSeen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  const fault = !shows ? 'the focus is not to be seen' : !isSeen ? 'it is out of view' : '';
  return [name, fault, element.matches(selector) ? 'yes' : ''];
}`;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * All rules in the dark theme; in the light theme only the rule on contrast, because only that
 * depends on colours.
 */
export async function axeFindings({ page }: Visit): Promise<readonly string[]> {
  await page.evaluate(`${AXE}; undefined`);
  const dark = await findings(page, null);
  await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
  const light = await findings(page, 'color-contrast');
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  return [...dark, ...light];
}

function findings(page: Page, rule: string | null): Promise<readonly string[]> {
  const only = rule === null ? {} : { runOnly: [rule] };
  const options = JSON.stringify({ resultTypes: ['violations'], ...only });
  return page.evaluate(`new Promise((resolve) => requestAnimationFrame(resolve))
    .then(() => axe.run(document, ${options}))
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => [id, target, failureSummary].join(' '))))`);
}

/**
 * In the place of German a language whose every text is marked: a text without a mark does not come
 * from the messages. It reads from right to left.
 */
export async function speakMarked(page: Page): Promise<void> {
  const contents = `
    import { ENGLISH } from './src/web/messages/english.ts';
    const marked = (text) =>
      typeof text === 'string' ? '⟦' + text + '⟧'
      : Array.isArray(text) ? text.map(marked)
      : Object.fromEntries(Object.entries(text).map(([name, each]) => [name, marked(each)]));
    export default { ...marked(ENGLISH), direction: 'rtl' };`;
  const body = await bundleText({ stdin: { contents, resolveDir: '.' } });
  await page.route(
    (url) => /\/assets\/de-\w+\.js$/.test(url.pathname),
    (route) => route.fulfill({ contentType: 'text/javascript', body }),
  );
}

/** Names of units, networks and the program: the same in each language. */
const NAMES = ['ADA', 'upcurve', 'devnet', 'leader', 'CIP'];

/** Words that are seen or read out, and came from no message; `data`: names of tokens. */
export async function unmarked(
  { page }: Visit,
  data: readonly string[],
): Promise<readonly string[]> {
  // trust: the expression answers texts
  const texts = (await page.evaluate(READ_TEXTS)) as readonly string[];
  const known = [...NAMES, ...data];
  return texts.filter((text) => {
    let left = text;
    for (let before = ''; before !== left; ) {
      before = left;
      left = left.replaceAll(/⟦[^⟦⟧]*⟧/g, ' ');
    }
    for (const name of known) left = left.replaceAll(name, ' ');
    // Ids, and their ends.
    left = left.replaceAll(/addr_test\w*|[0-9a-f.…]{6,}|…\w+/g, ' ');
    return /\p{L}{3,}/u.test(left);
  });
}

/** Elements that declare their language, and texts that users type, are not texts of the page. */
const READ_TEXTS = `(() => {
  const foreign =
    'bdi, code, .code, svg, [lang]:not(html), .description, .node-name, script, style';
  const texts = [];
  for (const each of document.body.querySelectorAll('*')) {
    if (each.closest(foreign) !== null || !each.checkVisibility()) continue;
    for (const node of each.childNodes) if (node.nodeType === 3) texts.push(node.textContent);
    for (const name of ['aria-label', 'title', 'placeholder', 'aria-valuetext', 'alt'])
      texts.push(each.getAttribute(name) ?? '');
  }
  return texts;
})()`;

/** As another tab in front of it does. */
export async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'))`);
}
