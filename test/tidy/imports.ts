/** The house rules about imports; the map in src/README.md says the same in words. */
import { posix } from 'node:path';
import * as babel from '@babel/types';
import { childrenOf, type Finding, finding, type Source } from './source.ts';

/**
 * The rooms of src/, in order: a file may import its own room and those before it. Each has its
 * row in src/README.md.
 */
export const ROOMS = [
  'engine',
  'cardano',
  'chain',
  'cluster',
  'client',
  'traders',
  'devnet',
  'api',
  'web',
  'server',
] as const;

/** The folders of engine/, in order, by the same rule. */
const ENGINE_FOLDERS = [
  'engine/runtime',
  'engine/market',
  'engine/store',
  'engine/log',
  'engine/pools',
  'engine/directory',
  'engine/fold',
  'engine/recovery',
  'engine/node',
  'engine/snapshots',
  'engine/ingest',
];

/** Folders that may import less than their room does; a value is a folder or a file, no `.ts`. */
const NARROW: Readonly<Record<string, readonly string[]>> = {
  'engine/market': ['engine/runtime/assert', 'engine/runtime/json', 'engine/runtime/markup'],
  'api/gateway': ['api/http', 'api/ws', 'api/topics', 'engine/runtime'],
  'api/http': ['api/gateway', 'engine/runtime'],
  'api/ws': ['api/gateway', 'api/http', 'api/topics', 'engine/runtime'],
  devnet: ['cardano', 'engine/runtime', 'engine/store/database'],
};

/** Folders of `api/` that services share; every other one is a service, and those stay apart. */
const SHARED_BY_SERVICES = ['builder', 'gateway', 'http', 'images', 'schemas', 'topics', 'ws'];

/** Folders from which a browser's file may import. */
const FOR_BROWSERS = [
  'client',
  'web',
  'cardano/codec',
  'cardano/keys',
  'cardano/datums',
  'engine/market',
  'engine/runtime/abort',
  'engine/runtime/assert',
  'engine/runtime/backoff',
  'engine/runtime/clock',
  'engine/runtime/json',
  'engine/runtime/limits',
  'engine/runtime/markup',
];

/** Entry points: the process, the page, and the two exports of the package. */
export const PROCESS_ENTRY = 'src/server/main.ts';
export const BROWSER_ENTRIES = [
  'src/web/main.tsx',
  'src/client/index.ts',
  'src/client/datafeed/index.ts',
];

/** Packages with one import site, or one in each room: everything else goes through these. */
const ONE_SITE: Readonly<Record<string, string | readonly string[]>> = {
  'uWebSockets.js': 'src/api/gateway/server.ts',
  'better-sqlite3': 'src/engine/store/database.ts',
  scalus: 'src/cardano/ledger/scalus.ts',
  piscina: 'src/cardano/transactions/builderThreads.ts',
  '@nats-io/transport-node': 'src/cluster/nats/connection.ts',
  '@nats-io/jetstream': 'src/cluster/nats/stream.ts',
  '@nats-io/kv': 'src/cluster/nats/bucket.ts',
  '@nats-io/obj': 'src/cluster/snapshots/objectStore.ts',
  ws: [
    'src/chain/ogmios/connection.ts',
    'src/devnet/ogmios/server.ts',
    'src/server/cli/load/openSocket.ts',
  ],
  busboy: 'src/api/http/body.ts',
  'ipfs-unixfs-importer': 'src/api/images/cid.ts',
  '@resvg/resvg-js': 'src/api/card/renderProcess.ts',
  'lightweight-charts': ['src/web/chart/barChart.ts', 'src/web/chart/series.ts'],
};

interface Import {
  /** As written. */
  readonly specifier: string;
  /** From the root of the repository; null for packages. */
  readonly path: string | null;
  readonly node: babel.Node;
}

export function importsOf(source: Source): Import[] {
  const imports: Import[] = [];
  const visit = (node: babel.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== null) {
      const isFile = specifier.startsWith('.');
      const path = isFile ? posix.join(posix.dirname(source.path), specifier) : null;
      imports.push({ specifier, path, node });
    }
    childrenOf(node).forEach(visit);
  };
  visit(source.tree);
  return imports;
}

/** Imports, re-exports, and `new URL('./file.ts', import.meta.url)`, which starts a thread. */
function specifierOf(node: babel.Node): string | null {
  if (babel.isNewExpression(node) && babel.isIdentifier(node.callee, { name: 'URL' })) {
    const target = literal(node.arguments[0]);
    return target?.endsWith('.ts') ? target : null;
  }
  return 'source' in node ? literal(node.source) : null;
}

function literal(node: unknown): string | null {
  return babel.isStringLiteral(node as babel.Node) ? (node as babel.StringLiteral).value : null;
}

