/**
 * Makes the page as the files that a browser loads: a script, one stylesheet, one icon (which the
 * document contains), and scripts for later: the views beside the market's lists, and each
 * language but English. Each is named after its content, so a browser may cache it for good. No
 * content delivery network: the page works without internet. esbuild runs here only, at the
 * installation; the server reads what it made (src/api/page/files.ts).
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type OutputFile, stop } from 'esbuild';
import {
  ENCODINGS,
  hashOfSource,
  INDEX,
  PAGE_FOLDER,
  type PageIndex,
  ROOT,
  styleSources,
} from '../src/api/page/made.ts';

const MAIN = 'src/web/main.tsx';
const ICON = 'src/web/icon.svg';
/** Browsers of the last two years: they have `Promise.withResolvers` and `light-dark()`. */
const TARGET = ['es2024'];
/** The best: 7 % less than 9, for two seconds of the installation. Source maps are for tools. */
const BROTLI_QUALITY = { page: 11, map: 5 } as const;

/** Writes all files below `PAGE_FOLDER`, the index last. Rejects where the sources are broken. */
export async function makePage(): Promise<void> {
  const scripts = await bundle({
    entryPoints: [MAIN],
    entryNames: '[name]-[hash]',
    // Code for only some readers is a separate file: views and languages.
    splitting: true,
    chunkNames: '[name]-[hash]',
    outdir: 'assets',
    sourcemap: 'linked',
  });
  const styles = styleSources();
  const css = await bundle({
    stdin: {
      contents: styles.map((path) => `@import "./${path}";`).join('\n'),
      loader: 'css',
      resolveDir: ROOT,
      sourcefile: 'page.css',
    },
    entryNames: 'page-[hash]',
    outdir: 'assets',
  });
  const icon = readFileSync(join(ROOT, ICON));
  const iconName = `icon-${hash('sha256', icon, 'hex').slice(0, 8)}.svg`;
  const files: (readonly [name: string, body: Uint8Array])[] = [
    [iconName, icon],
    ...[...scripts.outputFiles, ...css.outputFiles].map((file) => {
      return [nameOf(file.path), file.contents] as const;
    }),
  ];
  const names = files.map(([name]) => name);
  const { outputs, inputs } = scripts.metafile;
  const sources = [...Object.keys(inputs), ...styles, ICON];
  const index: PageIndex = {
    sources: Object.fromEntries(sources.map((path) => [path, hashOfSource(path)])),
    files: names,
    script: beginningOf(outputs),
    views: found(names, 'views-', '.js'),
    style: found(names, 'page-', '.css'),
    icon: iconName,
  };
  mkdirSync(PAGE_FOLDER, { recursive: true });
  const before = keptFiles();
  await Promise.all(files.map(([name, body]) => write(name, body)));
  put(INDEX, JSON.stringify(index));
  const gone = before.filter((name) => !names.includes(name));
  for (const name of gone.flatMap((each) => [each, ...ENCODINGS.map((end) => `${each}.${end}`)])) {
    rmSync(join(PAGE_FOLDER, name), { force: true });
  }
}

/**
 * The file that has all of the beginning: since the views import it too, esbuild puts it beside its
 * entry point, with what they share.
 */
function beginningOf(outputs: Metafile['outputs']): string {
  const entry = Object.values(outputs).find(({ entryPoint }) => entryPoint === MAIN);
  const needed = entry?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  const [only] = needed;
  if (entry === undefined || only === undefined || needed.length > 1) {
    throw new Error('the page begins with more than one script');
  }
  if (Object.keys(entry.inputs).length > 0) throw new Error(`the views do not import ${MAIN}`);
  return nameOf(only.path);
}

function found(names: readonly string[], start: string, extension: string): string {
  const name = names.find((each) => each.startsWith(start) && extname(each) === extension);
  if (name === undefined) throw new Error(`the page has no file ${start}…${extension}`);
  return name;
}

/** Files of the page that was made before. */
function keptFiles(): readonly string[] {
  try {
    // trust: written by this module
    return (JSON.parse(readFileSync(join(PAGE_FOLDER, INDEX), 'utf8')) as PageIndex).files;
  } catch {
    // It was never made.
    return [];
  }
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

async function write(name: string, body: Uint8Array): Promise<void> {
  const quality = name.endsWith('.map') ? BROTLI_QUALITY.map : BROTLI_QUALITY.page;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  put(name, body);
  put(`${name}.br`, await compressBrotli(body, { params }));
  put(`${name}.gzip`, await compressGzip(body, { level: constants.Z_BEST_COMPRESSION }));
}

/** Whole or not at all: a server may be reading the folder now. */
function put(name: string, content: string | Uint8Array): void {
  const path = join(PAGE_FOLDER, name);
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
}

/** Without its folders. */
function nameOf(path: string): string {
  return path.replace(/^.*[\\/]/, '');
}

/** Bundles that are being made: the last one ends esbuild's process, which keeps 40 MB. */
let running = 0;

/** The files that browsers load for these sources, minified. */
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
