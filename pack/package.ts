/**
 * Makes the package that `npm pack` packs: the client and its datafeeds, with the four packages
 * that they need. The server stays here; it is run from the source or from its image.
 *
 * `begin` emits `dist/` and puts the package's own package.json in the place of ours, which is kept
 * in `dist/` until `end` puts it back: npm takes dependencies from nowhere else. After a pack that
 * was killed in between, the next `begin` or `end` puts it back.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const manifest = join(root, 'package.json');
const dist = join(root, 'dist');
const kept = join(dist, 'package.kept.json');
const NEEDED = ['@msgpack/msgpack', '@noble/ed25519', '@noble/hashes', '@scure/base'];

function begin(): void {
  end();
  for (const folder of ['client', 'cardano', 'engine'])
    rmSync(join(dist, folder), { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.client.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(kept, text);
  writeFileSync(manifest, `${JSON.stringify(packed(JSON.parse(text)), null, 2)}\n`);
}

function end(): void {
  if (existsSync(kept)) renameSync(kept, manifest);
}

function packed(ours: Record<string, unknown> & { dependencies: Record<string, string> }) {
  const { name, version, license, type, exports, files, dependencies } = ours;
  const description = 'Client of the upcurve launchpad: typed REST, live mirrors and datafeeds.';
  return {
    name,
    version,
    description,
    license,
    type,
    sideEffects: false,
    engines: { node: '>=22' },
    exports,
    files,
    dependencies: Object.fromEntries(NEEDED.map((each) => [each, dependencies[each]])),
  };
}

if (process.argv[2] === 'begin') begin();
else end();
