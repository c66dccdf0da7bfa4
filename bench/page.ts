/**
 * The page in a browser while the market moves: how long its main thread is blocked and by which
 * work, and whether its memory grows. The question, the method and the numbers are in RESULTS.md.
 */
import { openBrowser, type Visit, visit } from '../test/browser/support.ts';
import type { MovingMarket } from './processes/movingMarket.ts';
import type { SyncingNode } from './processes/syncingNode.ts';
import { type Bench, fixed, percent, whole } from './support/bench.ts';
import { type FirstView, firstView } from './support/firstView.ts';
import { keepInStep } from './support/keepInStep.ts';
import { type Held, PageTrace, type Task } from './support/pageTrace.ts';
import { pause } from './support/pause.ts';
import { AS_STARTED, Process } from './support/processes.ts';
import { slopeOf } from './support/slope.ts';

const UPDATES_A_SECOND = 1_000;
/** The page is at one place for so long, then at the next. */
const STAY_SECONDS = 30;
const MIN_STAYS = 4;
/** At each place, as a visitor sees it first. */
const OPENING_SECONDS = 5;
const OPENING = 'opening';
const LONG_MS = 50;
/** Most tasks that the report lists one by one. */
const MAX_TOLD = 8;
const MAX_PARTS = 4;

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
  /** Frames of the screen. */
  readonly drawn: number;
  /** That the server has followed. */
  readonly updates: number;
  /** At its end; minutes are those since the first visit. */
  readonly held: Held;
  readonly minutes: number;
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
      const address = `http://127.0.0.1:${await node.ask('port')}`;
      progress('first views');
      const token = `#/token/${await market.ask('token')}`;
      const views = [
        ['home', await firstView(browser, address, '', '.pools a.pool')],
        ['a token', await firstView(browser, address, token, '.legend > span')],
        ['home on a phone', await firstView(browser, address, '', '.pools a.pool', PHONE)],
        ['a token on a phone', await firstView(browser, address, token, '.legend > span', PHONE)],
      ] as const;
      const seen = await visit(browser, address);
      await seen.page.addInitScript(COUNTING);
      const trace = await PageTrace.of(seen.page);
      const stays = await visitPlaces({ seen, trace, market, node }, visitSeconds, progress);
      const names = [...new Set(stays.map(({ place }) => place))];
      const rows = names.map((name) => cells(name, stays));
      const notes = [...views.map(viewNote), ...notesOf(stays, seen.errors)];
      return { columns: COLUMNS, rows, notes };
    } finally {
      for (const close of closing) await close();
      await Promise.all([node.end(), market.end()]);
    }
  },
};

const PHONE = { slowdown: 4, kilobytesPerSecond: 200 };

/** Runs in the page before the page's scripts: counts what its sockets hear and what is drawn. */
const COUNTING = `(() => {
  globalThis.heardFrames = 0;
  globalThis.drawnFrames = 0;
  const drawn = () => { globalThis.drawnFrames += 1; requestAnimationFrame(drawn); };
  requestAnimationFrame(drawn);
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
  'drawn/s',
  'tasks/s',
  'thread busy',
  'longest task, wall ms',
  'over 50 ms',
  'longest task, CPU ms',
  'over 50 ms',
  'heap MiB, first',
  'last',
  'MiB a minute',
  'nodes, first',
  'last',
  'listeners, first',
  'last',
];

async function visitPlaces(
  scene: Scene,
  visitSeconds: number,
  progress: (what: string) => void,
): Promise<readonly Stay[]> {
  const { seen, market, node } = scene;
  const places = [
    ['home', '#/list/trending'],
    ['a token', `#/token/${await market.ask('token')}`],
  ] as const;
  await market.ask('begin', { perSecond: UPDATES_A_SECOND });
  const following = keepInStep(market, node);
  const beganMs = performance.now();
  const stay = async (place: string, visitIt: () => Promise<void>): Promise<Stay> => {
    const told = await stayAt(scene, place, visitIt);
    return { ...told, minutes: (performance.now() - beganMs) / 60_000 };
  };
  try {
    progress(OPENING);
    const opening = await stay(OPENING, async () => {
      await seen.open();
      await seen.live();
      for (const [, hash] of places) {
        await goTo(seen, hash);
        await pause(OPENING_SECONDS * 1_000);
      }
    });
    const seconds = Math.min(STAY_SECONDS, visitSeconds / MIN_STAYS);
    const stays: Stay[] = [];
    while (stays.length * seconds < visitSeconds) {
      const [place, hash] = places[stays.length % places.length] ?? places[0];
      progress(`${place}, after ${whole(stays.length * seconds)} s`);
      const visitIt = async () => {
        await goTo(seen, hash);
        await pause(seconds * 1_000);
      };
      stays.push(await stay(place, visitIt));
    }
    return [opening, ...stays];
  } finally {
    await following.stop();
  }
}

