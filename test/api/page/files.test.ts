import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pageFiles } from '../../../src/api/page/files.ts';
import { isPageMade, ROOT } from '../../../src/api/page/made.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('the page that is served is made of the sources as they are', async () => {
  const { script, style, all } = await pageFiles();
  assert(isPageMade());
  assert(all.has(script.name) && all.has(style.name) && all.size > 10);
  const code = Buffer.from(script.body).toString();
  assert.match(code, /sourceMappingURL=chunk-/);
});

test('no source of the server imports the bundler', () => {
  for (const path of globSync('src/**/*.ts', { cwd: ROOT })) {
    assert.doesNotMatch(readFileSync(join(ROOT, path), 'utf8'), /from 'esbuild'/, path);
  }
});

test('an edited source is bundled again, by the command and nothing else', async () => {
  const copy = temporaryDirectory();
  for (const folder of ['src', 'pack', 'package.json']) {
    cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
  }
  mkdirSync(join(copy, 'node_modules'));
  for (const path of globSync('node_modules/*', { cwd: ROOT })) {
    symlinkSync(join(ROOT, path), join(copy, path));
  }
  const made = async () => {
    const script = ['--disable-warning=ExperimentalWarning', 'pack/page.ts', '--strict'];
    const child = spawn(process.execPath, script, { cwd: copy, stdio: 'inherit' });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const index = readFileSync(join(copy, 'node_modules/.cache/page/index.json'), 'utf8');
    return JSON.parse(index).files.filter((name: string) => name.startsWith('page-'));
  };
  const before = await made();
  assert.deepEqual(await made(), before);
  writeFileSync(join(copy, 'src/web/style/added.css'), '.added { color: red; }');
  const after = await made();
  assert.notDeepEqual(after, before, 'a new stylesheet is part of the page');
});
