/**
 * Orders filled per second, from a client's request to the fill that the market sees: the whole app
 * with its own chain, against its ledger alone and plain payments.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { Clients, Placement, Trading } from './processes/clients.ts';
import type { Closed, Devnet, Taken } from './processes/devnet.ts';
import type { LedgerProcess } from './processes/ledger.ts';
import { type Bench, fixed, percent, type Scale, whole } from './support/bench.ts';
import { AS_STARTED, Process } from './support/processes.ts';
import { quantile } from './support/quantile.ts';

interface Setting {
  readonly clients: number;
  readonly blockEveryMs: number;
}

const SETTINGS: readonly Setting[] = [
  { clients: 1, blockEveryMs: 100 },
  { clients: 8, blockEveryMs: 100 },
  { clients: 32, blockEveryMs: 100 },
  { clients: 32, blockEveryMs: 50 },
];
/** Each is a lane of the executor. */
const TOKENS = 4;
const WARM_UP_S = 4;
const PAYMENTS_PER_S = 600;
const PATIENCE_MS = 60_000;
const POLL_MS = 100;
const NAMED = { preload: 'threadNames.ts', options: AS_STARTED };

interface Measured {
  readonly placed: readonly Placement[];
  readonly filled: readonly Closed[];
  readonly latenciesMs: readonly number[];
  readonly callsMs: readonly number[];
  readonly taken: Taken;
  readonly clientsMs: number;
  readonly notes: readonly string[];
}

export const devnet: Bench = {
  name: 'devnet',
  async measure(scale, progress) {
    const rows: string[][] = [];
    const notes = [NOTE];
    const paid = new Map<number, Paid>();
    for (const setting of SETTINGS) {
      const { clients, blockEveryMs } = setting;
      const who = clients === 1 ? '1 client' : `${clients} clients`;
      const name = `${who}, block every ${blockEveryMs} ms`;
      progress(name);
      const known = paid.get(blockEveryMs) ?? (await measureLedger(blockEveryMs, scale));
      paid.set(blockEveryMs, known);
      const found = await measureMarket(setting, scale);
      rows.push([name, ...cells(found, known)]);
      notes.push(...found.notes.map((note) => `${name}: ${note}.`));
    }
    for (const [blockEveryMs, { perSecond, ledgerMsEach }] of paid) {
      const cost = `${fixed(ledgerMsEach, 2)} ms of CPU each`;
      notes.push(`Ledger alone, ${blockEveryMs} ms: ${whole(perSecond)} payments/s, ${cost}.`);
    }
    return { columns: COLUMNS, rows, notes };
  },
};

const NOTE =
  'Busy: CPU over wall time, of a thread (rest: garbage collection, compiling, store), or of the ' +
  'process of the clients. All share the cores.';

const COLUMNS = [
  'clients',
  'placed/s',
  'filled/s',
  'orders/batch',
  'ledger alone payments/s',
  'ratio',
  'order call p50 ms',
  'accepted → filled p50 ms',
  'p99 ms',
  'CPU ms/order',
  'main busy',
  'ledger busy',
  'builder busy',
  'rest busy',
  'clients busy',
];

