/**
 * The programs in `examples/`, as they are, and the package as a stranger gets it: packed,
 * installed into a project elsewhere, type-checked under both ways of finding modules, and run. The
 * four packages that it needs are packed from ours, so that nothing is asked of a registry.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '../../src/client/index.ts';
import { startDevnet } from '../support/devnet.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Person } from './person.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const DEADLINE_MS = 60_000;
const MAX_BYTES = 150_000;
/** Files and folders that `npm pack` reads; it works on a copy, so that nothing changes here. */
const SOURCES = ['package.json', 'tsconfig.json', 'tsconfig.client.json', 'README.md', 'LICENSE'];
const FOLDERS = ['pack', 'src/client', 'src/cardano', 'src/engine/market', 'src/engine/runtime'];
const NEEDED = ['@msgpack/msgpack', '@noble/ed25519', '@noble/hashes', '@scure/base'];
const execute = promisify(execFile);

async function run(folder: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(MODULES, '.bin')}:${process.env.PATH}` };
  try {
    const { stdout } = await execute(command, args, { cwd: folder, env, timeout: 120_000 });
    return stdout;
  } catch (error) {
    const output = ['stdout', 'stderr'].map((name) => Reflect.get(Object(error), name));
    throw new Error(`${command} ${args.join(' ')}\n${output.join('\n')}`, { cause: error });
  }
}

interface PackedFile {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folder: string, ...args: string[]): Promise<PackedFile[]> {
  const output = await run(folder, 'npm', 'pack', '--json', '--silent', ...args);
  // trust: npm documents this shape; a missing field fails below
  const files = JSON.parse(output.slice(output.indexOf('['))) as PackedFile[];
  return files.map((file) => ({ ...file, filename: join(folder, file.filename) }));
}

/** Every program in README.md, docs/client.md and `examples/`, as the project of a stranger. */
function programs(): Map<string, string> {
  const pages = ['README.md', 'docs/client.md'];
  const readme = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
  const shown = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text = '']) => text);
  const found = new Map(shown.map((text, index) => [`readme${index + 1}.ts`, text]));
  for (const name of ['priceWatcher.ts', 'gridBot.ts']) {
    const text = readFileSync(join(ROOT, 'examples', name), 'utf8');
    found.set(name, text.replace('../src/client/index.ts', 'upcurve/client'));
  }
  return found;
}

const CHART = `
import { type IChartApi, type ISeriesApi } from 'lightweight-charts';
import { Client } from 'upcurve';
import { drawBars, tradingViewDatafeed } from 'upcurve/datafeed';