/** Going there is part of it. */
async function stayAt(
  { seen, trace, market, node }: Scene,
  place: string,
  visitIt: () => Promise<void>,
): Promise<Omit<Stay, 'minutes'>> {
  const heard = () => seen.page.evaluate<number>('globalThis.heardFrames ?? 0');
  const served = async () => market.ask('updatesAt', await node.ask('height'));
  const drawnNow = () => seen.page.evaluate<number>('globalThis.drawnFrames ?? 0');
  await trace.begin();
  const [frames, updates, fromMs] = [await heard(), await served(), performance.now()];
  const drawnBefore = await drawnNow();
  await visitIt();
  const behind = (await market.ask('height')) - (await node.ask('height'));
  const found = {
    frames: (await heard()) - frames,
    drawn: (await drawnNow()) - drawnBefore,
    updates: (await served()) - updates,
    wallMs: performance.now() - fromMs,
  };
  const tasks = await trace.end();
  return { place, tasks, ...found, behind, held: await trace.held() };
}

async function goTo(seen: Visit, hash: string): Promise<void> {
  await seen.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

function cells(name: string, all: readonly Stay[]): string[] {
  const stays = all.filter(({ place }) => place === name);
  const tasks = stays.flatMap((stay) => stay.tasks);
  const sum = (of: (stay: Stay) => number) => stays.reduce((total, each) => total + of(each), 0);
  const seconds = sum(({ wallMs }) => wallMs) / 1000;
  const cpuMs = tasks.reduce((total, each) => total + each.cpuMs, 0);
  const longest = (of: (task: Task) => number) =>
    tasks.reduce((most, task) => Math.max(most, of(task)), 0);
  const over = (of: (task: Task) => number) => tasks.filter((task) => of(task) > LONG_MS).length;
  const [first, last] = [stays[0]?.held, stays.at(-1)?.held];
  const slope = slopeOf(stays.map(({ minutes, held }) => [minutes, held.heapMib]));
  return [
    name,
    whole(sum(({ updates }) => updates) / seconds),
    whole(sum(({ frames }) => frames) / seconds),
    whole(sum(({ drawn }) => drawn) / seconds),
    whole(tasks.length / seconds),
    percent(cpuMs / 1000 / seconds),
    fixed(longest(wallOf), 1),
    whole(over(wallOf)),
    fixed(longest(cpuOf), 1),
    whole(over(cpuOf)),
    fixed(first?.heapMib ?? 0),
    fixed(last?.heapMib ?? 0),
    stays.length > 2 ? fixed(slope, 3) : '–',
    whole(first?.nodes ?? 0),
    whole(last?.nodes ?? 0),
    whole(first?.listeners ?? 0),
    whole(last?.listeners ?? 0),
  ];
}

function viewNote([place, view]: readonly [string, FirstView]): string {
  const { requests, kilobytes, socketKilobytes, shownMs, paintedMs, blockedMs } = view;
  const what = place.startsWith('home') ? 'its list' : 'its first bar';
  return [
    `First view of ${place}, before the market moves: ${whole(requests)} requests,`,
    `${whole(kilobytes)} kB over the network, ${whole(socketKilobytes)} kB of messages,`,
    `${what} ${whole(shownMs)} ms after the navigation, the largest part painted after`,
    `${whole(paintedMs)} ms, the main thread blocked for ${whole(blockedMs)} ms`,
    '(medians of five new visitors).',
  ].join(' ');
}

const wallOf = ({ wallMs }: Task) => wallMs;
const cpuOf = ({ cpuMs }: Task) => cpuMs;

function notesOf(stays: readonly Stay[], errors: readonly string[]): string[] {
  const seconds = stays.reduce((sum, { wallMs }) => sum + wallMs, 0) / 1000;
  const behind = Math.max(...stays.map((stay) => stay.behind));
  const unexpected = errors.filter((error) => !error.includes('404 (Not Found)'));
  const heaps = [...new Set(stays.map(({ place }) => place))].map((name) => {
    const all = stays.filter(({ place }) => place === name);
    return `${name} ${all.map(({ held }) => fixed(held.heapMib)).join(', ')}`;
  });
  return [
    `${whole(seconds)} s in all, both places in turns; half of the updates are of the token.`,
    `Heap after a forced collection at the end of each stay, MiB: ${heaps.join('; ')}.`,
    `The server was at most ${behind} blocks (of 100 ms) behind its chain at the end of a stay.`,
    `${unexpected.length} errors in the console of the page, apart from missing logos.`,
    ...longTasks(stays),
  ];
}

/** Each task over 50 ms on the wall, the longest first: its kind, wall/CPU. */
function longTasks(stays: readonly Stay[]): string[] {
  const all = stays.flatMap(({ place, tasks }) => tasks.map((task) => ({ place, ...task })));
  const long = all.filter((task) => wallOf(task) > LONG_MS).sort((a, b) => b.wallMs - a.wallMs);
  const times = (wallMs: number, cpuMs: number) => `${fixed(wallMs, 0)}/${fixed(cpuMs, 0)}`;
  const told = long.slice(0, MAX_TOLD).map(({ place, wallMs, cpuMs, parts }) => {
    const named = parts.slice(0, MAX_PARTS).map((part) => {
      return `${part.name} ${times(part.wallMs, part.cpuMs)}`;
    });
    return `${place}, ${times(wallMs, cpuMs)} ms: ${named.join(', ')}.`;
  });
  const waited = long.filter((task) => cpuOf(task) <= LONG_MS).length;
  const sum = `${long.length} tasks of ${whole(all.length)} over 50 ms on the wall; ${waited} of`;
  return [`${sum} them took no more than 50 ms of a processor, and waited for one.`, ...told];
}
