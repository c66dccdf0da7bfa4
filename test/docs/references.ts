/** Files that are generated from the code: every setting, every metric. */
import type { MetricObject } from 'prom-client';
import { registerStatus } from '../../src/api/operations/routes.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../src/engine/runtime/events.ts';
import { collectProcessMetrics, createRegistry } from '../../src/engine/runtime/meters.ts';
import { settingRows } from '../../src/server/settings/help.ts';
import { STATUS } from '../api/docs/sample.ts';

const MADE = 'Made from the code by `node scripts/writePages.ts`; a test compares.';

/** Metrics of our own, by name. */
export function ownMetrics(): MetricObject[] {
  const registry = createRegistry();
  createEvents(createLogger({ level: 'silent', clock: systemClock }), registry, systemClock);
  registerStatus(registry, STATUS);
  return registry.getMetricsAsArray().toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Metrics of the process, as the metrics library names them. */
export function processMetrics(): string[] {
  const registry = createRegistry();
  collectProcessMetrics(registry);
  return registry
    .getMetricsAsArray()
    .map(({ name }) => name)
    .toSorted();
}

function settingsPage(): string {
  const rows = settingRows().map(({ key, type, standard, description }) => {
    const preset = standard === '' ? '' : `\`${standard}\``;
    return `| \`${key}\` | ${cell(type)} | ${preset} | ${cell(description)} |`;
  });
  return [
    '# Settings',
    '',
    'From the environment, or from a file with `node --env-file`. They are read once and checked',
    'together: every bad one is reported before anything starts. `npm start -- --help` lists them.',
    '',
    '| name | values | default | what it does |',
    '|---|---|---|---|',
    ...rows,
    '',
    MADE,
    '',
  ].join('\n');
}

function metricsPage(): string {
  const rows = ownMetrics().map((metric) => {
    const labels: unknown = Reflect.get(metric, 'labelNames');
    const names = Array.isArray(labels) ? labels.map((name) => `\`${name}\``).join(' ') : '';
    const type: unknown = Reflect.get(metric, 'type') ?? metric.constructor.name.toLowerCase();
    return `| \`${metric.name}\` | ${type} | ${names} | ${cell(metric.help)} |`;
  });
  return [
    '# Metrics',
    '',
    '`GET /metrics`, in the format of Prometheus; on `ADMIN_PORT` where that is set. A ready',
    'dashboard is in `config/grafana/`, rules for alerts are in `config/alerts.yml`.',
    '',
    '| name | kind | labels | what it counts |',
    '|---|---|---|---|',
    ...rows,
    '',
    'Metrics of the process, with the names of `prom-client`:',
    `${processMetrics()
      .map((name) => `\`${name}\``)
      .join(', ')}.`,
    '',
    MADE,
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** All settings, to copy. */
function exampleEnvironment(): string {
  const settings = settingRows().map(
    ({ key, type, standard, description }) => `# ${description} (${type})\n#${key}=${standard}\n`,
  );
  return [
    '# Every setting with its default: copy, uncomment what you change, and load it into the',
    '# environment, for example with `set -a; . ./my.env; set +a; npm start`.',
    `# ${MADE}`,
    '',
    ...settings,
  ].join('\n');
}

/** By path. */
export const REFERENCES = {
  'docs/settings.md': settingsPage,
  'docs/metrics.md': metricsPage,
  'config/example.env': exampleEnvironment,
} as const;
