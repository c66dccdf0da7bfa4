/**
 * Frames delivered per second, and what one costs the server: our app, fed so that every flush has
 * a change, against `app.publish` of the same bytes at the same pace in a bare server.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Market } from './processes/market.ts';
import type { RawSockets } from './processes/rawSockets.ts';
import type { Receiver } from './processes/receiver.ts';
import { type Bench, fixed, percent, type Scale, whole } from './support/bench.ts';
import type { Usage } from './support/offers.ts';
import { Process, pinned } from './support/processes.ts';
import { assetOf, QUOTE } from './support/trades.ts';

/**
 * Each socket subscribes to the bars of this many pairs; every flush changes each of these pairs.
 */
interface Crowd {
  readonly sockets: number;
  readonly streams: number;
}

const CROWDS: readonly Crowd[] = [
  { sockets: 100, streams: 1 },
  { sockets: 100, streams: 10 },
  { sockets: 1_000, streams: 1 },
  { sockets: 1_000, streams: 10 },
];

/** The cadence of the topic, so that each flush has a change. */
const FEED_EVERY_MS = 5;

const SHARED = 'r0000';
const OWN = 'r####';

interface Window {
  readonly frames: number;
  readonly usage: Usage;
}

/** Windows of one side, added up. */
interface Side {
  readonly framesPerSecond: number;
  /** CPU of the whole process, the feed included. */
  readonly cpuUsPerFrame: number;
  /** Excludes the cost of the same feed or pace without listeners. */
  readonly fanOutUsPerFrame: number;
  readonly busy: number;
  readonly loopDelayP99Ms: number;
}

interface Stage {
  readonly ours: Process<Market>;
  readonly raw: Process<RawSockets>;
  readonly receiver: Process<Receiver>;
  readonly rawReceiver: Process<Receiver>;
}

export const fanOut: Bench = {
  name: 'fanOut',
  async measure(scale, progress) {
    const rows: string[][] = [];
    let frameBytes = 0;
    let lost = 0;
    for (const crowd of CROWDS) {
      const stage = await setStage();
      const frames = await capture(stage.ours, crowd);
      frameBytes = frames[0]?.length ?? 0;
      const idle = await measureUnheard(stage, crowd, frames, scale);
      for (const id of [SHARED, OWN]) {
        const name = `${whole(crowd.sockets)} sockets × ${crowd.streams}, ${nameOf(id)}`;
        progress(name);
        const result = await measureCrowd(stage, crowd, { id, frames, idle }, scale);
        rows.push([name, ...cells(result.ours, result.raw)]);
        lost += result.lost;
      }
      await Promise.all(Object.values(stage).map((process) => process.end()));
    }
    return { columns: COLUMNS, rows, notes: notesOf(frameBytes, lost) };
  },
};

const COLUMNS = [
  'sockets × frames a flush, requestIds',
  'frames/s',
  'raw frames/s',
  'ratio',
  'fan-out µs/frame',
  'raw µs/frame',
  'CPU ratio',
  'whole process µs/frame',
  'core busy',
  'raw busy',
  'loop delay p99 ms',
  'raw p99 ms',
];

function cells(ours: Side, raw: Side): string[] {
  return [
    whole(ours.framesPerSecond),
    whole(raw.framesPerSecond),
    fixed(ours.framesPerSecond / raw.framesPerSecond),
    fixed(ours.fanOutUsPerFrame),
    fixed(raw.fanOutUsPerFrame),
    fixed(raw.fanOutUsPerFrame / ours.fanOutUsPerFrame),
    fixed(ours.cpuUsPerFrame),
    percent(ours.busy),
    percent(raw.busy),
    fixed(ours.loopDelayP99Ms, 1),
    fixed(raw.loopDelayP99Ms, 1),
  ];
}

function notesOf(frameBytes: number, lost: number): string[] {
  return [
    `A frame has ${frameBytes} bytes. ${lost} sockets were closed by a server.`,
    pinned ? 'Servers on core 0, receivers on core 1.' : 'Not pinned: no taskset, or one core.',
  ];
}

function nameOf(id: string): string {
  return id === SHARED ? 'one id' : 'all different';
}

async function setStage(): Promise<Stage> {
  const [ours, raw, receiver, rawReceiver] = await Promise.all([
    Process.start<Market>('market.ts', 'server'),
    Process.start<RawSockets>('rawSockets.ts', 'server'),
    Process.start<Receiver>('receiver.ts', 'client'),
    Process.start<Receiver>('receiver.ts', 'client'),
  ]);
  return { ours, raw, receiver, rawReceiver };
}

/** The messages by which a socket subscribes to all streams under ids that begin with `id`. */
function greetingOf(id: string, streams: number): string {
  const topics = Array.from({ length: streams }, (_, pair) => ({
    requestId: `${id}-${pair}`,
    topic: 'LastBar',
    data: { pair: { base: assetOf(pair), quote: QUOTE }, interval: 'min1' },
  }));
  return JSON.stringify({ messageType: 'subscribe', topics });
}

