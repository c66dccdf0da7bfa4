/**
 * The page in a browser while the market moves: how long its main thread is held, and whether its
 * memory grows. The question, the method and the numbers are in RESULTS.md.
 */
import { openBrowser, type Visit, visit } from '../test/browser/support.ts';
import type { MovingMarket } from './processes/movingMarket.ts';
import type { SyncingNode } from './processes/syncingNode.ts';
import { type Bench, fixed, percent, whole } from './support/bench.ts';
import { PageTrace, type Task } from './support/pageTrace.ts';
import { AS_STARTED, Process } from './support/processes.ts';

const UPDATES_A_SECOND = 1_000;
/** The page is at one place for so long, then at the next. */
const STAY_SECONDS = 30;
const LEAST_STAYS = 4;
const WARM_SECONDS = 5;
const STEP_SECONDS = 0.1;
const LONG_MS = 50;

interface Scene {
  readonly seen: Visit;
  readonly trace: PageTrace;
  readonly market: Process<MovingMarket>;
  readonly node: Process<SyncingNode>;
}

interface Stay {
  readonly place: string;
  readonly tasks: readonly Task[];
  readonly wallMs: number;
  readonly frames: number;
  /** That the server has followed. */
  readonly updates: number;
  readonly heapMib: number;
  /** Blocks that the server had still to follow. */
  readonly behind: number;
}

export const page: Bench = {
  name: 'page',
  async measure({ visitSeconds }, progress) {
    const closing: (() => void | Promise<void>)[] = [];
    const market = await Process.start<MovingMarket>('movingMarket.ts', 'any');
    const url = `ws://127.0.0.1:${await market.ask('port')}`;
    const how = { options: AS_STARTED };
    const node = await Process.start<SyncingNode>('syncingNode.ts', 'any', [url, 'busy'], how);
    try {
      const browser = await openBrowser({ after: (run) => void closing.push(run) });
      const seen = await visit(browser, `http://127.0.0.1:${await node.ask('port')}`);
      await seen.page.addInitScript(COUNTING);
      const trace = await PageTrace.of(seen.page);
      const stays = await visitPlaces({ seen, trace, market, node }, visitSeconds, progress);
      const names = [...new Set(stays.map(({ place }) => place))];
      const rows = names.map((name) => cells(name, stays));
      return { columns: COLUMNS, rows, notes: notesOf(stays, seen.errors) };
    } finally {
      for (const close of closing) await close();
      await Promise.all([node.end(), market.end()]);
    }
  },
};

/** Runs in the page before anything of it: counts the messages of its sockets. */
const COUNTING = `(() => {
  globalThis.heardFrames = 0;
  const count = () => { globalThis.heardFrames += 1; };
  globalThis.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', count);
    }
  };
})()`;

const COLUMNS = [
  'place',
  'updates/s',
  'frames/s',
  'tasks/s',
  'thread busy',
  'longest task, wall ms',
  'over 50 ms',
  'longest task, CPU ms',
  'over 50 ms',
  'heap MiB, first',
  'half way',
  'last',
];

async function visitPlaces(
  scene: Scene,
  visitSeconds: number,
  progress: (what: string) => void,
): Promise<readonly Stay[]> {
  const { seen, market } = scene;
  const places = [
    ['home', '#/list/Latest'],
    ['a token', `#/token/${await market.ask('token')}`],
  ] as const;
  await market.ask('begin', { perSecond: UPDATES_A_SECOND });
  const following = keepInStep(scene);
  try {
    await seen.open();
    await seen.live();
    for (const [, hash] of places) {
      await goTo(seen, hash);
      await pause(WARM_SECONDS);
    }
    const seconds = Math.min(STAY_SECONDS, visitSeconds / LEAST_STAYS);
    const stays: Stay[] = [];
    while (stays.length * seconds < visitSeconds) {
      const [place, hash] = places[stays.length % places.length] ?? places[0];
      progress(`${place}, after ${whole(stays.length * seconds)} s`);
      stays.push(await stayAt(scene, place, hash, seconds));
    }
    return stays;
  } finally {
    await following.stop();
  }
}