type Candles = ISeriesApi<'Candlestick'>;
export function draw(chart: IChartApi, candles: Candles, volume: ISeriesApi<'Histogram'>) {
  const client = new Client({ url: 'http://127.0.0.1:8080', encoding: 'msgpack' });
  const bars = client.bars({ base: '00', quote: '.' }, 'hour1', { kind: 'mcap' });
  const drawing = drawBars(bars, { candles, volume, timeScale: chart.timeScale() });
  return { drawing, feed: tradingViewDatafeed(client) };
}
// @ts-expect-error: no such list
new Client({ url: '' }).pools('Nonsense');
`;

function check(folder: string, name: string, options: object): Promise<string> {
  const common = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2023' };
  const typeRoots = [join(MODULES, '@types')];
  const compilerOptions = { ...common, typeRoots, ...options };
  writeFileSync(join(folder, name), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  return run(folder, process.execPath, join(MODULES, 'typescript/bin/tsc'), '-p', name);
}

/** The market of all programs. */
const url = await startDevnet({ after });
const client = new Client({ url });
after(() => client.close());
const person = new Person(client);
await person.fund(900, 6, async () => {});
const asset = await person.launch('Rocket', 100);
const pool = client.pool(asset);
await until('launched', () => pool.state !== null, DEADLINE_MS);

test('packed, installed elsewhere, type-checked and run', async () => {
  const copy = temporaryDirectory();
  for (const name of [...SOURCES, ...FOLDERS]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(MODULES, join(copy, 'node_modules'));
  const manifest = readFileSync(join(copy, 'package.json'), 'utf8');
  const [packed] = await pack(copy);
  assert(packed !== undefined);
  assert(packed.size < MAX_BYTES, `${packed.size} bytes`);
  const outside = packed.files.filter(
    ({ path }) => !/^(dist\/(client|cardano|engine)|[A-Zp])/.test(path),
  );
  assert.deepEqual(outside, [], 'nothing but the client is in it');
  assert.equal(readFileSync(join(copy, 'package.json'), 'utf8'), manifest, 'ours is back');

  const project = temporaryDirectory();
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const places = NEEDED.map((name) => join(MODULES, name));
  const needed = (await pack(project, '--ignore-scripts', ...places)).map((file) => file.filename);
  assert.equal(needed.length, NEEDED.length);
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--offline'];
  await run(project, 'npm', 'install', ...quiet, packed.filename, ...needed);
  for (const [name, text] of programs()) writeFileSync(join(project, name), text);

  const node = { types: ['node'], module: 'nodenext', moduleResolution: 'nodenext' };
  // DOM and Node may not agree on every name of the platform, so each is checked alone.
  await check(project, 'node.json', { ...node, lib: ['es2023'] });
  const chart = join(project, 'node_modules/lightweight-charts');
  mkdirSync(chart);
  cpSync(join(MODULES, 'lightweight-charts'), chart, { recursive: true });
  cpSync(join(MODULES, 'fancy-canvas'), join(project, 'node_modules/fancy-canvas'), {
    recursive: true,
  });
  writeFileSync(join(project, 'chart.ts'), CHART);
  for (const name of programs().keys()) writeFileSync(join(project, name), 'export {};');
  const browser = { types: [], module: 'preserve', moduleResolution: 'bundler' };
  await check(project, 'browser.json', { ...browser, lib: ['es2023', 'dom', 'dom.iterable'] });
  for (const [name, text] of programs()) writeFileSync(join(project, name), text);

  let count = 0;
  for (const [name, text] of programs()) {
    if (!name.startsWith('readme')) continue;
    count += 1;
    writeFileSync(join(project, name), text.replaceAll('http://127.0.0.1:8080', url));
    const said = await run(project, process.execPath, name);
    assert.match(said, /Rocket \d+ lovelace|[0-9a-f]{64} buys \d+/, said);
  }
  assert(count >= 2, 'the pages show how to use it');
});

const MAX_LINES = 60;

interface Running {
  text: string;
  code: number | null;
}

function runExample(scope: Scope, name: string, args: readonly string[]): Running {
  const file = join(ROOT, 'examples', name);
  assert(readFileSync(file, 'utf8').split('\n').length <= MAX_LINES + 1);
  const child = spawn(process.execPath, [file, ...args], { cwd: ROOT });
  const running: Running = { text: '', code: null };
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      running.text += text;
    });
  }
  child.on('close', (code) => {
    running.code = code ?? -1;
  });
  scope.after(() => void child.kill());
  return running;
}

/** Resolves when it has ended well; `meanwhile` is done again and again until then. */
async function ended(running: Running, meanwhile: () => Promise<unknown>): Promise<string> {
  const startMs = performance.now();
  while (running.code === null && performance.now() - startMs < DEADLINE_MS) await meanwhile();
  await until(
    () => `it ends: ${running.text}`,
    () => running.code !== null,
  );
  assert.equal(running.code, 0, running.text);
  return running.text;
}

test('the price watcher and the grid bot do what they say', async (t) => {
  const mine = client.userOrders(person.address);
  /** One order of another trader at a time; the price goes up and down. */
  let isBuy = false;
  const move = async () => {
    isBuy = !isBuy;
    const request = { assetId: asset, slippage: 'infinity' } as const;
    const id = await (isBuy
      ? person.order({ ...request, side: 'BUY', amount: '300000000' })
      : person.order({ ...request, side: 'SELL', amount: '90000000' }));
    const isOver = () => mine.state.ledger.some((each) => each.entityId === id && each.evaluatedAt);
    await until('the market moves', () => isOver() === true, DEADLINE_MS);
  };
  const watcher = runExample(t, 'priceWatcher.ts', [url, '', '3']);
  const watched = await ended(watcher, move);
  assert.match(watched, /^Rocket \(COIN\), in ADA, minute by minute:\n/);
  assert.equal(watched.match(/^\d\d:\d\d {2}0\.0\d+ {2}low /gm)?.length, 3, watched);

  const bot = runExample(t, 'gridBot.ts', [url, asset, '3', '1']);
  const traded = await ended(bot, move);
  assert.match(traded, /^BUY 10000000: Evaluated, received \d+$/m);
  assert.match(traded, /^SELL \d+: (Evaluated|Refunded), received \d+$/m);
});

test('the comparison finds what differs between two sources, and nothing else', async () => {
  const file = join(ROOT, 'examples/compareMarkets.ts');
  const compare = async (...args: string[]) => {
    const env = { ...process.env, COMPARE_WAIT_MS: '200' };
    const child = spawn(process.execPath, [file, ...args], { cwd: ROOT, env });
    let text = '';
    for (const output of [child.stdout, child.stderr]) {
      output.setEncoding('utf8').on('data', (said: string) => {
        text += said;
      });
    }
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, lines: text.trimEnd().split('\n') };
  };
  assert.deepEqual(await compare(url, url), {
    code: 0,
    lines: ['1 tokens compared, 0 differences'],
  });
  const snapshot = join(temporaryDirectory(), 'market.ndjson');
  assert.equal((await compare(url, '--write', snapshot)).code, 0);
  const kept = readFileSync(snapshot, 'utf8');
  assert.equal((await compare(url, snapshot)).code, 0, 'nothing is traded meanwhile');
  const facts = JSON.parse(kept);
  const [trade = ''] = Object.keys(facts.trades);
  const [holder = ''] = Object.keys(facts.holders);
  const { [trade]: moved, ...trades } = facts.trades;
  const planted = {
    ...facts,
    ...{ trades, reserves: { ...facts.reserves, x: '1' } },
    holders: { ...facts.holders, [holder]: '7', addr_other: '8' },
  };
  writeFileSync(snapshot, `${JSON.stringify(planted)}\n`);
  const { code, lines } = await compare(url, snapshot);
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    `${asset}: reserves: x: ${facts.reserves.x} here, 1 there`,
    `${asset}: trades: ${trade}: ${moved}, only here`,
    `${asset}: holders: ${holder}: ${facts.holders[holder]} here, 7 there`,
    `${asset}: holders: addr_other: 8, only there`,
    '1 tokens compared, 4 differences',
  ]);
  writeFileSync(snapshot, `${JSON.stringify({ asset })}\n`);
  assert.equal((await compare(url, snapshot)).code, 0, 'what a source leaves out is not compared');
  const gone = await compare('http://127.0.0.1:1', snapshot);
  assert.equal(gone.code, 2);
  assert.match(gone.lines.join(), /^cannot compare: /);
});
