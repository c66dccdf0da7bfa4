/**
 * The package as a stranger gets it: packed, installed into a project elsewhere, type-checked under
 * both ways of finding modules, and run. The four packages that it needs are packed from ours, so
 * that nothing is asked of a registry.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '../../src/client/index.ts';
import { startDevnet } from '../support/devnet.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Person } from './person.ts';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');
const DEADLINE_MS = 60_000;
const MOST_BYTES = 120_000;
/** What `npm pack` reads; it works on a copy, so that nothing changes here. */
const SOURCES = ['package.json', 'tsconfig.json', 'tsconfig.client.json', 'README.md', 'LICENSE'];
const FOLDERS = ['pack', 'src/client', 'src/cardano', 'src/market', 'src/runtime'];
const NEEDED = ['@msgpack/msgpack', '@noble/ed25519', '@noble/hashes', '@scure/base'];
const execute = promisify(execFile);

async function run(folder: string, command: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${join(MODULES, '.bin')}:${process.env.PATH}` };
  try {
    const { stdout } = await execute(command, args, { cwd: folder, env, timeout: 120_000 });
    return stdout;
  } catch (error) {
    const told = ['stdout', 'stderr'].map((name) => Reflect.get(Object(error), name));
    throw new Error(`${command} ${args.join(' ')}\n${told.join('\n')}`, { cause: error });
  }
}

interface PackedFile {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

async function pack(folder: string, ...args: string[]): Promise<PackedFile> {
  const told = await run(folder, 'npm', 'pack', '--json', '--silent', ...args);
  // trust: npm documents this shape; what is not there fails below
  const [file] = JSON.parse(told.slice(told.indexOf('['))) as PackedFile[];
  assert(file !== undefined);
  return { ...file, filename: join(folder, file.filename) };
}

/** Every program that README.md shows, and those in `examples/`, as the project of a stranger. */
function programs(): Map<string, string> {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
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
import { Client } from 'upcurve/client';
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

test('packed, installed elsewhere, type-checked and run', async (t) => {
  const copy = temporaryDirectory();
  for (const name of [...SOURCES, ...FOLDERS]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(MODULES, join(copy, 'node_modules'));
  const manifest = readFileSync(join(copy, 'package.json'), 'utf8');
  const packed = await pack(copy);
  assert(packed.size < MOST_BYTES, `${packed.size} bytes`);
  const outside = packed.files.filter(({ path }) => !/^(dist\/(client|cardano)|[A-Zp])/.test(path));
  assert.deepEqual(outside, [], 'nothing but the client is in it');
  assert.equal(readFileSync(join(copy, 'package.json'), 'utf8'), manifest, 'ours is back');

  const project = temporaryDirectory();
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const needed: string[] = [];
  for (const name of NEEDED) {
    needed.push((await pack(project, '--ignore-scripts', join(MODULES, name))).filename);
  }
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

  const url = await startDevnet(t);
  const client = new Client({ url });
  t.after(() => client.close());
  const person = new Person(client);
  await person.fund(900, 3, async () => {});
  const asset = await person.launch('Rocket', 100);
  const pool = client.pool(asset);
  await until('launched', () => pool.state !== null, DEADLINE_MS);
  let count = 0;
  for (const [name, text] of programs()) {
    if (!name.startsWith('readme')) continue;
    count += 1;
    writeFileSync(join(project, name), text.replaceAll('http://127.0.0.1:8080', url));
    const said = await run(project, process.execPath, name);
    assert.match(said, /Rocket \d+ lovelace|[0-9a-f]{64} buys \d+/, said);
  }
  assert(count >= 2, 'the README shows how to use it');
});
