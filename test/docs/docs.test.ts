/**
 * Things that documents and monitoring mention exist: settings and metrics in the code, files that
 * are linked to, commands of npm. Pages made from the code are up to date.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { CATALOGUE } from '../../src/engine/runtime/errors.ts';
import { settingRows } from '../../src/server/settings/help.ts';
import { KEYS_HELP } from '../../src/server/settings/keyFiles.ts';
import { ownMetrics, processMetrics, REFERENCES } from './references.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const DECISIONS = globSync('docs/decisions/[0-9]*.md', { cwd: ROOT }).sort();
const PAGES = ['README.md', 'src/README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

/** Names of the metrics in Prometheus. */
const METRICS = new Set([
  'up',
  ...processMetrics(),
  ...ownMetrics().flatMap((metric) => {
    const { name } = metric;
    return [name, `${name}_bucket`, `${name}_count`, `${name}_sum`];
  }),
]);

/** Names that look like metrics, in an expression of Prometheus. */
function namesIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"|\{[^}]*\}|\b(?:by|on|without) \([^)]*\)/g, ' ');
  return Array.from(bare.matchAll(/\b(?:upcurve|nodejs|process|up)\w*\b/g), ([name]) => name);
}

test('files that are made from the code are what the code says', () => {
  for (const [name, page] of Object.entries(REFERENCES)) {
    const hint = 'run: node scripts/writePages.ts';
    assert.equal(read(name), page(), `${name} is old; ${hint}`);
  }
});

test('alert rules and dashboard ask for metrics that exist', () => {
  const rules: { alert: string; expr: string }[] = parse(read('config/alerts.yml')).groups[0].rules;
  const dashboard = JSON.parse(read('config/grafana/dashboards/upcurve.json'));
  const panels: { title: string; targets: { expr: string }[] }[] = dashboard.panels;
  const asked = [
    ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ];
  assert.ok(rules.length > 10 && panels.length > 15);
  for (const { where, expr } of asked) {
    const names = namesIn(expr);
    assert.ok(names.length > 0, where);
    for (const name of names) assert.ok(METRICS.has(name), `${where}: ${name}`);
  }
  const [group] = parse(read('config/prometheus.yml')).rule_files;
  assert.ok(existsSync(join(ROOT, 'config', group)));
});

test('panels do not overlap, and Grafana finds what it is provisioned with', () => {
  const { panels } = JSON.parse(read('config/grafana/dashboards/upcurve.json'));
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), title);
        taken.add(`${x} ${y}`);
      }
    }
  }
  const [source] = parse(
    read('config/grafana/provisioning/datasources/prometheus.yml'),
  ).datasources;
  for (const { datasource } of panels) assert.equal(datasource.uid, source.uid);
  const compose = parse(read('compose.yaml'), { merge: true });
  const [provider] = parse(read('config/grafana/provisioning/dashboards/upcurve.yml')).providers;
  const mounted: string[] = compose.services.grafana.volumes;
  assert.ok(mounted.some((mount) => mount.split(':')[1] === provider.options.path));
  assert.ok(new URL(source.url).hostname in compose.services);
});

test('links between pages lead somewhere', () => {
  for (const page of PAGES) {
    const links = Array.from(read(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
    for (const link of links) {
      if (/^(https?:|#|mailto:)/.test(link)) continue;
      const [file = ''] = link.split('#');
      assert.ok(existsSync(join(ROOT, dirname(page), file)), `${page}: ${link}`);
    }
  }
});

test('each decision has the same parts and its row in the list', () => {
  const list = read('docs/decisions/README.md');
  const rows = DECISIONS.map((name) => {
    const number = basename(name).slice(0, 4);
    const [, title = '', date = ''] =
      /^# \d{4}\. (.+)\n\nDate: (\d{4}-\d\d-\d\d)\n/.exec(read(name)) ?? [];
    const parts = Array.from(read(name).matchAll(/^## (.+)$/gm), ([, part]) => part);
    assert.deepEqual(parts, ['Context', 'Decision', 'Cost', 'How to undo'], name);
    return `| [${number}](${basename(name)}) | ${date} | ${title} |`;
  });
  assert.deepEqual(
    list.split('\n').filter((line) => line.startsWith('| [')),
    rows,
  );
});

test('pages name settings, scripts, files and causes that exist', () => {
  const keys = KEYS_HELP.match(/\b[A-Z]+_KEY(?:_FILE)?\b/g) ?? [];
  const ofTests = ['NATS_SERVER_NEXT'];
  const settings = new Set([...settingRows().map(({ key }) => key), ...keys, ...ofTests]);
  const { scripts } = JSON.parse(read('package.json'));
  /** Read by others: Node, the C library, compose files, the shell of a reader. */
  const foreign =
    /^(CN|NODE_EXTRA_CA_CERTS|MARKET_PASSWORD|API|TOKEN|NODE_ENV|MALLOC_ARENA_MAX|PATH|SEED)$/;
  for (const page of PAGES) {
    const text = read(page);
    for (const [, key = ''] of text.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)=/g)) {
      assert.ok(settings.has(key) || foreign.test(key), `${page}: ${key}`);
    }
    for (const [, script = ''] of text.matchAll(/\bnpm run ([a-z:]+)/g)) {
      assert.ok(script in scripts, `${page}: npm run ${script}`);
    }
    for (const [, file = ''] of text.matchAll(
      /\bnode ((?:src|test|examples|bench)\/[\w/.-]+\.ts)/g,
    )) {
      assert.ok(existsSync(join(ROOT, file)), `${page}: ${file}`);
    }
  }
  const causes = read('docs/troubleshooting.md').matchAll(/\b(?:429|503) `([A-Z_]+)`/g);
  for (const [, cause = ''] of causes) assert.ok(cause in CATALOGUE, cause);
});

test('troubleshooting names events of the log that are written', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(read).join('\n');
  const rows = read('docs/troubleshooting.md').split('\n');
  const names = rows.flatMap((row) => {
    const [, seen = ''] = row.split('|');
    return Array.from(seen.matchAll(/`([a-z]+[A-Z]\w+)`/g), ([, name = '']) => name);
  });
  assert.ok(names.length > 5);
  for (const name of names) assert.match(sources, new RegExp(`\\b${name}\\b`), name);
});
