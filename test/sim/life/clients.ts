/**
 * A client in memory that follows the README's rules and nothing else. When its socket ends, or is
 * silent for longer than two pings, it continues at another node, with `since`.
 */
import assert from 'node:assert/strict';
import { openEntry } from '../../../src/engine/log/entry.ts';
import { hasReached } from '../../../src/engine/runtime/position.ts';
import { marketStreams, type StreamSpec, tokenStreams } from '../../e2e/live/streamSpecs.ts';
import type { Position } from '../../support/chart.ts';
import { Following } from '../../support/following.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { type Life, messageOf } from './life.ts';
import type { ClientSocket, HttpAnswer, LifeChain, LifeNode } from './ports.ts';
import { MARKET } from './steps/nats.ts';

const RETRY_MS = 500;
/** Between two looks whether there is a node, and whether it is silent. */
const LOOK_MS = 1_000;
/** A node pings every 5 s. */
const MAX_SILENT_MS = 12_000;
/** Looks between two questions over HTTP. */
const PROBE_TICKS = 5;
const FOLLOWED = new Set([
  'LastBar',
  'LiveOrdersFeed',
  'Trades',
  'MCapDesc',
  'UserHistoryByAddress',
]);
/** Number of people whose orders a client follows: with three clients, most of those who trade. */
const PEOPLE_EACH = 2;

export class LifeClient {
  readonly followings: Following[] = [];
  readonly #life: Life;
  readonly #name: string;
  #home: number;
  #node: LifeNode | null = null;
  #socket: ClientSocket | null = null;
  #heardMs = 0;
  #isClosed = false;
  #isReading = true;
  #probes = 0;
  #ticks = 0;
  /** The newest position that a node told it. */
  #seen: Position | null = null;
  readonly #people: LifeChain['people'];
  /** Refused for now: asked for together, as a socket takes 50 frames a second. */
  #refused: Following[] = [];

  constructor(life: Life, name: string, home: number) {
    this.#life = life;
    this.#name = name;
    this.#home = home;
    const { people } = life.deps.chain;
    this.#people = people.slice(PEOPLE_EACH * home, PEOPLE_EACH * (home + 1));
    for (const spec of marketStreams(this.#people)) this.#follow(spec);
    this.#tick();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  /** Frames that carried data. */
  get frames(): number {
    return this.followings.reduce((sum, { frames }) => sum + frames, 0);
  }

  /** Follows the tokens that are new since the last call. */
  learnTokens(): void {
    const { tokens } = this.#life.deps.chain;
    const known = this.followings.length;
    for (const token of tokens) {
      const isKnown = this.followings.some(({ spec }) => JSON.stringify(spec.data).includes(token));
      if (!isKnown) for (const spec of tokenStreams(token, this.#people)) this.#follow(spec);
    }
    const news = this.followings.slice(known);
    if (news.length > 0) this.#ask(news);
  }

  /** Asks up to where it missed nothing. */
  ping(): void {
    this.#send({ messageType: 'ping', requestId: 'position' });
  }

  /**
   * Compares the state with HTTP's present position. Answers what could not be compared; a
   * difference breaks the rule `clients`.
   */
  async compare(): Promise<string[]> {
    const open: string[] = [];
    for (const following of this.followings) {
      for (const question of following.spec.questions) {
        const node = this.#node;
        if (node === null) return [`${this.#name} has no node`];
        const { path, body } = question;
        const method = body === undefined ? 'GET' : 'POST';
        const text = body === undefined ? undefined : JSON.stringify(body);
        const answer = await node.request(method, path, text);
        const why = this.#compareOne(node, following, answer, (value) => {
          assert(following.state !== null);
          question.check(following.state, value);
        });
        if (why !== null) open.push(`${this.#name} at ${node.name}: ${path}: ${why}`);
      }
    }
    return open;
  }

  /** Asks again since an earlier position, as a client does that comes back after a while. */
  goBack(): void {
    const { rng } = this.#life.deps;
    const gone = this.followings.filter((one) => !one.asking && one.goBack(rng));
    if (gone.length > 0) this.#ask(gone);
  }

  /**
   * Answers how it continues. A client that reads nothing does not notice that its node is gone.
   */
  stopReading(): () => void {
    const socket = this.#socket;
    socket?.stopReading();
    this.#isReading = false;
    return () => {
      this.#isReading = true;
      this.#heardMs = this.#life.deps.clock.monotonicMs();
      socket?.read();
    };
  }

  #compareOne(
    node: LifeNode,
    following: Following,
    answer: Awaited<ReturnType<LifeNode['request']>>,
    check: (value: unknown) => void,
  ): string | null {
    if (answer === null) return 'no answer';
    if (answer.status !== 200 && answer.status !== 404) return `${answer.status} ${answer.body}`;
    const { state, own, asking } = following;
    if (asking || state === null || own === null) return `it still asks: ${following.what}`;
    const position = this.#positionOf(node, answer);
    try {
      check(answer.status === 404 ? null : JSON.parse(answer.body));
    } catch (error) {
      // Changes of the entries between the two may be on their way.
      const isBehind = position !== `${own.epoch}:${own.seq}`;
      if (isBehind) return `HTTP is at ${position}: ${following.what}`;
      this.#broken(`${following.what}: ${messageOf(error)}`);
    }
    return null;
  }

  /**
   * Asks one question, as any user may at any time: each node in turn, and not for an answer from
   * before the newest position that another one told.
   */
  async #probe(): Promise<void> {
    const questions = this.followings.flatMap(({ spec }) => spec.questions);
    const question = questions[this.#probes % questions.length];
    const { living } = this.#life;
    const node = living[this.#probes % Math.max(1, living.length)];
    this.#probes += 1;
    if (question === undefined || node === undefined) return;
    const { path, body } = question;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const seen = this.#seen;
    const least = seen === null ? {} : { 'x-min-position': `${seen.epoch}:${seen.seq}` };
    const answer = await node.request(body === undefined ? 'GET' : 'POST', path, text, least);
    if (answer?.status !== 200) return;
    const position = this.#positionOf(node, answer);
    this.#told(`${path} ${text ?? ''} at ${position}`, answer.body, node.name);
    const [epoch, seq] = position.split(':');
    if (seen === null || epoch !== seen.epoch || Number(seq) >= seen.seq) return;
    this.#broken(`${node.name} answers ${path} from ${position}, and ${seen.seq} was asked for`);
  }

  #told(what: string, text: string, node: string): void {
    const others = this.#life.told(what, text, node);
    if (others === null) return;
    this.#life.deps.broken('told', `${node} and ${others} differ: ${what}: ${text.slice(0, 200)}`);
  }

  /** X-Position. */
  #positionOf(node: LifeNode, { headers }: HttpAnswer): string {
    const position = headers['x-position'] ?? '';
    this.#checkPosition(node, position);
    return position;
  }

  /** An answer holds no more than its node has applied. That may be the node before this one. */
  #checkPosition({ name, app }: LifeNode, position: string): void {
    const applied = app?.node.applied();
    const [epoch, seq] = position.split(':');
    if (applied === undefined || applied.epoch !== epoch || Number(seq) <= applied.seq) return;
    this.#broken(`X-Position of ${name} is ${position}, and it is at ${applied.seq}`);
  }

