/**
 * How fast a node follows a chain that it does not know: full blocks of mainnet's size, blocks of a
 * launchpad that is used, and empty ones, from a fake Ogmios through parsing, recognition, log,
 * fold and store; beside it a bare client that only receives and parses the same messages. Then a
 * roll-back as deep as one can be.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { BareFollower } from './processes/bareFollower.ts';
import type { BlockServer } from './processes/blockServer.ts';
import type { Synced, SyncingNode } from './processes/syncingNode.ts';
import { type Bench, fixed, percent, whole } from './support/bench.ts';
import { AS_STARTED, Process } from './support/processes.ts';
import { quantile } from './support/quantile.ts';

/**
 * Number of full blocks in each window's second; more is served, so that the windows end by
 * themselves.
 */
const FULL_A_SECOND = 500;
/** The first blocks warm up. */
const WARM_SHARE = 0.1;
const DEEPEST = 2160;
/** More than can be taken back: of a real chain, too, most blocks are behind that. */
const BUSY_BLOCKS = 8_000;

interface Found {
  readonly jsonBytes: number;
  readonly ours: readonly Synced[];
  readonly bare: readonly { readonly seconds: number; readonly cpuUs: number }[];
  readonly blocks: number;
  readonly rollbackMs: readonly number[];
  readonly note: string;
}

export const sync: Bench = {
  name: 'sync',
  async measure({ seconds, rounds, trades }, progress) {
    const fullBlocks = seconds * FULL_A_SECOND;
    const full = await measureKind('full', fullBlocks, rounds, progress);
    const busy = await measureKind('busy', BUSY_BLOCKS, rounds, progress);
    const small = await measureKind('small', trades / 2, Math.min(rounds, 2), progress);
    const rows = [
      cells(`full blocks, ${whole(fullBlocks)}`, full),
      cells(`a busy launchpad, ${whole(BUSY_BLOCKS)}`, busy),
      cells(`empty blocks, ${whole(trades / 2)}`, small),
    ];
    return { columns: COLUMNS, rows, notes: [full.note, ...NOTES] };
  },
};

const COLUMNS = [
  'what is followed',
  'kB JSON/block',
  'blocks/s',
  'MB/s JSON',
  'bare blocks/s',
  'ratio',
  'CPU µs/block',
  'bare CPU µs/block',
  'CPU ratio',
  'loop delay p99 ms',
  'RSS MiB at 10 %',
  'RSS MiB at end',
  `back ${whole(DEEPEST)} s`,
];

const NOTES = [
  'Server, node and bare client in turns, not pinned: parsing has a thread of its own.',
  'A block is followed when the fold has it; the first tenth is not measured.',
  'The roll-back: from the fork at the server to the fold of the one new block, worst of rounds.',
];

async function measureKind(
  kind: 'full' | 'busy' | 'small',
  blocks: number,
  rounds: number,
  progress: (what: string) => void,
): Promise<Found> {
  const ours: Synced[] = [];
  const bare: Found['bare'][number][] = [];
  const rollbackMs: number[] = [];
  progress(`${kind}: ${whole(blocks)} blocks are made`);
  // Each round has a separate server: its chain is forked at the end.
  let sizes = { jsonBytes: 0, bodyBytes: 0, transactions: 0 };
  for (let round = 1; round <= rounds; round += 1) {
    progress(`${kind}: round ${round}`);
    const server = await Process.start<BlockServer>('blockServer.ts', 'any', [kind, `${blocks}`]);
    sizes = await server.ask('sizes');
    const url = `ws://127.0.0.1:${await server.ask('port')}`;
    const toHeight = await server.ask('height');
    const fromHeight = Math.floor(toHeight * WARM_SHARE);
    const client = await Process.start<BareFollower>('bareFollower.ts', 'any');
    bare.push(await client.ask('follow', { url, fromHeight, toHeight }));
    await client.end();
    const how = { options: AS_STARTED };
    const node = await Process.start<SyncingNode>('syncingNode.ts', 'any', [url, kind], how);
    ours.push(await node.ask('sync', { fromHeight, toHeight }));
    if (blocks > DEEPEST) {
      const { id, atMs } = await server.ask('fork', DEEPEST);
      rollbackMs.push((await node.ask('reached', id)) - atMs);
    }
    await Promise.all([node.end(), server.end()]);
  }
  const { jsonBytes, bodyBytes, transactions } = sizes;
  const note =
    `A full block has ${whole(transactions)} transactions, ${whole(bodyBytes)} bytes of body ` +
    `and ${whole(jsonBytes)} of JSON (means); a busy one 2 orders and 3 other transactions.`;
  return {
    jsonBytes,
    ours,
    bare,
    blocks: blocks - Math.floor(blocks * WARM_SHARE),
    rollbackMs,
    note,
  };
}

function cells(name: string, { jsonBytes, ours, bare, blocks, rollbackMs }: Found): string[] {
  const sum = <T>(list: readonly T[], of: (each: T) => number) =>
    list.reduce((total, each) => total + of(each), 0);
  const ourBlocks = sum(ours, (each) => each.blocks);
  const bareBlocks = blocks * bare.length;
  const rate = ourBlocks / (sum(ours, ({ wallMs }) => wallMs) / 1000);
  const bareRate = bareBlocks / sum(bare, (each) => each.seconds);
  const cpu = sum(ours, ({ cpuUs }) => cpuUs) / ourBlocks;
  const bareCpu = sum(bare, ({ cpuUs }) => cpuUs) / bareBlocks;
  const delays = ours.map(({ loopDelayP99Ms }) => loopDelayP99Ms);
  const rss = (at: number) => Math.max(...ours.map(({ rssMib }) => rssMib.at(at) ?? 0));
  return [
    name,
    fixed(jsonBytes / 1000, 1),
    whole(rate),
    fixed((rate * jsonBytes) / 1e6, 1),
    whole(bareRate),
    percent(rate / bareRate),
    whole(cpu),
    whole(bareCpu),
    fixed(bareCpu / cpu),
    fixed(quantile(delays, 0.5), 1),
    whole(rss(0)),
    whole(rss(-1)),
    rollbackMs.length === 0 ? '–' : fixed(Math.max(...rollbackMs) / 1000),
  ];
}
