/** Faults of the storage of NATS: its room, and its copies of streams. */
import { openEntry, sealEntry } from '../../../../src/engine/log/entry.ts';
import type { Life } from '../life.ts';
import { type Draw, type StepKind, stepKind } from './kind.ts';
import { downOf, MARKET, STREAMS } from './nats.ts';

const DOWN_MS = 2_000;
/** A copy that a flipped bit damaged is replaced after so long. */
const MENDED_MS = 60_000;

export const STORAGE_STEPS: Readonly<Record<string, StepKind>> = {
  /** The storage of NATS takes nothing: no lease, no entry. */
  natsFull: stepKind({
    weight: 2,
    alone: 1,
    draw: (draw) => ({ forMs: draw.duration() }),
    apply(life, { forMs }) {
      life.deps.nats.fillStorage(true);
      life.share('NATS is full', forMs, () => life.deps.nats.fillStorage(false));
    },
  }),
  /**
   * The disk of one server turns a bit of an entry that a node missed while it was down, as in
   * report 7549 of nats-server. That server never delivers it, and may lack the messages after it.
   */
  damageOneCopy: stepKind({
    weight: 1,
    alone: 2,
    draw: (draw) => ({ ...missed(draw), ended: draw.oneOf<Ended>(['killed', 'stopped']) }),
    apply(life, { ended, ...fields }) {
      whileMissed(life, fields, (seq, server) => flipBit(life, seq, server, ended));
    },
  }),
  /**
   * All servers but one lose their last writes. The other one keeps them, and takes later messages:
   * report 7567 of nats-server.
   */
  maxLoseWrites: stepKind({
    weight: 2,
    alone: 3,
    draw: (draw) => ({
      keeps: draw.between(0, 2),
      loseLastMs: draw.oneOf([100, 2_000, 20_000]),
      forMs: draw.between(500, 10_000),
    }),
    apply: maxLoseWrites,
  }),
  /**
   * One copy has another entry than the others, as valid as theirs, at a sequence that a node
   * missed while it was down. The entry behind it follows the other ones' entry.
   */
  twoHistories: stepKind({
    weight: 1,
    alone: 2,
    draw: missed,
    apply(life, fields) {
      whileMissed(life, fields, (seq, server) => rewrite(life, seq, server));
    },
  }),
  /** An operator gives up the copies on one server, and has them made again later. */
  removePeer: stepKind({
    weight: 2,
    alone: 1,
    draw: (draw) => ({ server: draw.between(0, 2), forMs: draw.between(5_000, 60_000) }),
    apply(life, { server, forMs }) {
      const { nats } = life.deps;
      const there = STREAMS.map((stream) => ({ stream, copies: nats.copiesOf(stream) ?? 1 }));
      for (const { stream } of there) nats.removePeer(stream, server);
      life.during(forMs, () => {
        for (const { stream, copies } of there) makeCopies(life, stream, copies);
      });
    },
  }),
  /** Streams with one copy get three: by a restart of all nodes, or by an operator. */
  raiseReplicas: stepKind({
    weight: 1,
    alone: 2,
    draw: (draw: Draw) => ({
      by: draw.oneOf<'nodes' | 'operator'>(['nodes', 'nodes', 'operator']),
      forMs: 60_000,
    }),
    apply: raiseReplicas,
  }),
};

interface Missed {
  readonly [field: string]: string | number;
  readonly server: number;
  /** Which of the missed entries, as a share. */
  readonly percent: number;
  readonly forMs: number;
}

function missed(draw: Draw): Missed {
  return {
    server: draw.between(0, 2),
    percent: draw.between(0, 100),
    forMs: draw.between(15_000, 40_000),
  };
}

/**
 * A follower is down meanwhile; right before it is back, `change` is applied to an entry that it
 * missed.
 */
function whileMissed(
  life: Life,
  { server, percent, forMs }: Missed,
  change: (seq: number, server: number) => void,
): void {
  const node = life.pick('follower');
  if (node.app === null || node.isPaused) return;
  const { seq: from } = node.app.node.applied();
  node.kill();
  life.hold(node, forMs, () => {
    const last = life.deps.nats.lastSeq(MARKET);
    const seq = from + 1 + Math.floor((percent / 101) * (last - from));
    // Nothing says that the last entry is another one, before the next one follows.
    if (seq < last) change(seq, server % life.deps.settings.natsServers);
    life.lost();
    if (!life.isHeld(node)) void life.follow(`start ${node.name}`, node.start());
  });
}

type Ended = 'killed' | 'stopped';

function flipBit(life: Life, seq: number, server: number, ended: Ended): void {
  const { nats } = life.deps;
  nats.killServer(server, 0);
  nats.flipBit(MARKET, seq, server, ended);
  life.share(downOf(server), DOWN_MS, () => {
    nats.startServer(server);
    life.lost();
  });
  // An operator sees LOG_COPY_BEHIND, or that no epoch stays.
  life.during(MENDED_MS, () => mendCopy(life, server));
}

/** The copy is given up and made again; the only one is deleted. */
function mendCopy(life: Life, server: number): void {
  const { nats } = life.deps;
  const copies = nats.copiesOf(MARKET) ?? 1;
  if (copies > 1) {
    nats.removePeer(MARKET, server);
    makeCopies(life, MARKET, copies);
  } else if (!nats.findsNext(MARKET)) nats.deleteStream(MARKET);
  life.lost();
}

/** Asks for fewer and for more: to ask for as many again changes nothing. */
function makeCopies({ deps: { nats } }: Life, stream: string, copies: number): void {
  if (copies > 1) nats.setCopies(stream, copies - 1);
  nats.setCopies(stream, copies);
}

interface MostLose {
  readonly [field: string]: number;
  readonly keeps: number;
  readonly loseLastMs: number;
  readonly forMs: number;
}

function maxLoseWrites(life: Life, { keeps, loseLastMs, forMs }: MostLose): void {
  const { nats, settings } = life.deps;
  const servers = Array.from({ length: settings.natsServers }, (_, at) => at);
  for (const server of servers) {
    if (server === keeps) continue;
    nats.killServer(server, loseLastMs);
    life.share(downOf(server), forMs, () => {
      nats.startServer(server);
      life.lost();
    });
  }
}

function rewrite({ deps: { nats } }: Life, seq: number, server: number): void {
  // The only copy is no other history.
  if ((nats.copiesOf(MARKET) ?? 1) === 1) return;
  const text = nats.textAt(MARKET, seq, server);
  if (text === null) return;
  try {
    const { entry } = openEntry(text);
    nats.rewrite(MARKET, seq, server, sealEntry({ ...entry, timeMs: entry.timeMs + 1 }).text);
  } catch {
    // The message is no entry, and its readers report it already.
  }
}

function raiseReplicas(life: Life, { by, forMs }: { by: 'nodes' | 'operator'; forMs: number }) {
  const { nats, settings } = life.deps;
  const servers = settings.natsServers;
  if (servers === 1) return;
  for (const stream of STREAMS) nats.setCopies(stream, 1);
  if (by === 'nodes') {
    life.roll({ NATS_REPLICAS: String(servers) }, forMs);
    return;
  }
  life.during(forMs / 4, () => {
    for (const stream of STREAMS) nats.setCopies(stream, servers);
  });
}