  #broken(why: string): void {
    this.#life.deps.broken('clients', `${this.#name} at ${this.#node?.name}: ${why}`);
  }

  #follow(spec: StreamSpec): void {
    if (!FOLLOWED.has(spec.topic)) return;
    const isForgotten = (position: Position) => this.#isForgotten(position);
    this.followings.push(new Following(`r${this.followings.length}`, spec, isForgotten));
  }

  /** NATS lost acknowledged entries, and no node that it reaches has them. */
  #isForgotten(position: Position): boolean {
    const { living, cut, deps } = this.#life;
    const isKnown = living.some(({ name, app }) => {
      return app !== null && !cut.has(name) && hasReached(app.node.applied(), position);
    });
    const text = deps.nats.textAt(MARKET, deps.nats.lastSeq(MARKET));
    const end = text === null ? null : positionIn(text);
    return !isKnown && (end === null || !hasReached(end, position));
  }

  /** Looks for a node when it has none, and leaves a silent one. */
  #tick(): void {
    if (this.#isClosed) return;
    const { clock } = this.#life.deps;
    clock.after(LOOK_MS, () => this.#tick());
    if (!this.#isReading) return;
    this.#ticks += 1;
    if (this.#ticks % PROBE_TICKS === 0) void this.#probe();
    if (this.#socket === null) this.#open();
    else if (clock.monotonicMs() - this.#heardMs > MAX_SILENT_MS) this.#leave();
  }

  #open(): void {
    const { nodes } = this.#life;
    this.#home = (this.#home + 1) % nodes.length;
    const node = nodes[this.#home];
    const socket = node?.connect() ?? null;
    if (node === undefined || socket === null) return;
    this.#node = node;
    this.#socket = socket;
    this.#heardMs = this.#life.deps.clock.monotonicMs();
    socket.onClose = () => {
      if (this.#socket === socket) this.#leave();
    };
    socket.onMessage = (text) => {
      if (this.#socket === socket) this.#hear(text);
    };
    this.#send({ messageType: 'connect', requestId: 'hello', data: { acks: true } });
    this.#ask(this.followings);
  }

  #leave(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#node = null;
    this.#refused = [];
    for (const following of this.followings) following.asking = true;
    socket?.close();
  }

  #hear(text: string): void {
    this.#heardMs = this.#life.deps.clock.monotonicMs();
    // trust: as the protocol says; what differs fails an assertion
    const frame = JSON.parse(text) as Frame;
    this.#see(frame);
    try {
      if (frame.event === 'Ping') this.#ping(frame);
      else this.#hearFor(frame);
    } catch (error) {
      this.#broken(messageOf(error));
    }
  }

  #see({ epoch, seq }: Frame): void {
    const isNewer = this.#seen === null || !hasReached(this.#seen, { epoch, seq });
    if (Number.isSafeInteger(seq) && isNewer) this.#seen = { epoch, seq };
  }

  #ping({ epoch, data }: Frame): void {
    const seq = Number(recordOf(data).seq);
    for (const following of this.followings) following.idleUpTo({ epoch, seq });
    this.#send({ messageType: 'pong', requestId: null });
  }

  #hearFor(frame: Frame): void {
    const following = this.followings.find(({ requestId }) => requestId === frame.requestId);
    if (following === undefined) return;
    const isAgain = following.hear(frame);
    if (frame.snapshot === true && !following.asking) {
      const { topic, data } = following.spec;
      const what = `${topic} ${JSON.stringify(data)} at ${frame.epoch}:${frame.seq}`;
      this.#told(what, JSON.stringify(frame.data), this.#node?.name ?? '');
    }
    if (!isAgain) return;
    this.#refused.push(following);
    if (this.#refused.length > 1) return;
    const socket = this.#socket;
    this.#life.deps.clock.after(RETRY_MS, () => {
      if (socket === this.#socket) this.#ask(this.#refused.splice(0));
    });
  }

  #ask(followings: readonly Following[]): void {
    this.#send({ messageType: 'subscribe', topics: followings.map((one) => one.frame()) });
  }

  #send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }
}

/** Where a message of the log is; null: it is no entry. */
function positionIn(text: string): Position | null {
  try {
    return openEntry(text).entry;
  } catch {
    return null;
  }
}
