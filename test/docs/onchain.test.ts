/** docs/onchain.md: its numbers equal the code's, and the sections that comments cite exist. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../src/engine/market/fees.ts';
import { quote, SIDES } from '../../src/engine/market/quote.ts';
import { AMM_AT_GRADUATION, curveAt } from '../engine/market/pools.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/onchain.md'), 'utf8');

/** Cells of the tables whose first cell `isMeant` takes. */
function rows(isMeant: (first: string) => boolean): string[][] {
  const lines = PAGE.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.map((line) => line.split('|').slice(1, -1));
  return cells
    .map((row) => row.map((cell) => cell.trim()))
    .filter(([first]) => isMeant(first ?? ''));
}

test('the terms are the defaults of the code, each of them', () => {
  const stated = new Map(
    rows((first) => first in DEFAULT_FEES).map(([term, value]) => [term, value]),
  );
  assert.equal(stated.size, Object.keys(DEFAULT_FEES).length);
  for (const [term, value] of Object.entries(DEFAULT_FEES)) {
    assert.equal(stated.get(term), String(value), term);
  }
  const { aNum, bNum, supply } = DEFAULT_CURVE;
  for (const [name, value] of Object.entries({ aNum, bNum, supply })) {
    assert.deepEqual(
      rows((first) => first === name).map((row) => row[1]),
      [String(value)],
      name,
    );
  }
});

const TRADE = /^(curve|AMM), .*: (\w+) (\d+)$/;

test('the trades of the table are what the server quotes', () => {
  const trades = rows((first) => TRADE.test(first));
  assert.equal(trades.length, 6);
  for (const [first = '', ...stated] of trades) {
    const [, venue, word, amount = ''] = TRADE.exec(first) ?? [];
    const side = SIDES.find((each) => each === word) ?? assert.fail(first);
    const pool = venue === 'AMM' ? AMM_AT_GRADUATION : curveAt(200_000_000n, 835_771_813n);
    const answer = quote(pool, DEFAULT_FEES, { side, amount: BigInt(amount), slippage: '15' });
    assert.ok(answer.outcome === 'quote', first);
    const { exchange, orderLovelace } = answer;
    const { percentFee, creator, platform } = exchange.shares;
    const fees = venue === 'AMM' ? `${creator} + ${platform}` : `${percentFee}`;
    const { inputAmount, poolCoinLovelace, outputAmount } = exchange;
    const computed = [inputAmount, fees, poolCoinLovelace, outputAmount, orderLovelace].map(String);
    assert.deepEqual(stated, computed, first);
  }
});

test('each heading that a comment cites is on the page', () => {
  const headings = [...PAGE.matchAll(/^## (.+)$|^\*\*([A-Z][^*.]+)\.\*\*/gm)].map(
    (m) => m[1] ?? m[2],
  );
  let cited = 0;
  for (const file of globSync('{src,test}/**/*.{ts,tsx,hl}', { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\s*\n\s*(\*|\/\/) ?/g, ' ');
    const quoted = text.matchAll(/onchain\.md, (?:sections? )?(?:"([^"]+)"|([A-Z][\w ]+))/g);
    for (const [, inQuotes, plain = ''] of quoted) {
      // Headings hold an "and" too: "Building and signing".
      const name = (inQuotes ?? plain).trim();
      const names = headings.includes(name) ? [name] : name.split(' and ');
      for (const each of names) assert.ok(headings.includes(each), `${file} cites “${each}”`);
      cited += 1;
    }
  }
  assert.ok(cited > 15, `${cited} citations were read`);
});
