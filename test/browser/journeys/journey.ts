/** A journey and the things that it uses: the market, its seed, a browser, a visit that stays. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { Bar } from '../../support/chart.ts';
import { keepExecuted } from '../coverage.ts';
import { type Drawn, drawnOn, type Visit, visit } from '../support.ts';
import type { JourneyMarket } from './market.ts';
import type { Seeded } from './seed.ts';

export interface Journey {
  /** Also the name of its picture. */
  readonly name: string;
  /** The action of a person. */
  readonly done: string;
  /** The statement that must hold at the end. */
  readonly seen: string;
  readonly run: (scene: Scene) => Promise<void>;
}

/** Where pictures go; undefined: none are made. */
export const PICTURES = process.env.JOURNEY_PICTURES;
const MAX_BYTES = 60_000;
const QUALITIES = [80, 70, 60, 50, 40, 30];

/** State that one journey leaves for the next. */
export interface Kept {
  seeded: Seeded | null;
  /** A browser with a wallet, and the token that it launched. */
  own: { readonly session: Visit; readonly asset: string } | null;
}

export class Scene {
  readonly market: JourneyMarket;
  readonly browser: Browser;
  readonly kept: Kept;
  readonly #name: string;
  readonly #visits: Visit[] = [];
  readonly #ends: (() => void | Promise<void>)[] = [];

  constructor(name: string, market: JourneyMarket, browser: Browser, kept: Kept) {
    this.#name = name;
    this.market = market;
    this.browser = browser;
    this.kept = kept;
  }

  get seeded(): Seeded {
    return this.kept.seeded ?? assert.fail('the market was seeded');
  }

  /** The token with the most trades. */
  get main(): string {
    return this.seeded.assets[0] ?? assert.fail('there are tokens');
  }

  get own(): NonNullable<Kept['own']> {
    return this.kept.own ?? assert.fail('a token was launched');
  }

  /** A separate browser; closed at the end, and nothing may have gone wrong in it. */
  async visit(options: BrowserContextOptions = {}, url = this.market.url): Promise<Visit> {
    const made = await visit(this.browser, url, options);
    this.#visits.push(made);
    return made;
  }

  /** The visit continues after this journey. */
  keep(session: Visit, asset: string): void {
    this.#visits.splice(this.#visits.indexOf(session), 1);
    this.kept.own = { session, asset };
  }

  /** Takes the place of the one before. */
  async picture({ page }: Visit): Promise<void> {
    if (PICTURES === undefined) return;
    const session = await page.context().newCDPSession(page);
    for (const quality of QUALITIES) {
      const options = { format: 'webp', quality } as const;
      const { data } = await session.send('Page.captureScreenshot', options);
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length > MAX_BYTES && quality !== QUALITIES.at(-1)) continue;
      writeFileSync(join(PICTURES, `${this.#name}.webp`), bytes);
      break;
    }
    await session.detach();
  }

  /** Runs at the end of the journey. */
  after(run: () => void | Promise<void>): void {
    this.#ends.unshift(run);
  }

  /** Closes what it opened; where it went well, nothing may have gone wrong in its browsers. */
  async end(isWell: boolean): Promise<void> {
    for (const each of this.#visits) {
      await keepExecuted([each.page]);
      await each.page.context().close();
    }
    for (const end of this.#ends) await end();
    if (isWell) for (const each of this.#visits) each.assertClean();
  }
}

/** Names the choice of a chart of trades. */
const TRADES_CHART = 'Every trade, a point each';

/** Waits until the chart shows the bars of HTTP, a minute each; answers them. */
export async function drawn(
  seen: Visit,
  market: JourneyMarket,
  asset: string,
): Promise<readonly Bar[]> {
  // At first, the chart of a young token draws every trade.
  const isTrades = await seen.page.getByRole('radio', { name: TRADES_CHART }).isChecked();
  if (isTrades)
    await seen.page.locator('.chart-intervals').getByText('1m', { exact: true }).click();
  let bars: readonly Bar[] = [];
  await seen.asked(
    'the chart shows the bars of HTTP',
    async () => {
      bars = await market.bars(asset);
      const points = (await drawnOn(seen.page)) ?? [];
      return JSON.stringify(points.map(candleOf)) === JSON.stringify(numbersOf(bars));
    },
    (isSame) => isSame,
  );
  return bars;
}

export function numbersOf(bars: readonly Bar[]): Drawn[] {
  return bars.map(({ time, open, high, low, close }) => {
    return { time, open: Number(open), high: Number(high), low: Number(low), close: Number(close) };
  });
}

function candleOf({ time, open, high, low, close }: Drawn): Drawn {
  return { time, open, high, low, close };
}
