/**
 * Several nodes in one process over one faulty stream: real fold, epochs, watch and leadership. The
 * lease is the script's, which gives it to two at once when it likes: it is no part of safety.
 */
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { announcementOf, Epochs } from '../../../src/cluster/epochs.ts';
import { Leadership } from '../../../src/cluster/leadership.ts';
import type { Announcement } from '../../../src/cluster/nats/announcements.ts';
import { retryingLog } from '../../../src/cluster/retryingLog.ts';
import { LogWatch } from '../../../src/cluster/watch.ts';
import { MarketRecord } from '../../../src/engine/fold/marketRecord.ts';
import { Replay } from '../../../src/engine/ingest/replay.ts';
import type { LogWriter } from '../../../src/engine/log/writer.ts';
import { Node } from '../../../src/engine/node/node.ts';
import { type DataFiles, dataFiles } from '../../../src/engine/recovery/dataFiles.ts';
import { recover } from '../../../src/engine/recovery/recovery.ts';
import { Fault } from '../../../src/engine/runtime/assert.ts';
import { systemClock as clock, sleep } from '../../../src/engine/runtime/clock.ts';
import { createEvents, createLogger } from '../../../src/engine/runtime/events.ts';
import { createRegistry } from '../../../src/engine/runtime/meters.ts';
import { epochNumber, type Position } from '../../../src/engine/runtime/position.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { manyLines, rollbackTo } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { FaultyLog, FaultyStream } from './faultyLog.ts';

const ORIGIN = { network: 'devnet', deployment: 'of the test' };
const LEASE_MS = 40;
const WATCH_MS = 15;
const START_MS = Date.UTC(2024, 0, 1);
const OPTIONS = { horizonBlocks: 2160, maxMb: 0, maxLoadedPairs: 100, commitEveryMs: 20 };

/** Things that all nodes of one market share beside the stream. */
export interface Place {
  readonly stream: FaultyStream;
  readonly rng: Rng;
  /** The last announcement of each node. */
  readonly standings: Map<string, Announcement>;
  /** State and entry of each position, by the first node that reached it. */
  readonly states: Map<string, string>;
  readonly bases: string;
  readonly faults: unknown[];
}

export function newPlace(rng: Rng): Place {
  const [standings, states] = [new Map(), new Map()];
  const stream = new FaultyStream(rng);
  return { stream, rng, standings, states, bases: temporaryDirectory(), faults: stream.faults };
}

export class OneNode {
  readonly name: string;
  readonly log: FaultyLog;
  readonly node: Node;
  readonly files: DataFiles;
  readonly #place: Place;
  readonly #leadership: Leadership;
  readonly #watch: LogWatch;
  /** Given and taken by the script. */
  mayLead = false;
  terms = 0;
  /** How often an entry that it read did not follow its state. */
  divergences = () => 0;
  #was: Position & { readonly term: number } = { epoch: '0-none', seq: 0, term: 0 };
  #lost: () => void = () => {};

