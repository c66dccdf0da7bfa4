/**
 * Journeys of people through the page, in a real browser with a running market; the list with the
 * pictures is docs/journeys.md, which `npm run journeys` writes. `JOURNEY=phone npm run journeys`
 * runs only the journeys with `phone` in their name and does not rewrite the list.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { IS_LONG } from '../../support/long.ts';
import { openBrowser } from '../support.ts';
import { FRAME_JOURNEYS, OUTAGE_JOURNEY } from './frame.ts';
import { HOME_JOURNEYS } from './home.ts';
import { type Journey, type Kept, PICTURES, Scene } from './journey.ts';
import { JourneyMarket } from './market.ts';
import { TOKEN_JOURNEYS } from './token.ts';
import { TRADE_JOURNEYS } from './trade.ts';
import { WALLET_JOURNEYS } from './wallet.ts';

const JOURNEYS: readonly Journey[] = [
  ...HOME_JOURNEYS,
  ...TOKEN_JOURNEYS,
  ...TRADE_JOURNEYS,
  ...WALLET_JOURNEYS,
  ...FRAME_JOURNEYS,
  OUTAGE_JOURNEY,
];
/**
 * Only journeys whose name matches, and the two that all others depend on (`cancel` also needs the
 * amount that `one-click` has chosen). Use it while you work on one journey.
 */
const { JOURNEY } = process.env;
/** CI plays these journeys. `npm run test:long` and `npm run journeys` play all. */
const IN_CI =
  'home|search|fork|buy-fill-sell|one-click|cancel|lock-and|graduate|portfolio|phone|killed';
const ONLY = JOURNEY ?? (IS_LONG || PICTURES !== undefined ? undefined : IN_CI);
const NEEDED = ['empty-market', 'launch'];
const isRun = ({ name }: Journey) =>
  ONLY === undefined || NEEDED.includes(name) || new RegExp(ONLY).test(name);

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/journeys.md');

function pageOf(failed: ReadonlySet<string>): string {
  const rows = JOURNEYS.map(({ name, done, seen }, index) => {
    const result = failed.has(name) ? '**fails**' : 'passes';
    return `| ${index + 1} | [${name}](#${name}) | ${done} | ${seen} | ${result} |`;
  });
  const pictures = JOURNEYS.map(
    ({ name, seen }) => `## ${name}\n\n![${seen}](journeys/${name}.webp)`,
  );
  return [
    '# Journeys',
    [
      'Each journey lists the steps of a person on the page and the result that the page must',
      'show, in a real browser before a running market. `npm run journeys` runs the journeys and',
      'writes this page with its pictures; the slow tests run them without pictures.',
    ].join('\n'),
    ['| | journey | a person | must be seen | |', '|---|---|---|---|---|', ...rows].join('\n'),
    ...pictures,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

test('journeys through the page', async (t) => {
  const [browser, market] = await Promise.all([openBrowser(t), JourneyMarket.start(t)]);
  if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });
  const kept: Kept = { seeded: null, own: null };
  const failed = new Set<string>();
  for (const { name, run } of JOURNEYS.filter(isRun)) {
    await t.test(name, async () => {
      const scene = new Scene(name, market, browser, kept);
      failed.add(name);
      try {
        await run(scene);
        failed.delete(name);
      } finally {
        await scene.end(!failed.has(name));
      }
    });
  }
  if (JOURNEY !== undefined) return;
  if (PICTURES === undefined) {
    assert.equal(readFileSync(PAGE, 'utf8'), pageOf(new Set()), 'it is old: npm run journeys');
  } else {
    mkdirSync(dirname(PAGE), { recursive: true });
    writeFileSync(PAGE, pageOf(failed));
  }
});
