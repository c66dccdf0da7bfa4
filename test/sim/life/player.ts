/** Plays a schedule in a world: steps at their times, and the checks of every calm. */
import type { VirtualTime } from '../machine/virtualTime.ts';
import { LifeClient } from './clients.ts';
import { wrongOnDisks } from './diskCheck.ts';
import { type Life, messageOf } from './life.ts';
import type { LifeNode } from './ports.ts';
import { describeStep, type Schedule, type TimedStep } from './schedule.ts';
import { STEPS } from './steps/all.ts';
import { STREAMS } from './steps/nats.ts';
import { differenceFromChain } from './truth.ts';
import { Watch } from './watch.ts';

const LOOK_MS = 1_000;
/** Time in which traders finish their actions. */
const REST_MS = 20_000;
const ANSWER_MS = 30_000;
/** A ping and its answer, which must not be far behind HTTP. */
const PING_MS = 20;
const REQUESTS_PER_LEASE = 30;
const REQUESTS_PER_ENTRY = 20;
/** Each costs an epoch: nodes look for the end of the log, and for the base of the epoch. */
const REQUESTS_PER_LOSS = 30;
/** Limit for reading the disks of stopped nodes. */
const DISK_MS = 60_000;
/** Time after which a process manager starts a process again. */
const RESTART_MS = 3_000;

export interface Broken {
  readonly invariant: string;
  readonly why: string;
}

interface Health {
  readonly status: number;
  readonly position: string;
  readonly stateHash: string;
  readonly role: string;
  readonly leader: string | null;
  readonly stale: boolean;
  readonly mayNotLead: string | null;
}

export class Player {
  readonly watch: Watch;
  readonly #time: VirtualTime;
  readonly #life: Life;
  readonly #clients: LifeClient[];
  readonly #startMs: number;
  readonly #broken: () => Broken | null;
  /** At the last calm. */
  #asked = { ms: 0, entries: 0, losses: 0, requests: 0 };
  calms = 0;
  compared = 0;

  constructor(time: VirtualTime, life: Life, broken: () => Broken | null) {
    this.#time = time;
    this.#life = life;
    this.#broken = broken;
    this.#startMs = time.nowMs;
    this.watch = new Watch(life);
    this.#clients = life.deps.nodes.map(
      (_, index) => new LifeClient(life, `client${index}`, index),
    );
    life.clients.push(...this.#clients);
    this.#keepAlive();
  }

  get nowMs(): number {
    return this.#time.nowMs - this.#startMs;
  }

  get frames(): number {
    return this.#clients.reduce((sum, { frames }) => sum + frames, 0);
  }

  /** Ends early when a rule is broken. */
  async play({ steps, endMs }: Schedule): Promise<void> {
    for (const node of this.#life.nodes) void this.#life.follow(`start ${node.name}`, node.start());
    for (const step of steps) {
      await this.#run(step.atMs);
      if (this.#broken() !== null) return;
      this.#life.deps.timeline.note('', describeStep(step));
      STEPS[step.step]?.apply(this.#life, step);
      if (step.step === 'calm') await this.#calm(step);
    }
    await this.#run(endMs);
    await this.#compareWithChain();
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const node of this.#life.nodes) {
      if (node.app !== null) await this.#time.settle(node.stop(), 60_000);
    }
    const why = await this.#time.settle(wrongOnDisks(this.#life.deps.nodes), DISK_MS);
    if (why !== null) this.#life.deps.broken('disks', why);
  }

  /** Positions, roles and trouble of all, for the reader of a failure. */
  positions(): string[] {
    return this.#life.nodes.map((node) => {
      const { name, app, isPaused, ended } = node;
      if (app === null) return `${name}: does not run${ended === null ? '' : `: ${ended}`}`;
      const { epoch, seq } = app.node.applied();
      const { roles } = app.chain ?? {};
      const parts = [
        `${epoch}:${seq}`,
        app.node.stateHash().slice(0, 12),
        roles?.leads() === true ? 'leads' : `sees ${roles?.leader()}`,
        isPaused ? 'paused' : '',
        app.node.synced() ? '' : 'not synced',
        app.node.hasDiverged ? 'diverged' : '',
        roles?.mayNotLead() ?? '',
      ];
      return `${name}: ${parts.filter((part) => part !== '').join(', ')}`;
    });
  }

