/**
 * Packages that browsers are given, with the file that is meant for them: no content delivery
 * network, so the page works where there is no internet.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The chart library in one file, with what it needs itself. */
const CHARTS = 'lightweight-charts';
const MESSAGES = '@msgpack/msgpack';
/** Written as modules for browsers: their own entries are what we give. */
const PLAIN = ['@noble/ed25519', '@noble/hashes', '@scure/base'];

const require = createRequire(import.meta.url);

/** null for a package that is not given to browsers. */
export function fileOfPackage(specifier: string): string | null {
  if (specifier === CHARTS) {
    return join(homeOf(CHARTS), 'dist/lightweight-charts.standalone.production.mjs');
  }
  if (specifier === MESSAGES) return join(homeOf(MESSAGES), '../dist.esm/index.mjs');
  const isPlain = PLAIN.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return isPlain ? require.resolve(specifier) : null;
}

/** Where its files lie. Some packages do not show their package.json. */
function homeOf(name: string): string {
  return name === CHARTS
    ? dirname(require.resolve(`${name}/package.json`))
    : dirname(require.resolve(name));
}
