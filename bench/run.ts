/**
 * `npm run bench [-- names…] [--quick] [--seconds=…]`: runs the named benches, or all, prints their
 * tables and puts them into RESULTS.md. `--quick` takes short windows, prints, and leaves
 * RESULTS.md alone. `--seconds` is how long the page stays open,
 * `--minutes` how long soak and memory run, which are run by name only.
 */
import { books } from './books.ts';
import { coldHistory } from './coldHistory.ts';
import { expensiveRequests } from './expensiveRequests.ts';
import { fanOut } from './fanOut.ts';
import { foldTrades } from './foldTrades.ts';
import { http } from './http.ts';
import { idleSockets } from './idleSockets.ts';
import { livePipe } from './livePipe.ts';
import { loopDelay } from './loopDelay.ts';
import { memory } from './memory.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { readers } from './readers.ts';
import { soak } from './soak.ts';
import { FULL, markdown, QUICK } from './support/bench.ts';
import { drawPeers } from './support/peersChart.ts';
import { record } from './support/results.ts';
import { sync } from './sync.ts';

const BENCHES = [
  peers,
  foldTrades,
  fanOut,
  livePipe,
  http,
  coldHistory,
  idleSockets,
  readers,
  loopDelay,
  expensiveRequests,
  sync,
  books,
  page,
];

/** Run by name only, and only printed: they take an hour. */
const BY_NAME = [soak, memory];

// `--minutes N` is `--minutes=N`.
const args = process.argv
  .slice(2)
  .join(' ')
  .replace(/--minutes (\d)/, '--minutes=$1')
  .split(' ')
  .filter(Boolean);
const isQuick = args.includes('--quick');
const names = args.filter((arg) => !arg.startsWith('--'));
const seconds = args.find((arg) => arg.startsWith('--seconds='))?.slice('--seconds='.length);
const scale = isQuick ? QUICK : FULL;
const visitSeconds = seconds === undefined ? scale.visitSeconds : Number(seconds);
const minutes = args.find((arg) => arg.startsWith('--minutes='))?.slice('--minutes='.length);
const soakMinutes = minutes === undefined ? scale.soakMinutes : Number(minutes);
const all = [...BENCHES, ...BY_NAME];
const known = all.map(({ name }) => name);
const options = args.filter(
  (arg) => arg.startsWith('--') && !/^--(quick|(seconds|minutes)=\d+)$/.test(arg),
);
const unknown = [...names.filter((name) => !known.includes(name)), ...options];

if (unknown.length > 0) {
  process.stderr.write(`No bench ${unknown.join(', ')}; there are ${known.join(', ')}.\n`);
  process.exitCode = 2;
} else {
  const chosen = names.length === 0 ? BENCHES : all.filter(({ name }) => names.includes(name));
  for (const bench of chosen) {
    const progress = (what: string) => process.stderr.write(`${bench.name}: ${what}\n`);
    const table = await bench.measure({ ...scale, visitSeconds, soakMinutes }, progress);
    const notes = table.notes.map((note) => `- ${note}\n`).join('');
    process.stdout.write(`\n${bench.name}\n\n${markdown(table)}\n\n${notes}`);
    if (!isQuick && !BY_NAME.includes(bench)) record(bench.name, table);
    if (!isQuick && bench === peers) drawPeers();
  }
}
