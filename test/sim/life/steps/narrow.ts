/** Steps for moments that are a few messages long. They end a run: see `drawSchedule`. */
import type { Life } from '../life.ts';
import { type StepKind, stepKind } from './kind.ts';
import { MARKET } from './nats.ts';
import { join } from './nodes.ts';

export const NARROW_STEPS: Readonly<Record<string, StepKind>> = {
  /** People launch and order through a reader, while streams reach it or the others late. */
  askReader: stepKind({
    weight: 0,
    last: 3,
    draw: (draw) => ({
      late: draw.oneOf<'reader' | 'others'>(['reader', 'others']),
      readerMs: draw.between(50, 600),
      othersMs: draw.between(1_500, 6_000),
      orders: draw.between(3, 8),
      seed: draw.between(1, 1_000_000),
      forMs: draw.between(50_000, 70_000),
    }),
    apply: (life, fields) => void askReader(life, fields),
  }),
  /**
   * The leader alone has the newest entries. The log is lost, and one of the writes with which the
   * leader begins it again is held up on its way, until another node has started it from less.
   */
  lateBegin: stepKind({
    weight: 0,
    last: 2,
    draw: (draw) => ({
      blocks: draw.between(2, 8),
      write: draw.oneOf([1, 1, 2, 3]),
      afterMs: draw.between(8, 30),
      forMs: 300_000,
    }),
    apply: lateBegin,
  }),
};

/** Between two orders. */
const ORDER_MS = 3_000;
const LAUNCH_EVERY = 4;

interface AskReader {
  readonly [field: string]: string | number;
  readonly late: 'reader' | 'others';
  readonly readerMs: number;
  readonly othersMs: number;
  readonly orders: number;
  readonly seed: number;
  readonly forMs: number;
}

async function askReader(life: Life, fields: AskReader): Promise<void> {
  const { late, readerMs, othersMs, orders, seed, forMs } = fields;
  const { chain, clock, nodes } = life.deps;
  const reader = await join(life, 'reader', forMs);
  if (reader.app === null) return;
  if (late === 'reader') deliverLate(life, reader.name, readerMs, forMs);
  else for (const { name } of nodes) deliverLate(life, name, othersMs, forMs);
  for (let at = 0; at < orders; at += 1) {
    const kind = at % LAUNCH_EVERY === 0 ? 'launch' : 'buy';
    const choice = { trader: seed + at, token: seed + at, amount: 5 + at, kind } as const;
    clock.after(at * ORDER_MS, () => {
      if (reader.app !== null && !life.isResting) void chain.trade(choice, reader);
    });
  }
}

function deliverLate(life: Life, name: string, ms: number, forMs: number): void {
  const { nats } = life.deps;
  nats.late(name, ms);
  const isWell = life.heldUp.add(name);
  life.share(`streams reach ${name} late`, forMs, () => {
    nats.late(name, 0);
    isWell();
  });
}

/** The leader appends meanwhile. */
const AHEAD_MS = 1_500;
/** For so long after a loss two nodes may begin the log again (watchLog.ts), with some to spare. */
const ALONE_MS = 65_000;
const ALONE_LEASES = 17;

interface LateBegin {
  readonly [field: string]: number;
  readonly blocks: number;
  readonly write: number;
  readonly afterMs: number;
  readonly forMs: number;
}

function lateBegin(life: Life, { blocks, write, afterMs, forMs }: LateBegin): void {
  const leader = life.pick('leader');
  // A node that something else holds up may be the only one that the others do not hear.
  if (leader.app === null || leader.isPaused || life.isDisturbed) return;
  const { nats, chain, clock } = life.deps;
  const others = life.living.filter((node) => node !== leader);
  for (const node of others) node.kill();
  chain.mine(blocks);
  let left = write;
  let isOver = false;
  const over = () => {
    isOver = true;
    nats.onRequest = () => {};
  };
  let release = () => {};
  const holdUp = () => {
    nats.partition(leader.name, 'out');
    const reached = life.cut.add(leader.name);
    release = () => {
      nats.endPartition(leader.name, 'out');
      reached();
      release = () => {};
    };
  };
  nats.onRequest = (node, subject) => {
    if (!isBeginning(subject)) return;
    if (node === leader.name && --left === 0) holdUp();
    if (node === leader.name || left > 0) return;
    over();
    clock.after(afterMs, () => release());
  };
  clock.after(AHEAD_MS, () => {
    if (isOver) return;
    nats.deleteStream(MARKET);
    life.lost();
  });
  for (const node of others) {
    life.hold(node, ALONE_MS + ALONE_LEASES * life.leaseMs, () => {
      if (node.app === null) void life.follow(`start ${node.name}`, node.start());
    });
  }
  life.during(forMs, () => {
    over();
    release();
  });
}

/** A message with which a node begins the log again. */
function isBeginning(subject: string): boolean {
  if (/\.entry\.(notice|epoch)$/.test(subject)) return true;
  return /^\$JS\.API\.STREAM\.(PURGE|DELETE)\./.test(subject) && subject.endsWith(`.${MARKET}`);
}
