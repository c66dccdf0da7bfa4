/**
 * The page as the files that a browser loads: a script and what it begins with, one stylesheet, one
 * icon, and scripts for later: the views beside the market's lists, and each language but English.
 * Each is named after its content. esbuild makes them in memory when
 * they are first wanted, so there is no build step, and a browser may cache each of them for good.
 * No content delivery network: the page works without internet.
 */
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildOptions, build, type OutputFile, stop } from 'esbuild';
import { assert } from '../../engine/runtime/assert.ts';

export interface PageFile {
  /** `main-9C1D0B5E.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: Uint8Array;
  /** The body compressed. */
  readonly encoded: { readonly br: Uint8Array; readonly gzip: Uint8Array };
}

export interface PageFiles {
  readonly script: PageFile;
  /** Other scripts that it cannot begin without. */
  readonly parts: readonly PageFile[];
  /** What a token's page loads after these. */
  readonly views: PageFile;
  readonly style: PageFile;
  readonly icon: PageFile;
  /** By name: those above, languages, and source maps, which only tools of developers load. */
  readonly all: ReadonlyMap<string, PageFile>;
}

const MAIN = 'src/web/main.tsx';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};
/** Browsers of the last two years: they have `Promise.withResolvers` and `light-dark()`. */
const TARGET = ['es2024'];
/** The best that still compresses the whole page in a quarter of a second. */
const BROTLI_QUALITY = 9;

/** Made once for the process: files of a running program do not change. */
let made: Promise<PageFiles> | null = null;

/** Rejects only where the sources of the page are broken. */
export function pageFiles(): Promise<PageFiles> {
  made ??= make();
  return made;
}

async function make(): Promise<PageFiles> {
  const scripts = await bundle({
    entryPoints: [MAIN],
    entryNames: '[name]-[hash]',
    // What only some readers load is a separate file: views and languages.
    splitting: true,
    chunkNames: '[name]-[hash]',
    outdir: 'assets',
    sourcemap: 'linked',
  });
  const styles = globSync('src/web/**/*.css', { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
  const contents = styles.map((path) => `@import "./${path}";`).join('\n');
  const css = await bundled({
    stdin: { contents, loader: 'css', resolveDir: ROOT, sourcefile: 'page.css' },
    entryNames: 'page-[hash]',
    outdir: 'assets',
  });
  const icon = readFileSync(join(ROOT, 'src/web/icon.svg'));
  const iconName = `icon-${hash('sha256', icon, 'hex').slice(0, 8)}.svg`;
  const files = await Promise.all([
    fileOf(iconName, icon),
    ...[...scripts.outputFiles, ...css].map(({ path, contents }) => fileOf(nameOf(path), contents)),
  ]);
  const all = new Map(files.map((file) => [file.name, file]));
  const one = (start: string, extension: string) => {
    const found = files.find(({ name }) => name.startsWith(start) && extname(name) === extension);
    assert(found !== undefined, `the page has a file ${start}…${extension}`);
    return found;
  };
  const script = one('main-', '.js');
  const { outputs } = scripts.metafile;
  const imports = Object.values(outputs).find(({ entryPoint }) => entryPoint === MAIN)?.imports;
  const needed = imports?.filter(({ kind }) => kind === 'import-statement') ?? [];
  const parts = needed.flatMap(({ path }) => all.get(nameOf(path)) ?? []);
  const [style, views] = [one('page-', '.css'), one('views-', '.js')];
  return { script, parts, views, style, icon: one('icon-', '.svg'), all };
}

/** Without its folders. */
function nameOf(path: string): string {
  return path.replace(/^.*[\\/]/, '');
}

/** Bundles that are being made: the last one ends esbuild's process, which keeps 40 MB. */
let running = 0;

/** What browsers load for these sources, minified. */
export async function bundled(options: BuildOptions): Promise<readonly OutputFile[]> {
  return (await bundle(options)).outputFiles;
}

async function bundle(options: BuildOptions) {
  running += 1;
  try {
    const common = { bundle: true, minify: true, format: 'esm', target: TARGET } as const;
    const given: BuildOptions = { ...common, jsx: 'automatic', jsxImportSource: 'preact' };
    return await build({
      ...given,
      absWorkingDir: ROOT,
      // Ours says `nodenext` and Node's types, which is nothing for browsers.
      tsconfigRaw: '{}',
      legalComments: 'none',
      logLevel: 'silent',
      ...options,
      write: false,
      metafile: true,
    });
  } finally {
    running -= 1;
    if (running === 0) await stop();
  }
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

async function fileOf(name: string, body: Uint8Array): Promise<PageFile> {
  const type = TYPES[extname(name)];
  assert(type !== undefined, `${name} has a media type`);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gzipped] = await Promise.all([
    compressBrotli(body, { params }),
    compressGzip(body, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { name, type, body, encoded: { br, gzip: gzipped } };
}
