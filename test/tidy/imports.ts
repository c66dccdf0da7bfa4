/** The house rules about who imports whom; the map in src/README.md says the same in words. */
import { posix } from 'node:path';
import ts from 'typescript';
import { type Finding, finding, type Source } from './source.ts';

/**
 * Stage → what it may import beside itself and packages: a stage (`runtime`) or one file of a stage
 * (`gateway/port`). Each folder of services is a stage of its own under the rule of `services`.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  config: ['cardano', 'market', 'runtime'],
  market: ['runtime/assert', 'runtime/json'],
  cardano: ['market', 'runtime/assert'],
  validators: ['runtime/assert'],
  store: ['market', 'runtime'],
  nats: ['runtime'],
  log: ['store', 'nats', 'market/events', 'runtime'],
  gateway: ['topics/port', 'runtime'],
  topics: ['gateway/port', 'gateway/frame', 'gateway/observer', 'runtime'],
  actors: ['store', 'log', 'market', 'topics/port', 'runtime'],
  ingest: ['actors', 'log', 'market', 'store', 'runtime'],
  ledger: ['chain/port', 'validators', 'cardano', 'market', 'store/database', 'runtime'],
  chain: ['ledger', 'actors', 'log', 'store', 'cardano', 'market', 'runtime'],
  transactions: ['ledger', 'chain/port', 'cardano', 'market', 'runtime'],
  cluster: ['nats', 'log', 'actors', 'chain', 'store', 'cardano', 'runtime'],
  executor: ['transactions', 'chain', 'actors/chainRows', 'store', 'cardano', 'market', 'runtime'],
  images: ['runtime'],
  workshop: ['transactions', 'chain', 'images/port', 'store', 'cardano', 'runtime'],
  shapes: ['actors/fold', 'store', 'market'],
  services: [
    'gateway/port',
    'topics/port',
    'shapes',
    'workshop',
    'transactions',
    'chain',
    'images',
    'actors',
    'store',
    'cardano',
    'market',
    'runtime',
    'web/main',
  ],
  client: ['cardano'],
  web: ['client', 'wallet/inspect', 'cardano', 'market', 'runtime/clock'],
  wallet: ['transactions/witness', 'cardano', 'market', 'runtime'],
  traders: ['wallet', 'cardano', 'market', 'runtime'],
  assembly: ['everything'],
  cli: [
    'app',
    'config',
    'gateway/port',
    'topics',
    'services',
    'ingest',
    'traders',
    'wallet',
    'client',
    'web/format',
    'web/token/statuses',
    'transactions',
    'chain',
    'ledger',
    'actors',
    'log',
    'store',
    'cardano',
    'market',
    'runtime',
  ],
  app: ['everything'],
  main: ['everything'],
};

/** Packages with one import site: everything else goes through that file. */
export const ONE_SITE: Readonly<Record<string, string>> = {
  'uWebSockets.js': 'src/api/gateway/server.ts',
  'better-sqlite3': 'src/engine/store/database.ts',
  scalus: 'src/cardano/ledger/scalus.ts',
  piscina: 'src/cardano/build/pool.ts',
  '@nats-io/transport-node': 'src/cluster/nats/connection.ts',
  '@nats-io/jetstream': 'src/cluster/nats/stream.ts',
  '@nats-io/kv': 'src/cluster/nats/bucket.ts',
  '@nats-io/obj': 'src/cluster/nats/objects.ts',
  busboy: 'src/api/http/form.ts',
  'ipfs-unixfs-importer': 'src/api/imageStore/cid.ts',
  '@cardano-ogmios/client': 'src/chain/ogmios/connection.ts',
  'lightweight-charts': 'src/web/token/barChart.ts',
};

interface Import {
  /** As written. */
  readonly specifier: string;
  /** From the root of the repository; null for packages. */
  readonly path: string | null;
  readonly node: ts.Node;
}

export function importsOf(source: Source): Import[] {
  const imports: Import[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== null) {
      const isFile = specifier.startsWith('.');
      const path = isFile ? posix.join(posix.dirname(source.path), specifier) : null;
      imports.push({ specifier, path, node });
    }
    ts.forEachChild(node, visit);
  };
  visit(source.tree);
  return imports;
}

/** Imports, re-exports, and `new URL('./file.ts', import.meta.url)`: how a thread is begun. */
function specifierOf(node: ts.Node): string | null {
  if (ts.isNewExpression(node) && node.expression.getText() === 'URL') {
    const [target] = node.arguments ?? [];
    const isCode =
      target !== undefined && ts.isStringLiteral(target) && target.text.endsWith('.ts');
    return isCode ? target.text : null;
  }
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    const { moduleSpecifier } = node;
    return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier)
      ? moduleSpecifier.text
      : null;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return ts.isStringLiteral(node.argument.literal) ? node.argument.literal.text : null;
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) {
    return null;
  }
  const [first] = node.arguments;
  return first !== undefined && ts.isStringLiteral(first) ? first.text : null;
}

/** `src/api/charts/routes.ts` → `services/charts`; `src/server/app.ts` → `app`. */
export function stageOf(path: string): string {
  const [, top = '', next = ''] = path.split('/');
  if (top === 'services') return `${top}/${next}`;
  return top.replace(/\.ts$/, '');
}

/** Imports against the direction of the map. */
export function wrongWays(source: Source): Finding[] {
  const stage = stageOf(source.path);
  const allowed = MAY_IMPORT[stage.split('/')[0] ?? ''];
  if (allowed === undefined) {
    return [finding(source, source.tree, `stage ${stage} has no import rule in tidy/imports.ts`)];
  }
  return importsOf(source).flatMap(({ path, node }) => {
    if (path === null || stageOf(path) === stage || allowed.includes('everything')) return [];
    const file = path.replace(/^src\//, '').replace(/\.ts$/, '');
    if (allowed.some((name) => file === name || file.startsWith(`${name}/`))) return [];
    return [finding(source, node, `${stage} may not import ${file}`)];
  });
}

export function secondSites(source: Source): Finding[] {
  return importsOf(source).flatMap(({ specifier, node }) => {
    const home = ONE_SITE[specifier];
    if (home === undefined || home === source.path) return [];
    return [finding(source, node, `${specifier} is imported by ${home} only`)];
  });
}

/** Files that no import leads to, starting from `entries`. */
export function unreachable(sources: readonly Source[], ...entries: readonly string[]): Finding[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const missing = entries.find((entry) => !byPath.has(entry));
  if (missing !== undefined) return [{ path: missing, line: 1, rule: 'the entry does not exist' }];
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = byPath.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    waiting.push(...importsOf(source).flatMap((found) => found.path ?? []));
  }
  return sources
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => ({ path, line: 1, rule: `no import leads here from ${entries}` }));
}
