import { parseNumber } from '../amounts.ts';
import { command, logFormatOf } from '../command.ts';
import { PACE, paceOf, paceSetting } from './serve.ts';

export interface ClusterCommand {
  readonly name: 'cluster';
  readonly nodes: number;
  /** How many of them never lead. */
  readonly readers: number;
  /** All listen on PORT; each has a separate port for health and metrics. */
  readonly onePort: boolean;
  /** As for `serve`. */
  readonly tradersPace: number | null;
}

const MAX_NODES = 50;

export const CLUSTER = command({
  name: 'cluster',
  group: 'data',
  uses: [['', 'a nats-server and nodes of one market, from PORT on']],
  options: {
    nodes: { value: '3', about: 'how many, 1 to 50 (default 3)' },
    readers: { value: '0', about: 'so many never lead and have no keys and no chain (default 0)' },
    'one-port': { about: 'all serve on PORT, and say how they are on the ports after it' },
    ...PACE,
  },
  stopsInOrder: true,
  parse(_rest, values): ClusterCommand | string {
    const nodes = parseNumber(String(values.nodes ?? '3'));
    if (nodes === null || !Number.isInteger(nodes) || nodes < 1 || nodes > MAX_NODES) {
      return `--nodes takes a number from 1 to ${MAX_NODES}`;
    }
    const readers = parseNumber(String(values.readers ?? '0'));
    if (readers === null || !Number.isInteger(readers) || readers >= nodes) {
      return `--readers takes a number from 0 to ${nodes - 1}: one node at least must lead`;
    }
    const tradersPace = paceOf(values);
    if (typeof tradersPace === 'string') return tradersPace;
    return { name: 'cluster', nodes, readers, onePort: values['one-port'] === true, tradersPace };
  },
  async run(args, shell) {
    const { runCluster } = await import('../cluster.ts');
    const { stopAsked } = shell.terminal;
    const pace = paceSetting(args);
    const { settings } = shell.appDeps(pace);
    // Its nodes write to a pipe, whose lines this process passes on.
    const LOG_FORMAT = logFormatOf(settings, shell.output);
    const environment = { ...shell.environment, ...pace, LOG_FORMAT };
    return runCluster(args, { ...shell, settings, environment, stopAsked });
  },
});