/** One frame of each stream as the app sends it, so that the bare server sends the same bytes. */
async function capture(ours: Process<Market>, crowd: Crowd): Promise<Uint8Array[]> {
  const { streams } = crowd;
  const socket = new WebSocket(`ws://127.0.0.1:${await ours.ask('port')}/ws`);
  await once(socket, 'open');
  const latest = new Map<string, Buffer>();
  const whole = new Promise<void>((resolve) => {
    socket.on('message', (bytes: Buffer) => {
      const [, id, event] = /^{"requestId":"([^"]+)","event":"(\w+)"/.exec(String(bytes)) ?? [];
      const isUpdate = event === 'LastBarUpdate' && !bytes.includes('"snapshot":true');
      if (isUpdate && id !== undefined) latest.set(id, Buffer.from(bytes));
      if (latest.size === streams) resolve();
    });
  });
  socket.send(greetingOf(SHARED, streams));
  await ours.ask('feed', feedOf(crowd));
  await whole;
  await ours.ask('rest');
  socket.terminate();
  return [...latest.values()];
}

interface Idle {
  /** CPU microseconds a second without listeners. */
  readonly ours: number;
  readonly raw: number;
}

async function measureUnheard(
  stage: Stage,
  crowd: Crowd,
  frames: readonly Uint8Array[],
  scale: Scale,
): Promise<Idle> {
  const { ours, raw, receiver, rawReceiver } = stage;
  await ours.ask('feed', feedOf(crowd));
  await run(ours, receiver, 1);
  const fed = await run(ours, receiver, scale.seconds);
  await ours.ask('rest');
  await raw.ask('feed', { frames });
  const paced = await run(raw, rawReceiver, scale.seconds);
  await raw.ask('rest');
  return { ours: cpuUsPerSecond(fed), raw: cpuUsPerSecond(paced) };
}

function feedOf({ streams }: Crowd) {
  return { pairs: streams, everyMs: FEED_EVERY_MS };
}

async function measureCrowd(
  stage: Stage,
  crowd: Crowd,
  how: { readonly id: string; readonly frames: readonly Uint8Array[]; readonly idle: Idle },
  { seconds, rounds }: Scale,
): Promise<{ ours: Side; raw: Side; lost: number }> {
  const { ours, raw, receiver, rawReceiver } = stage;
  const { sockets, streams } = crowd;
  // Each subscription is acknowledged and gets its snapshot.
  const framesEach = 2 * streams;
  const greeting = greetingOf(how.id, streams);
  await receiver.ask('open', { port: await ours.ask('port'), sockets, greeting, framesEach });
  const rawPort = await raw.ask('port');
  await rawReceiver.ask('open', { port: rawPort, sockets, greeting: null, framesEach: 0 });
  const oursWindows: Window[] = [];
  const rawWindows: Window[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The first round warms up.
    const length = round === 0 ? 1 : seconds;
    await receiver.ask('nudge');
    await ours.ask('feed', feedOf(crowd));
    const our = await run(ours, receiver, length);
    await ours.ask('rest');
    await raw.ask('feed', { frames: how.frames });
    const bare = await run(raw, rawReceiver, length);
    await raw.ask('rest');
    if (round > 0) oursWindows.push(our);
    if (round > 0) rawWindows.push(bare);
  }
  const lost = (await receiver.ask('close')) + (await rawReceiver.ask('close'));
  return {
    ours: sideOf(oursWindows, how.idle.ours),
    raw: sideOf(rawWindows, how.idle.raw),
    lost,
  };
}

/** Both ends of a window are asked together; the time between the two answers is microseconds. */
async function run(
  server: Process<Market> | Process<RawSockets>,
  receiver: Process<Receiver>,
  seconds: number,
): Promise<Window> {
  // trust: both offer the same two functions, which the union of their types hides
  const measured = server as Process<Pick<Market, 'begin' | 'end'>>;
  const [before] = await Promise.all([receiver.ask('frames'), measured.ask('begin')]);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const [after, usage] = await Promise.all([receiver.ask('frames'), measured.ask('end')]);
  return { frames: after - before, usage };
}

function cpuUsPerSecond({ usage }: Window): number {
  return usage.cpuUs / (usage.wallMs / 1000);
}

function sideOf(windows: readonly Window[], idleUsPerSecond: number): Side {
  const sum = (of: (window: Window) => number) => windows.reduce((all, one) => all + of(one), 0);
  const frames = sum((window) => window.frames);
  const seconds = sum(({ usage }) => usage.wallMs) / 1000;
  const cpuUs = sum(({ usage }) => usage.cpuUs);
  return {
    framesPerSecond: frames / seconds,
    cpuUsPerFrame: cpuUs / frames,
    fanOutUsPerFrame: (cpuUs - idleUsPerSecond * seconds) / frames,
    busy: cpuUs / 1e6 / seconds,
    loopDelayP99Ms: Math.max(...windows.map(({ usage }) => usage.loopDelayP99Ms)),
  };
}
