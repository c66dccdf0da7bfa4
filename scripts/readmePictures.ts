/**
 * `npm run pictures -- URL`: takes the README's pictures of a running market, whose devnet has a
 * recorded day: docs/home.png, docs/page.png and docs/market.webp, ten seconds that move
 * (`npm run pictures -- URL film`: only these). Needs
 * chromium and ffmpeg, Debian's packages of these names.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { openBrowser, visit } from '../test/browser/support.ts';
import { startWallet } from '../test/browser/tradeWorld.ts';

const DOCS = join(import.meta.dirname, '../docs');
const STILL = { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' } as const;
const MOVING = { viewport: { width: 1200, height: 750 }, colorScheme: 'dark' } as const;
/** At most 12 frames a second. */
const MIN_SHOWN_MS = 83;
const MAX_BYTES = 1_500_000;
/** Worse ones are tried until the film is small enough. */
const QUALITIES = [70, 55, 40, 28];

const [url = assert.fail('name the URL of a running market'), only] = process.argv.slice(2);
const ends: (() => void | Promise<void>)[] = [];
const browser = await openBrowser({ after: (run) => void ends.push(run) });

/** Takes the still pictures. */
async function photograph(): Promise<void> {
  const seen = await visit(browser, url, STILL);
  await startWallet(seen);
  await seen.open();
  await seen.live();
  await seen.page.locator('.pools a.pool').nth(8).waitFor();
  await seen.page.waitForTimeout(2_000);
  await seen.page.screenshot({ path: join(DOCS, 'home.png') });
  await openTop(seen.page);
  await seen.page.keyboard.press('2');
  await seen.page.getByText('Total to pay').waitFor();
  await seen.page.waitForTimeout(2_000);
  await seen.page.screenshot({ path: join(DOCS, 'page.png') });
}

async function openTop(page: Page): Promise<void> {
  await page.locator('a.best-top').click();
  await page.locator('.legend > span').first().waitFor();
  await page.evaluate('document.activeElement?.blur()');
  await page.mouse.move(0, 0);
}

/** From the market to a token, an amount, what is signed, and the order filled. */
async function film(): Promise<void> {
  const seen = await visit(browser, url, MOVING);
  const { page } = seen;
  await startWallet(seen);
  await seen.open();
  await page.locator('.pools a.pool img').nth(4).waitFor();
  const folder = mkdtempSync(join(tmpdir(), 'upcurve-film-'));
  try {
    const camera = await Camera.on(page, folder);
    await camera.hold(2_000);
    await openTop(page);
    await page.locator('.own-note').first().waitFor();
    await camera.hold(2_200);
    await page.keyboard.press('2');
    await page.getByText('Total to pay').waitFor();
    await camera.hold(1_500);
    await page.keyboard.press('Enter');
    await page.locator('dialog[open]').waitFor();
    await camera.hold(1_500);
    await page.keyboard.press('Enter');
    await page.locator('.own-orders > li').first().waitFor();
    await camera.hold(1_200);
    await page.locator('.own-orders > li[data-status="Evaluated"]').first().waitFor();
    await camera.hold(1_600);
    encode(await camera.end(), folder, join(DOCS, 'market.webp'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Frame {
  readonly path: string;
  readonly shownMs: number;
}

/** Takes frames as they are drawn while it is held; what is waited for in between is cut. */
class Camera {
  readonly #page: Page;
  readonly #session: CDPSession;
  readonly #folder: string;
  readonly #taken: { readonly path: string; readonly atMs: number }[] = [];
  /** Length of the film so far, and when the hold under way began; null: none is. */
  #filmedMs = 0;
  #heldFromMs: number | null = null;
  #last: Buffer | null = null;

  private constructor(page: Page, session: CDPSession, folder: string) {
    this.#page = page;
    this.#session = session;
    this.#folder = folder;
  }

  static async on(page: Page, folder: string): Promise<Camera> {
    const session = await page.context().newCDPSession(page);
    const camera = new Camera(page, session, folder);
    session.on('Page.screencastFrame', async ({ data, sessionId }) => {
      camera.#last = Buffer.from(data, 'base64');
      camera.#take();
      await session.send('Page.screencastFrameAck', { sessionId });
    });
    const { width: maxWidth, height: maxHeight } = MOVING.viewport;
    const how = { format: 'jpeg', quality: 95, maxWidth, maxHeight } as const;
    await session.send('Page.startScreencast', how);
    return camera;
  }

  /** Begins with what is on the screen. */
  async hold(ms: number): Promise<void> {
    this.#heldFromMs = performance.now();
    this.#take();
    await this.#page.waitForTimeout(ms);
    this.#filmedMs += ms;
    this.#heldFromMs = null;
  }

  async end(): Promise<Frame[]> {
    await this.#session.detach();
    return this.#taken.map(({ path, atMs }, index) => {
      const endMs = this.#taken[index + 1]?.atMs ?? this.#filmedMs;
      return { path, shownMs: Math.round(endMs - atMs) };
    });
  }

  #take(): void {
    if (this.#heldFromMs === null || this.#last === null) return;
    const atMs = this.#filmedMs + performance.now() - this.#heldFromMs;
    if (atMs - (this.#taken.at(-1)?.atMs ?? -Infinity) < MIN_SHOWN_MS) return;
    const path = join(this.#folder, `${String(this.#taken.length).padStart(4, '0')}.jpg`);
    writeFileSync(path, this.#last);
    this.#taken.push({ path, atMs });
  }
}

function encode(frames: readonly Frame[], folder: string, to: string): void {
  const list = join(folder, 'frames.txt');
  const lines = frames.map(({ path, shownMs }) => `file '${path}'\nduration ${shownMs / 1000}`);
  writeFileSync(list, `${lines.join('\n')}\nfile '${frames.at(-1)?.path}'\n`);
  const { width, height } = MOVING.viewport;
  for (const quality of QUALITIES) {
    const from = ['-y', '-v', 'error', '-f', 'concat', '-safe', '0', '-i', list];
    const size = ['-vf', `scale=${width}:${height}`, '-vsync', 'vfr'];
    const how = ['-c:v', 'libwebp_anim', '-quality', String(quality), '-loop', '0'];
    execFileSync('ffmpeg', [...from, ...size, ...how, to]);
    if (statSync(to).size <= MAX_BYTES) break;
  }
  const { size } = statSync(to);
  assert(size <= MAX_BYTES, `${size} bytes`);
  console.log(`${frames.length} frames, ${size} bytes`);
}

try {
  if (only !== 'film') await photograph();
  await film();
} finally {
  for (const end of ends) await end();
}
