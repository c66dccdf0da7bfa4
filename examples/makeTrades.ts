/**
 * Makes `examples/trades.ndjson.gz`: an hour of invented trades of three tokens against the coin, from
 * a fixed seed. `node examples/makeTrades.ts | gzip -9n > examples/trades.ndjson.gz`
 */
import { seededRng } from '../src/engine/runtime/rng.ts';

const START_MS = Date.UTC(2026, 0, 5, 12);
const TOKENS = ['Rocket', 'Otter', 'Moss'].map((name, index) => {
  const policy = (index + 1).toString(16).padStart(2, '0').repeat(28);
  return { asset: `${policy}.${Buffer.from(name).toString('hex')}`, price: 2_545_182 };
});

const rng = seededRng(2026);
for (let timeMs = START_MS, id = 1; timeMs < START_MS + 3_600_000; id += 1) {
  const token = TOKENS[Math.floor(rng.unit() * TOKENS.length)];
  if (token === undefined) break;
  const step = Math.floor((rng.unit() - 0.49) * 20_000);
  token.price = Math.max(100_000, token.price + step);
  const tokens = BigInt(1_000 + Math.floor(rng.unit() ** 3 * 2_000_000));
  const line = {
    id: String(id),
    timeMs,
    base: token.asset,
    quote: '.',
    baseDecimals: 0,
    quoteDecimals: 6,
    baseAmount: String(tokens),
    // The price is in millionths of a lovelace; a trade is at least one lovelace.
    quoteAmount: String((tokens * BigInt(token.price)) / 1_000_000n + 1n),
    side: step > 0 ? 'buy' : 'sell',
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  timeMs += Math.floor(rng.unit() ** 2 * 2_500);
}