/** Tells the market how far its server is; what is told late only slows it down. */
function keepInStep({ market, node }: Scene) {
  let isOver = false;
  const run = async () => {
    while (!isOver) {
      await market.ask('followed', await node.ask('height'));
      await pause(STEP_SECONDS);
    }
  };
  const running = run();
  return {
    stop(): Promise<void> {
      isOver = true;
      return running;
    },
  };
}

/** Going there is part of it. */
async function stayAt(
  { seen, trace, market, node }: Scene,
  place: string,
  hash: string,
  seconds: number,
): Promise<Stay> {
  const heard = () => seen.page.evaluate<number>('globalThis.heardFrames');
  const served = async () => market.ask('updatesAt', await node.ask('height'));
  await trace.begin();
  const [frames, updates, fromMs] = [await heard(), await served(), performance.now()];
  await goTo(seen, hash);
  await pause(seconds);
  const behind = (await market.ask('height')) - (await node.ask('height'));
  const found = {
    frames: (await heard()) - frames,
    updates: (await served()) - updates,
    wallMs: performance.now() - fromMs,
  };
  const tasks = await trace.end();
  return { place, tasks, ...found, behind, heapMib: await trace.heapMib() };
}

async function goTo(seen: Visit, hash: string): Promise<void> {
  await seen.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

function cells(name: string, all: readonly Stay[]): string[] {
  const stays = all.filter(({ place }) => place === name);
  const tasks = stays.flatMap((stay) => stay.tasks);
  const sum = (of: (stay: Stay) => number) => stays.reduce((total, each) => total + of(each), 0);
  const seconds = sum(({ wallMs }) => wallMs) / 1000;
  const cpuMs = tasks.reduce((total, each) => total + each.cpuMs, 0);
  const longest = (of: (task: Task) => number) =>
    tasks.reduce((most, task) => Math.max(most, of(task)), 0);
  const long = (of: (task: Task) => number) => tasks.filter((task) => of(task) > LONG_MS).length;
  const heap = (share: number) =>
    fixed(stays[Math.floor((stays.length - 1) * share)]?.heapMib ?? 0, 1);
  return [
    name,
    whole(sum(({ updates }) => updates) / seconds),
    whole(sum(({ frames }) => frames) / seconds),
    whole(tasks.length / seconds),
    percent(cpuMs / 1000 / seconds),
    fixed(
      longest(({ wallMs }) => wallMs),
      1,
    ),
    whole(long(({ wallMs }) => wallMs)),
    fixed(
      longest(({ cpuMs: ms }) => ms),
      1,
    ),
    whole(long(({ cpuMs: ms }) => ms)),
    heap(0),
    heap(0.5),
    heap(1),
  ];
}

function notesOf(stays: readonly Stay[], errors: readonly string[]): string[] {
  const seconds = stays.reduce((sum, { wallMs }) => sum + wallMs, 0) / 1000;
  const behind = Math.max(...stays.map((stay) => stay.behind));
  const unexpected = errors.filter((error) => !error.includes('404 (Not Found)'));
  const heaps = [...new Set(stays.map(({ place }) => place))].map((name) => {
    const all = stays.filter(({ place }) => place === name);
    return `${name} ${all.map(({ heapMib }) => fixed(heapMib, 1)).join(', ')}`;
  });
  return [
    `${whole(seconds)} s in all, both places in turns; half of the updates are of the token.`,
    `Heap after a forced collection at the end of each stay, MiB: ${heaps.join('; ')}.`,
    `The server was at most ${behind} blocks (of 100 ms) behind its chain at the end of a stay.`,
    `${unexpected.length} errors in the console of the page, but for logos that nobody has.`,
  ];
}