  private constructor(name: string, place: Place, log: FaultyLog, node: Node, files: DataFiles) {
    this.name = name;
    this.#place = place;
    this.log = log;
    this.node = node;
    this.files = files;
    const { rng, standings } = place;
    const record = new MarketRecord(files.directory, ORIGIN);
    const logger = createLogger({ level: 'silent', clock });
    const events = createEvents(logger, createRegistry(), clock);
    const epochs = new Epochs({
      name,
      log,
      node,
      files,
      rng,
      market: record,
      otherMarket: (error) => place.faults.push(error),
      ensureStream: async () => {},
      others: async () => {
        if (log.isCut) throw new Fault('natsSilent', 'NATS gives no answer');
        // No node expires: a node that is cut off here comes back, and the short lease may run out
        // under load.
        return [...standings.values()].filter((one) => one.node !== name);
      },
      publishBase: async (epoch) => copyFileSync(files.base(epoch), baseOf(place, epoch)),
      epochStarted: () => {},
    });
    const self = this;
    log.mayRestart = () => self.mayLead;
    const lease = {
      get held() {
        return self.mayLead;
      },
      tryTake: async () => (this.mayLead ? ('taken' as const) : ('refused' as const)),
      release: async () => {
        this.mayLead = false;
      },
    };
    const onLost = (listener: () => void) => {
      this.#lost = listener;
    };
    const backMs = () => place.stream.backMs;
    const role = {
      lead: async (writer: LogWriter, failed: (error: unknown) => void) => {
        this.terms += 1;
        return trading(place, node, log, writer, failed);
      },
      follow: async () => ({ stop: async () => {} }),
    };
    this.#leadership = new Leadership(
      {
        name,
        lease,
        onLost,
        leaseMs: LEASE_MS,
        reconnectedMs: backMs,
        log,
        node,
        epochs,
        record,
        role,
        clock,
      },
      { ...events, leadershipFailed: (error) => place.faults.push(error) },
    );
    const announce = async (standing: Announcement) => {
      if (log.isCut) throw new Fault('natsSilent', 'NATS gives no answer');
      standings.set(name, standing);
    };
    const lost = () => this.#leadership.stepDown('the log is another one');
    const failed = (error: unknown) => place.faults.push(error);
    const watched = { name, node, log, epochs, clock, announce, lost, failed };
    this.#watch = new LogWatch(watched, WATCH_MS);
  }

  static async start(name: string, place: Place): Promise<OneNode> {
    const log = new FaultyLog(place.stream);
    const files = dataFiles(join(temporaryDirectory(), name));
    const fetchBase = async (epoch: string, isWanted: () => boolean | Promise<boolean>) => {
      while (!existsSync(baseOf(place, epoch))) {
        if (!(await isWanted())) return false;
        await sleep(clock, 5);
      }
      copyFileSync(baseOf(place, epoch), files.base(epoch));
      return true;
    };
    const fault = (error: unknown) => place.faults.push(error);
    const own = { ...OPTIONS, clock, rng: seededRng(place.rng.unit() * 1e9), quarantined: fault };
    const store = await recover(log, files, {
      ...own,
      market: new MarketRecord(files.directory, ORIGIN),
      shared: { fetchBase, mayRestart: async () => false },
      epochStarted: () => {},
      stateUnreadable: fault,
    });
    const events = createEvents(createLogger({ level: 'silent', clock }), createRegistry(), clock);
    let divergences = 0;
    const diverged = () => {
      divergences += 1;
    };
    const shared = { fetchBase, diverged };
    const seen = { ...events, foldFailed: fault, actorQuarantined: fault };
    const reader = retryingLog(log, clock);
    const node = new Node(store, 1, reader, files, clock, { ...OPTIONS, shared }, seen);
    const one = new OneNode(name, place, log, node, files);
    one.divergences = () => divergences;
    node.onApplied(() => one.#compare(place));
    node.start({ applied: () => {}, epochChanged: () => {} });
    await one.#watch.start();
    await one.#leadership.start();
    return one;
  }

  get at(): string {
    const { epoch, seq } = this.node.applied();
    return `${epoch}:${seq}`;
  }

  /** How far it is, to the others. */
  say(): void {
    const standing = announcementOf(this.name, this.node);
    if (standing !== null) this.#place.standings.set(this.name, standing);
  }

  /** The lease is over, as the node's own clock says. */
  expire(): void {
    this.mayLead = false;
    this.#lost();
  }

  async stop(): Promise<void> {
    this.expire();
    await this.#leadership.stop();
    await this.#watch.stop();
    await this.node.stop();
  }

  #compare({ states, faults }: Place): void {
    const { checkpoint } = this.node.fold.store;
    if (checkpoint === null) return;
    const { epoch, seq, stateHash, entryHash, term } = checkpoint;
    // Entries that change no row count, too.
    const own = `${stateHash} ${entryHash} ${term}`;
    const known = states.get(this.at);
    if (known === undefined) states.set(this.at, own);
    else if (known !== own) faults.push(new Error(`${this.name} differs at ${this.at}`));
    const was = this.#was;
    const isBack =
      epochNumber(epoch) < epochNumber(was.epoch) ||
      (epoch === was.epoch && (seq < was.seq || term < was.term));
    if (isBack) {
      const from = `${was.epoch}:${was.seq}, term ${was.term}`;
      faults.push(new Error(`${this.name} went back to ${this.at}, term ${term}, from ${from}`));
    }
    this.#was = { epoch, seq, term };
  }
}

export function baseOf({ bases }: Place, epoch: string): string {
  return join(bases, `${epoch}.sqlite`);
}

/** Random trades and rollbacks until it is stopped, or another node writes. */
function trading(
  { rng }: Place,
  node: Node,
  log: FaultyLog,
  writer: LogWriter,
  failed: (error: unknown) => void,
) {
  let isOpen = true;
  let replay: Replay | null = null;
  const quiet = { lineRejected: () => {}, replayProgress: () => {}, replayFinished: () => {} };
  const run = async () => {
    while (isOpen) {
      const fromMs = Math.max(START_MS, node.fold.marketMs + 1_000);
      const lines = manyLines(1 + Math.floor(rng.unit() * 12), fromMs, 7_000);
      if (rng.unit() < 0.2) lines.push(rollbackTo(fromMs - Math.floor(rng.unit() * 30_000)));
      const options = { feed: null, speed: null, latenessMs: 0 };
      replay = new Replay({ node, log, writer, rng, clock }, quiet, options);
      await replay.run(Readable.from([lines.map((line) => `${line}\n`).join('')]));
      await sleep(clock, 2);
    }
  };
  const running = run().catch((error: unknown) => {
    if (isOpen) failed(error);
  });
  return {
    async stop() {
      isOpen = false;
      replay?.stop();
      writer.stop();
      // NATS may lose the entries that this node appended before it reads them: then it would wait
      // forever.
      await Promise.race([running, sleep(clock, 200)]);
    },
  };
}