function cells(found: Measured, { perSecond }: Paid): string[] {
  const { placed, filled, latenciesMs, callsMs, taken, clientsMs } = found;
  const seconds = taken.wallMs / 1000;
  const threads = ['main', 'ledger', 'builder'];
  const busy = (name: string) => (taken.threadMs[name] ?? 0) / taken.wallMs;
  const batches = new Set(filled.map(({ by }) => by)).size;
  const rate = filled.length / seconds;
  return [
    fixed(placed.length / seconds, 1),
    fixed(rate, 1),
    fixed(filled.length / batches, 1),
    fixed(perSecond, 1),
    fixed(rate / perSecond, 3),
    fixed(quantile(callsMs, 0.5), 1),
    whole(quantile(latenciesMs, 0.5)),
    whole(quantile(latenciesMs, 0.99)),
    fixed(taken.cpuMs / filled.length, 1),
    ...threads.map((name) => percent(busy(name))),
    percent(taken.cpuMs / taken.wallMs - threads.reduce((sum, name) => sum + busy(name), 0)),
    percent(clientsMs / taken.wallMs),
  ];
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function measureMarket(
  { clients: count, blockEveryMs }: Setting,
  { seconds, rounds }: Scale,
): Promise<Measured> {
  const market = await Process.start<Devnet>('devnet.ts', 'any', [String(blockEveryMs)], NAMED);
  const clients = await Process.start<Clients>('clients.ts', 'any');
  const url = `http://127.0.0.1:${await market.ask('port')}`;
  await clients.ask('prepare', { url, clients: count, tokens: TOKENS });
  const windowSeconds = seconds * rounds;
  const totalSeconds = WARM_UP_S + windowSeconds;
  const trading = clients.ask('trade', totalSeconds);
  await pause(WARM_UP_S * 1000);
  await market.ask('begin');
  const fromMs = performance.now();
  await pause(windowSeconds * 1000 - (performance.now() - fromMs));
  const taken = await market.ask('end');
  const traded = await trading;
  await drained(market);
  const closed = await market.ask('take');
  await Promise.all([market.end(), clients.end()]);
  return joined(traded, closed, taken, { totalSeconds, windowSeconds });
}

/** Until no order is open any more. */
async function drained(market: Process<Devnet>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  for (let quiet = 0; quiet < 5; ) {
    const open = await market.ask('openOrders');
    quiet = open === 0 ? quiet + 1 : 0;
    if (performance.now() > endMs) throw new Error(`${open} orders are still open`);
    await pause(POLL_MS);
  }
}

/** Those of the window: it ends as the clients stop. */
function joined(
  { placements, failures, cpuMs }: Trading,
  closed: readonly Closed[],
  taken: Taken,
  { totalSeconds, windowSeconds }: { totalSeconds: number; windowSeconds: number },
): Measured {
  const firstMs = Math.min(...placements.map(({ askedMs }) => askedMs));
  const fromMs = firstMs + (totalSeconds - windowSeconds) * 1000;
  const toMs = firstMs + totalSeconds * 1000;
  const isIn = (atMs: number) => atMs >= fromMs && atMs < toMs;
  const placed = placements.filter(({ acceptedMs }) => isIn(acceptedMs));
  const closings = new Map(closed.map((each) => [each.id, each]));
  const filled = closed.filter(({ state, atMs }) => state === 'executed' && isIn(atMs));
  const latenciesMs = placed.flatMap(({ id, acceptedMs }) => {
    const closing = closings.get(id);
    return closing?.state === 'executed' ? [closing.atMs - acceptedMs] : [];
  });
  const never = placements.filter(({ id }) => closings.get(id)?.state !== 'executed').length;
  const refused = Object.entries(failures).map(([cause, times]) => `${times} × ${cause}`);
  const fate = `${placements.length} orders were placed, ${never} of them never filled`;
  const notes = refused.length === 0 ? [fate] : [fate, `refused: ${refused.join(', ')}`];
  return {
    placed,
    filled,
    latenciesMs,
    callsMs: placed.map(({ askedMs, acceptedMs }) => acceptedMs - askedMs),
    taken,
    clientsMs: (cpuMs / totalSeconds) * windowSeconds,
    notes,
  };
}

interface Paid {
  readonly perSecond: number;
  readonly ledgerMsEach: number;
}

async function measureLedger(blockEveryMs: number, { seconds, rounds }: Scale): Promise<Paid> {
  const ledger = await Process.start<LedgerProcess>(
    'ledger.ts',
    'any',
    [String(blockEveryMs)],
    NAMED,
  );
  // The first payments warm up.
  await ledger.ask('prepare', PAYMENTS_PER_S);
  await ledger.ask('pay');
  await ledger.ask('prepare', PAYMENTS_PER_S * seconds * rounds);
  const paid = await ledger.ask('pay');
  await ledger.end();
  return { perSecond: paid.count / paid.seconds, ledgerMsEach: paid.cpuUs / 1000 / paid.count };
}