  async #run(untilMs: number): Promise<void> {
    await this.#time.until(() => this.#broken() !== null, this.#startMs + untilMs);
  }

  /** As systemd does: a process that ended by itself is started again. */
  #keepAlive(): void {
    const { clock } = this.#life.deps;
    clock.after(RESTART_MS, () => this.#keepAlive());
    for (const node of this.#life.nodes) {
      if (node.ended?.startsWith('crash') === true) {
        this.#life.deps.broken('crash', `${node.name}: ${node.ended}`);
      }
      if (node.ended === null || node.app !== null || this.#life.isHeld(node)) continue;
      void this.#life.follow(`start ${node.name} again`, node.start());
    }
  }

  async #calm(step: TimedStep): Promise<void> {
    const endMs = Math.max(step.atMs, this.nowMs) + (step.forMs ?? 0);
    const restMs = this.nowMs + REST_MS;
    this.#life.isResting = true;
    let why = 'it was never asked';
    for (;;) {
      await this.#run(this.nowMs + LOOK_MS);
      if (this.#broken() !== null) return;
      if (this.nowMs > restMs) {
        why = (await this.#disagreement()) ?? (await this.#openComparison()) ?? '';
        if (why === '' || this.#broken() !== null) break;
      }
      if (this.nowMs > endMs)
        return this.#life.deps.broken('calm', `after ${step.forMs} ms: ${why}`);
    }
    this.calms += 1;
    this.#life.isResting = false;
    this.#checkRequests();
    this.#checkCopies();
  }

  /** Streams have the copies that all nodes asked for, unless NATS lost something since. */
  #checkCopies(): void {
    const { copies, losses, deps } = this.#life;
    if (copies === null || copies.losses !== losses) return;
    for (const stream of STREAMS) {
      const there = deps.nats.copiesOf(stream);
      if (there === null || there >= copies.count) continue;
      deps.broken('copies', `${stream} has ${there}, and every node asks for ${copies.count}`);
    }
  }

  /**
   * The number of nodes' requests to NATS is bounded by the time, by the entries and by the losses
   * of the log since the last calm.
   */
  #checkRequests(): void {
    const { nodes, deps, shortestLeaseMs } = this.#life;
    const now = {
      ms: this.nowMs,
      entries: this.watch.entries,
      losses: this.#life.losses,
      requests: nodes.reduce((sum, { name }) => sum + deps.nats.requestsOf(name), 0),
    };
    const before = this.#asked;
    this.#asked = now;
    const requests = now.requests - before.requests;
    const entries = now.entries - before.entries;
    const leases = (now.ms - before.ms) / shortestLeaseMs;
    const losses = now.losses - before.losses;
    const each =
      REQUESTS_PER_LEASE * leases + REQUESTS_PER_ENTRY * entries + REQUESTS_PER_LOSS * losses;
    if (requests <= nodes.length * each) return;
    const times = `${entries} entries, ${losses} losses and ${Math.round(leases)} leases`;
    deps.broken('requests', `${requests} requests to NATS for ${times}`);
  }

  get requests(): number {
    return this.#asked.requests;
  }

  /** After the last calm. */
  async #compareWithChain(): Promise<void> {
    const [node] = this.#life.living;
    if (this.#broken() !== null || node === undefined) return;
    const why = await differenceFromChain(this.#time, this.#life, node);
    if (why !== null) this.#life.deps.broken('truth', why);
  }

  /** null: all nodes are ready, at one position, in one state, and one leads. */
  async #disagreement(): Promise<string | null> {
    const { nodes } = this.#life;
    const found = await this.#time.settle(Promise.all(nodes.map(healthOf)), ANSWER_MS);
    const texts = found.map((health, index) => `${nodes[index]?.name} ${JSON.stringify(health)}`);
    const wrong = found.findIndex((one) => one?.status !== 200 || one.stale);
    if (wrong >= 0) return `not well: ${texts[wrong]}`;
    const states = new Set(found.map((one) => `${one?.position} ${one?.stateHash}`));
    if (states.size > 1) return `at several positions: ${texts.join('; ')}`;
    const leaders = found.filter((one) => one?.role === 'leader');
    return leaders.length === 1 ? null : `${leaders.length} lead: ${texts.join('; ')}`;
  }

  /** null: every client has what HTTP says. */
  async #openComparison(): Promise<string | null> {
    for (const client of this.#clients) {
      client.learnTokens();
      client.ping();
    }
    await this.#run(this.nowMs + PING_MS);
    for (const client of this.#clients) {
      const open = await this.#time.settle(client.compare(), ANSWER_MS);
      if (open[0] !== undefined) return open[0];
      this.compared += 1;
    }
    return null;
  }
}

async function healthOf(node: LifeNode): Promise<Health | null> {
  if (node.app === null) return null;
  const answer = await node.request('GET', '/health/ready');
  if (answer === null) return null;
  try {
    // trust: the fields that a schema of ours names
    return { ...(JSON.parse(answer.body) as Health), status: answer.status };
  } catch (error) {
    throw new Error(`${node.name}: ${messageOf(error)}: ${answer.body}`);
  }
}