/** `src/api/charts/routes.ts` → `api/charts/routes`. */
function placeOf(path: string): string {
  return path.replace(/^src\//, '').replace(/\.tsx?$/, '');
}

function lies(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}

function isArrowBack(from: string, to: string): boolean {
  const [one, other] = [from, to].map((place) => {
    return ENGINE_FOLDERS.findIndex((folder) => lies(place, folder));
  });
  return (other ?? -1) > (one ?? -1) && (one ?? -1) >= 0;
}

function roomOf(place: string): number {
  return ROOMS.findIndex((room) => lies(place, room));
}

/** The service that a file belongs to: `charts`; null for what services share. */
function serviceOf(place: string): string | null {
  const [room, folder = ''] = place.split('/');
  return room === 'api' && !SHARED_BY_SERVICES.includes(folder) ? folder : null;
}

/** Why a file may not import another; null where it may. */
function forbidden(from: string, to: string): string | null {
  if (roomOf(to) > roomOf(from)) return `${from} lies before ${to} in the order of rooms`;
  if (isArrowBack(from, to)) return `${from} lies before ${to} in the order of engine/`;
  const folder = Object.keys(NARROW).find((name) => lies(from, name));
  if (folder !== undefined && !lies(to, folder)) {
    const isNamed = NARROW[folder]?.some((name) => lies(to, name)) ?? false;
    if (!isNamed) return `${folder} may not import ${to}`;
  }
  const [one, other] = [serviceOf(from), serviceOf(to)];
  if (one !== null && other !== null && one !== other) return `services stay apart: ${to}`;
  return null;
}

/** Imports against the order of rooms or the rules beside it. */
export function wrongWays(source: Source): Finding[] {
  const from = placeOf(source.path);
  if (roomOf(from) < 0) return [finding(source, source.tree, `${from} lies in no room`)];
  return importsOf(source).flatMap(({ path, node }) => {
    const reason = path === null ? null : forbidden(from, placeOf(path));
    return reason === null ? [] : [finding(source, node, reason)];
  });
}

/** Time, processes, disks and NATS of simulations: made for any program, so they know none. */
const MADE_FOR_ANY = ['test/sim/machine', 'test/sim/nats'];
/** Types of ports, and modules that are as general. */
const GENERAL = ['src/engine/runtime/clock', 'src/engine/runtime/rng'];

/** A simulation imports only its own folders and the market's ports. Tests beside it are free. */
export function marketInSimulation(source: Source): Finding[] {
  const isOfAny = MADE_FOR_ANY.some((folder) => lies(source.path, folder));
  if (!isOfAny || source.path.endsWith('.test.ts')) return [];
  return importsOf(source).flatMap(({ path, node }) => {
    const to = path?.replace(/\.ts$/, '') ?? null;
    if (to === null || [...MADE_FOR_ANY, ...GENERAL].some((place) => lies(to, place))) return [];
    return [finding(source, node, `a simulation of any program may not import ${path}`)];
  });
}

/** Modules that start processes, servers and connections. */
const NOT_IN_UNIT_TESTS = [
  'node:child_process',
  'node:http',
  '@nats-io/transport-node',
  'piscina',
  'playwright-core',
  'uWebSockets.js',
  'ws',
];

/**
 * Unit tests (`*.unit.test.ts`) that load what affects others: they all run in one process.
 * A module behind `import()` does not count: only tests that run its command load it.
 */
export function impureUnitTests(sources: readonly Source[]): Finding[] {
  const loads = new Map(sources.map((source) => [source.path, unitImports(source)]));
  const units = sources.filter(({ path }) => path.endsWith('.unit.test.ts'));
  return units.flatMap((source) => {
    const loaded = [...reachedOver(loads, [source.path])];
    const packages = loaded.flatMap((path) => loads.get(path) ?? []).map((each) => each.specifier);
    const effect = NOT_IN_UNIT_TESTS.find((name) => packages.includes(name));
    if (effect === undefined) return [];
    return [finding(source, source.tree, `loads ${effect}: name it without .unit`)];
  });
}

function unitImports(source: Source): Import[] {
  return importsOf(source).filter((each) => isValue(each) && !isLate(each.node));
}

/** Imports that are followed before the file runs: not types, not `import()`, no threads. */
export function startImports(source: Source): Import[] {
  return importsOf(source).filter((each) => {
    return !babel.isNewExpression(each.node) && !isLate(each.node) && isValue(each);
  });
}

function isLate(node: babel.Node): boolean {
  return babel.isImportExpression(node) || babel.isCallExpression(node);
}

function isValue({ node }: Import): boolean {
  if (babel.isTSImportType(node)) return false;
  return !('importKind' in node && node.importKind === 'type') && !isTypeExport(node);
}

function isTypeExport(node: babel.Node): boolean {
  return 'exportKind' in node && node.exportKind === 'type';
}

/** Files that a browser loads and that come from where only the server may take from. */
export function unfitForBrowsers(sources: readonly Source[]): Finding[] {
  const reached = reachedFrom(sources, BROWSER_ENTRIES);
  return [...reached]
    .filter((path) => !FOR_BROWSERS.some((folder) => lies(placeOf(path), folder)))
    .map((path) => ({ path, line: 1, rule: 'a browser loads this; see FOR_BROWSERS' }));
}

export function secondSites(source: Source): Finding[] {
  return importsOf(source).flatMap(({ specifier, node }) => {
    const sites = [ONE_SITE[specifier] ?? source.path].flat();
    if (sites.includes(source.path)) return [];
    return [finding(source, node, `${specifier} is imported by ${sites.join(' and ')} only`)];
  });
}

function reachedFrom(sources: readonly Source[], entries: readonly string[]): Set<string> {
  return reachedOver(new Map(sources.map((each) => [each.path, importsOf(each)])), entries);
}

/** Paths of files that exist and that imports lead to, the entries included. */
export function reachedOver(
  imports: ReadonlyMap<string, readonly Import[]>,
  entries: readonly string[],
): Set<string> {
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const found = imports.get(path);
    if (found === undefined || reached.has(path)) continue;
    reached.add(path);
    waiting.push(...found.flatMap((each) => each.path ?? []));
  }
  return reached;
}

/** Files that no import leads to, starting from `entries`. */
export function unreachable(sources: readonly Source[], ...entries: readonly string[]): Finding[] {
  const paths = new Set(sources.map(({ path }) => path));
  const missing = entries.find((entry) => !paths.has(entry));
  if (missing !== undefined) return [{ path: missing, line: 1, rule: 'the entry does not exist' }];
  const reached = reachedFrom(sources, entries);
  return sources
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => ({ path, line: 1, rule: `no import leads here from ${entries}` }));
}
