/**
 * The page as the files that a browser loads: one script, one stylesheet, one icon, each named
 * after its content. esbuild makes them in memory when they are first wanted, so there is no build
 * step, and a browser may cache each of them for good. No content delivery network: the page works
 * without internet.
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
  readonly style: PageFile;
  readonly icon: PageFile;
  /** By name: those above, and source maps, which only tools of developers load. */
  readonly all: ReadonlyMap<string, PageFile>;
}

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
  const outputs = await bundled({
    entryPoints: ['src/web/main.tsx'],
    entryNames: '[name]-[hash]',
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
    ...[...outputs, ...css].map(({ path, contents }) =>
      fileOf(path.replace(/^.*[\\/]/, ''), contents),
    ),
  ]);
  const all = new Map(files.map((file) => [file.name, file]));
  const one = (extension: string) => {
    const found = files.find(({ name }) => extname(name) === extension);
    assert(found !== undefined, `the page has a ${extension} file`);
    return found;
  };
  return { script: one('.js'), style: one('.css'), icon: one('.svg'), all };
}

/** Bundles that are being made: the last one ends esbuild's process, which keeps 40 MB. */
let running = 0;

/** What browsers load for these sources, minified. */
export async function bundled(options: BuildOptions): Promise<readonly OutputFile[]> {
  running += 1;
  try {
    const common = { bundle: true, minify: true, format: 'esm', target: TARGET } as const;
    const given: BuildOptions = { ...common, jsx: 'automatic', jsxImportSource: 'preact' };
    const result = await build({
      ...given,
      absWorkingDir: ROOT,
      // Ours says `nodenext` and Node's types, which is nothing for browsers.
      tsconfigRaw: '{}',
      legalComments: 'none',
      logLevel: 'silent',
      ...options,
      write: false,
    });
    return result.outputFiles;
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
