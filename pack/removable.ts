/**
 * Which files of an installed `node_modules` the server never reads.
 *
 * Always: native binaries for other systems, and C headers and sources that nothing compiles here.
 * In a production install also what only developers read: type declarations, source maps, tests.
 *
 * Assumes: the packages run on this machine, with this processor and the Node of package.json.
 * Never:   licences, and never a package's last binary: where none fits this system, all stay.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

/** Version of the binary interface of Node 22, the one that package.json asks for. */
export const NODE_ABI = '127';

export interface Target {
  readonly platform: string;
  readonly arch: string;
}

const DEVELOPERS_FILES = ['**/*.map', '**/*.{ts,mts,cts}', '**/*.{md,markdown}', '**/*.h'];
const DEVELOPERS_FOLDERS =
  '{test,tests,__tests__,bench,benchmark,benchmarks,doc,docs,example,examples}';
const LICENCE = /^(licen[cs]e|copying|copyright|notice|authors)/i;

/** Paths of files and folders below `modules`; where `isProduction`, for developers too. */
export function removable(modules: string, target: Target, isProduction: boolean): string[] {
  const found = [
    ...foreignServers(modules, target),
    ...foreignDatabases(modules),
    ...otherTypefaces(modules),
    ...find(modules, 'node/node_modules/node-*/{include,share}'),
  ];
  if (!isProduction) return found;
  return [...found, ...otherForms(modules), ...packagesIn(modules).flatMap(forDevelopers)];
}

/** uWebSockets.js: a file for each platform, processor and version of Node. */
function foreignServers(modules: string, { platform, arch }: Target): string[] {
  const binaries = find(modules, 'uWebSockets.js/**/uws_*.node');
  const own = `uws_${platform}_${arch}_${NODE_ABI}.node`;
  return allBut(binaries, (path) => basename(path) === own);
}

/** better-sqlite3: it says itself which of its files it loads. A binary built here comes first. */
function foreignDatabases(modules: string): string[] {
  const home = join(modules, 'better-sqlite3');
  const loader = join(home, 'lib/binding.js');
  if (!existsSync(loader)) return [];
  const { getPrebuildPath } = createRequire(loader)(loader);
  const own: unknown = typeof getPrebuildPath === 'function' ? getPrebuildPath() : null;
  if (typeof own !== 'string' || !existsSync(own)) return [];
  const others = allBut(find(home, 'prebuilds/*.node'), (path) => path === own);
  return [...others, ...find(home, '{deps/sqlite3,src}')];
}

/** Pictures of tokens are set in one typeface, in two weights, with the emoji of another (src/api/card/renderProcess.ts). */
function otherTypefaces(modules: string): string[] {
  const own = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'];
  const files = find(modules, 'dejavu-fonts-ttf/ttf/*.ttf');
  const others = allBut(files, (path) => own.includes(basename(path)));
  const emoji = find(modules, '@expo-google-fonts/noto-emoji/*/');
  return [
    ...others,
    ...find(modules, 'dejavu-fonts-ttf/{*.txt,NEWS,fontconfig}'),
    ...allBut(emoji, (path) => basename(path) === '700Bold'),
    ...find(modules, '@expo-google-fonts/noto-emoji/**/*.png'),
  ];
}

/** The SDK of MCP and what it loads are loaded as modules only. */
function otherForms(modules: string): string[] {
  const forms = ['@modelcontextprotocol/sdk/dist/cjs', 'hono/dist/cjs', 'zod/src'];
  return [...forms.flatMap((form) => find(modules, form)), ...find(modules, 'zod/**/*.cjs')];
}

/** All paths but the wanted ones; none where nothing is wanted. */
function allBut(paths: readonly string[], isWanted: (path: string) => boolean): string[] {
  return paths.some(isWanted) ? paths.filter((path) => !isWanted(path)) : [];
}

/** Folders of packages, nested ones too. */
export function packagesIn(modules: string): string[] {
  const homes = find(modules, '{[!@.]*,@*/*}/package.json').map((path) => join(path, '..'));
  return homes.flatMap((home) => [home, ...packagesIn(join(home, 'node_modules'))]);
}

function forDevelopers(home: string): string[] {
  const { main, exports, bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const entries = JSON.stringify({ main, exports, bin });
  const licences = find(home, '*').filter((path) => LICENCE.test(basename(path)));
  const isNested = (path: string) => path.slice(home.length).includes('/node_modules/');
  const files = DEVELOPERS_FILES.flatMap((pattern) => find(home, pattern)).filter((path) => {
    if (isNested(path) || LICENCE.test(basename(path))) return false;
    // Some packages have their licence at the end of the README only.
    return licences.length > 0 || !/^readme/i.test(basename(path));
  });
  const folders = find(home, DEVELOPERS_FOLDERS).filter(
    (path) => !new RegExp(`["/]${basename(path)}/`).test(entries),
  );
  return [...files, ...folders, ...find(home, 'dist/lightweight-charts.*development.*')];
}

function find(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder }).map((path) => join(folder, path));
}
