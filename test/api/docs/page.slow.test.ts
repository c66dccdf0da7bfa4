/** The page at /docs: it is complete and works offline, and its samples run as they are printed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { parse as parseScript } from '@babel/parser';
import { html } from '../../../src/api/docs/page/html.ts';
import { markdown } from '../../../src/api/docs/page/markdown.ts';
import { ORIGIN } from '../../../src/api/docs/page/snippets.ts';
import { escapeMarkup } from '../../../src/engine/runtime/markup.ts';
import type { Scope } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { at, keysAt } from './sample.ts';
import { servedDocuments } from './served.ts';
import { setStage } from './stage.ts';

function found(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, first = '']) => first);
}

/** The text that the copy button puts on the clipboard in a browser on `origin`. */
function pasted(page: string, id: string, origin: string): string {
  const [text = ''] = found(page, new RegExp(`<code[^>]* id="${id}">([^<]*)</code>`, 'g'));
  assert.notEqual(text, '', `${id} is on the page`);
  const plain = unescaped(text);
  assert.ok(plain.includes(ORIGIN));
  return plain.replaceAll(ORIGIN, origin);
}

function unescaped(text: string): string {
  return text
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function samplesIn(page: string, language: string): string[] {
  const box = `<div data-language="${language}"><div class="code"><pre[^>]*><code[^>]*>([^<]*)<`;
  return found(page, new RegExp(box, 'g')).map(unescaped);
}

/** Everything that a program says until it is stopped. */
function run(scope: Scope, program: string): { readonly said: () => string } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  scope.after(() => void child.kill());
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
  }
  return { said: () => text };
}

test('the page of a running market', async (t) => {
  const { world, openapi, asyncapi } = await servedDocuments(t);
  const response = await fetch(`${world.url}/docs`);
  const page = await response.text();
  const ids = found(page, / id="([^"]+)"/g);

  await t.test('every route and topic of the documents is on it, and nothing else', () => {
    const operations = keysAt(openapi, 'paths').flatMap((path) =>
      keysAt(openapi, `paths ${path}`).map((method) => {
        return `route-${at(openapi, `paths ${path} ${method} operationId`)}`;
      }),
    );
    const topics = keysAt(asyncapi, 'channels').map((name) => `topic-${name}`);
    const entries = ids.filter((id) => id.startsWith('route-') || id.startsWith('topic-'));
    assert.deepEqual(entries.sort(), [...operations, ...topics].sort());
  });

  await t.test('it asks nothing of any other server', async () => {
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|http|\*/);
    assert.doesNotMatch(page, /<script(?! type="module" src="\/docs\/)|<style| style=| on\w+=/);
    const needed = found(page, /<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g);
    for (const path of needed.filter((each) => each !== 'data:,')) {
      assert.match(path, /^\/docs\//);
      const asset = await fetch(world.url + path);
      assert.equal(asset.status, 200);
      const body = await asset.text();
      assert.doesNotMatch(body, /url\(|@import|import\s*\(|from '/);
    }
    assert.ok(needed.includes('/docs/page.js') && needed.includes('/docs/style.css'));
  });

  await t.test('ids are unique, and every link leads somewhere', async () => {
    assert.equal(new Set(ids).size, ids.length);
    for (const target of new Set(found(page, /href="#([^"]+)"/g))) {
      assert.ok(ids.includes(target), `#${target}`);
    }
    for (const path of new Set(found(page, /<a href="(\/[^"]+)"/g))) {
      assert.equal((await fetch(world.url + path)).status, 200, path);
    }
  });

  await t.test('the script is JavaScript', async () => {
    const script = await (await fetch(`${world.url}/docs/page.js`)).text();
    assert.doesNotThrow(() => new Function(script));
  });

  await t.test('its samples are programs', () => {
    const inLanguage = (name: string) => samplesIn(page, name);
    const typescript = inLanguage('TypeScript');
    assert.ok(typescript.length > 60, `${typescript.length} samples`);
    for (const text of typescript) {
      const parsed = () => parseScript(text, { sourceType: 'module', plugins: ['typescript'] });
      assert.doesNotThrow(parsed, text);
    }
    const python = inLanguage('Python');
    assert.equal(python.length, typescript.length);
    const check = 'import ast, json, sys\nfor text in json.load(sys.stdin): ast.parse(text)';
    const parsed = spawnSync('python3', ['-c', check], { input: JSON.stringify(python) });
    if (parsed.error !== undefined) t.diagnostic('no python3: its samples were not parsed');
    else assert.equal(String(parsed.stderr), '');
  });

  await t.test('pasting its first snippets leads to a subscription', async () => {
    const { asset } = await setStage(world);
    const [url = ''] = found(pasted(page, 'start-list', world.url), /'([^']+)'/g);
    const list: unknown = await (await fetch(url)).json();
    assert.equal(at(list, '0 info asset'), asset);
    const samples = samplesIn(page, 'TypeScript');
    for (const path of ['filter=Latest', '/v1/following/list']) {
      const sample = samples.find((text) => text.includes(path)) ?? '';
      const asked = run(t, sample.replaceAll(ORIGIN, world.url));
      await until(asked.said, () => asked.said() !== '');
      assert.match(asked.said(), /^[[{]/, asked.said());
    }
    const program = run(t, pasted(page, 'start-subscribe', world.url));
    await until(program.said, () => program.said().includes('LastBarUpdate snapshot'));
    const bob = world.trader('bob');
    await world.filled(bob, { assetId: asset, side: 'BUY', amount: 5_000_000n, slippage: '15' });
    await until(program.said, () => program.said().includes('LastBarUpdate update'));
    assert.ok(program.said().includes(`${asset}_.`), program.said());
  });
});

test('text is escaped wherever it is put, and markup is not', () => {
  const hostile = `<script>alert("1") & 'x'</script>`;
  assert.equal(
    html`<p title="${hostile}">${html`<b>${1}</b>`}</p>`.text.includes('<script'),
    false,
  );
  assert.equal(escapeMarkup(hostile).includes('<'), false);
  assert.equal(markdown(`- a \`${hostile}\`\n  ${hostile}`).text.includes('<script'), false);
});

test('Markdown: headings, paragraphs, lists, tables and code', () => {
  const source = '## One thing\n\ntext\nmore `code`\n\n- a\n  b\n- c\n\n| h |\n|---|\n| `x` |';
  assert.equal(
    markdown(source).text.replaceAll('\n', ''),
    '<h3 id="one-thing">One thing</h3><p>text more <code>code</code></p>' +
      '<ul><li>a b</li><li>c</li></ul><div class="wide"><table><thead><tr><th>h</th></tr></thead>' +
      '<tbody><tr><td><code>x</code></td></tr></tbody></table></div>',
  );
});
