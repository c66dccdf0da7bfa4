/**
 * Records the past of a new devnet: `node --import ./pack/useStripped.mjs scripts/recordHistory.ts`
 * plays thirty hours of the simulated traders and writes config/history.br with its checksum. Run
 * it when test/history/history.test.ts says that validators or traders changed.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import type { RecordedHistory } from '../src/devnet/history.ts';
import { fingerprint } from '../test/history/fingerprint.ts';
import { playDay, RECORDED_SLOT_MS } from '../test/history/market.ts';
import type { SimMarket } from '../test/sim/chain/simMarket.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '13' },
    file: { type: 'string', default: join(import.meta.dirname, '../config/history.br') },
  },
});
/** The setting's default: the scripts of a market are compiled with it. */
const REFUND_AFTER_MS = 1_200_000;
const SLOT_MS = 1_000;
const SLOTS = RECORDED_SLOT_MS / SLOT_MS;

const options = {
  seed: Number(values.seed),
  refundAfterMs: REFUND_AFTER_MS,
  say: (text: string) => console.log(text),
};
await playDay(options, async (market, _node, images) => {
  const history = recorded(market, images);
  const text = Buffer.from(JSON.stringify(history));
  const bytes = brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  });
  writeFileSync(values.file, bytes);
  writeFileSync(`${values.file}.sha256`, `${hash('sha256', bytes)}\n`);
  const transactions = history.blocks.flatMap(([, list]) => list).length;
  const size = `${(bytes.length / 2 ** 20).toFixed(2)} MiB`;
  console.log(`${history.blocks.length} blocks, ${transactions} transactions, ${size}`);
});
process.exit(0);

function recorded({ devnet, keysFile }: SimMarket, images: string): RecordedHistory {
  const { core } = devnet;
  if (core === null) throw new Error('the devnet runs');
  const { file, ledger } = core;
  const blocks: [number, string[]][] = [];
  for (let height = 1; height <= ledger.height; height += 1) {
    const head = file.head(height);
    const transactions = file.transactionsOf(height);
    if (head === null || transactions.length === 0) continue;
    // Not all at full minutes: a block comes somewhere in its 20 seconds.
    const slot = head.slot * SLOTS + (Number.parseInt(head.hash.slice(0, 4), 16) % SLOTS);
    blocks.push([slot, transactions.map(({ bytes }) => Buffer.from(bytes).toString('hex'))]);
  }
  const pictures = readdirSync(images).map((cid) => {
    return [cid, readFileSync(join(images, cid)).toString('base64')] as const;
  });
  return {
    slotMs: SLOT_MS,
    lastSlot: (ledger.blockSlot + 1) * SLOTS,
    made: fingerprint(REFUND_AFTER_MS, JSON.parse(readFileSync(keysFile, 'utf8'))),
    keys: JSON.parse(readFileSync(keysFile, 'utf8')),
    blocks,
    pictures: Object.fromEntries(pictures),
  };
}
