/** Requests over HTTP to our server and to a peer in turn, with one core for either. */
import type { Asker } from '../processes/asker.ts';
import type { Market } from '../processes/market.ts';
import { fixed, percent, type Scale, whole } from './bench.ts';
import type { Process } from './processes.ts';

export interface Work {
  readonly name: string;
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  readonly connections: number;
  readonly hasPeer: boolean;
  /** Each case is requested once, because a second request would be another case. */
  readonly once: boolean;
}

export type Side = Process<Pick<Market, 'port' | 'begin' | 'end'>>;

interface Window {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuUs: number;
  readonly loopMs: number;
}

export const COLUMNS = [
  'request',
  'bytes',
  'requests/s',
  'peer requests/s',
  'ratio',
  'CPU µs',
  'peer CPU µs',
  'CPU ratio',
  'core busy',
  'loop ms',
  'peer loop ms',
];

export async function measureWork(
  work: Work,
  { ours, peer, asker }: { ours: Side; peer: Side; asker: Process<Asker> },
  { seconds, rounds }: Scale,
): Promise<string[]> {
  const our: Window[] = [];
  const theirs: Window[] = [];
  let bytes = 0;
  const times = work.once ? 1 : rounds;
  for (let round = work.once ? 1 : 0; round <= times; round += 1) {
    const length = work.once ? null : round === 0 ? 1 : seconds;
    for (const [side, windows] of [
      [ours, our],
      [peer, theirs],
    ] as const) {
      if (side === peer && !work.hasPeer) continue;
      const { window, bytesEach } = await run(side, asker, work, length);
      if (round > 0) windows.push(window);
      if (side === ours) bytes = bytesEach;
    }
  }
  return cells(work.name, bytes, sumOf(our), work.hasPeer ? sumOf(theirs) : null);
}

async function run(side: Side, asker: Process<Asker>, work: Work, seconds: number | null) {
  const { requests, connections } = work;
  const port = await side.ask('port');
  await side.ask('begin');
  const asked = await asker.ask('ask', { port, requests, connections, seconds });
  const { cpuUs, loopBusyMs: loopMs } = await side.ask('end');
  const window = { ...asked, cpuUs, loopMs };
  return { window, bytesEach: asked.bytes / asked.requests };
}

function sumOf(windows: readonly Window[]): Window {
  const sum = (of: (window: Window) => number) => windows.reduce((all, one) => all + of(one), 0);
  return {
    requests: sum((window) => window.requests),
    seconds: sum((window) => window.seconds),
    cpuUs: sum((window) => window.cpuUs),
    loopMs: sum((window) => window.loopMs),
  };
}

function cells(name: string, bytes: number, ours: Window, peer: Window | null): string[] {
  const rate = (side: Window) => side.requests / side.seconds;
  const cpu = (side: Window) => side.cpuUs / side.requests;
  const beside = (text: (side: Window) => string) => (peer === null ? '–' : text(peer));
  return [
    name,
    whole(bytes),
    whole(rate(ours)),
    beside((side) => whole(rate(side))),
    beside((side) => fixed(rate(ours) / rate(side))),
    whole(cpu(ours)),
    beside((side) => whole(cpu(side))),
    beside((side) => fixed(cpu(side) / cpu(ours))),
    percent(ours.cpuUs / 1e6 / ours.seconds),
    fixed(ours.loopMs / ours.requests),
    beside((side) => fixed(side.loopMs / side.requests)),
  ];
}
