/**
 * A foreign client that follows some topics by the client rule of api.md 6.4 and nothing else.
 * When its socket ends it continues at another node, with `since`. Its state is right, or it
 * received `Resync`, `recovered:false` or an error to be retried. Anything else throws.
 */
import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import type { StreamSpec } from '../../e2e/live/streamSpecs.ts';
import { positionOf } from '../../support/chart.ts';
import { Following } from '../../support/following.ts';
import type { Scope } from '../../support/server.ts';
import { type Frame, recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { type FaultyNode, LIMIT_MS, type Nodes } from './nodes.ts';

const AGAIN_MS = 200;

export class FaultClient {
  readonly faults: unknown[] = [];
  readonly followings: readonly Following[];
  moves = 0;
  readonly #nodes: Nodes;
  #node: FaultyNode;
  #socket: WebSocket;
  #isClosed = false;

  constructor(scope: Scope, nodes: Nodes, node: FaultyNode, specs: readonly StreamSpec[]) {
    this.#nodes = nodes;
    this.#node = node;
    this.followings = specs.map((spec, index) => new Following(`r${index}`, spec));
    this.#socket = this.#open();
    scope.after(() => this.close());
  }

  get node(): FaultyNode {
    return this.#node;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.terminate();
  }

  /** Goes to another node, as one does whose node gives no sign of life. */
  leave(): void {
    this.#socket.terminate();
  }

  assertSound(): void {
    const [first] = this.faults;
    if (first !== undefined) throw first;
  }

  /** All it follows has reached what a node has, and says what HTTP says there. */
  async agrees(limitMs: number): Promise<void> {
    for (const following of this.followings) {
      for (const question of following.spec.questions) {
        let why = 'it was never compared';
        let isSame = false;
        const ask = async () => {
          try {
            isSame = await this.#compare(following, question);
          } catch (error) {
            why = error instanceof Error ? error.message : String(error);
          }
        };
        const startMs = performance.now();
        for (await ask(); !isSame; await ask()) {
          this.assertSound();
          const isLate = performance.now() - startMs > limitMs;
          const said = () => `at ${this.#node.name}: ${following.what}: ${why}`;
          assert(!isLate, isLate ? said() : '');
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS / 4));
        }
      }
    }
    this.assertSound();
  }

  /** False: not comparable yet. Throws where they differ. */
  async #compare(
    following: Following,
    question: StreamSpec['questions'][number],
  ): Promise<boolean> {
    const { path, body } = question;
    const node = this.#nodes.living.at(-1) ?? this.#node;
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(10_000);
    const init = body === undefined ? { signal } : { ...post, signal };
    const response = await fetch(`${node.server.url}${path}`, init);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    const { epoch } = positionOf(response);
    const { state, asking, own } = following;
    if (asking || state === null) throw new Error('it still asks');
    if (own?.epoch !== epoch) throw new Error(`HTTP is in epoch ${epoch}`);
    question.check(state, JSON.parse(text));
    return true;
  }

  #open(): WebSocket {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#node.server.port}/ws`, ['json']);
    socket.on('open', () => {
      this.#send({ messageType: 'connect', requestId: 'hello', data: { acks: true } });
      this.#send({ messageType: 'subscribe', topics: this.followings.map((one) => one.frame()) });
    });
    socket.on('message', (message: Buffer) => {
      if (socket !== this.#socket) return;
      try {
        this.#hear(JSON.parse(message.toString()) as Frame);
      } catch (error) {
        this.faults.push(error);
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(() => this.#move(), AGAIN_MS / 2));
    return socket;
  }

  #move(): void {
    if (this.#isClosed) return;
    for (const following of this.followings) following.asking = true;
    const { all } = this.#nodes;
    const at = all.indexOf(this.#node);
    const others = [...all.slice(at + 1), ...all.slice(0, at)];
    const next = others.find(({ answers }) => answers) ?? this.#node;
    if (!next.lives) {
      setTimeout(() => this.#move(), AGAIN_MS);
      return;
    }
    this.moves += 1;
    this.#node = next;
    this.#socket = this.#open();
  }

  #hear(frame: Frame): void {
    if (frame.event === 'Ping') {
      const seq = Number(recordOf(frame.data).seq);
      for (const following of this.followings) following.idleUpTo({ epoch: frame.epoch, seq });
      this.#send({ messageType: 'pong', requestId: null });
      return;
    }
    const following = this.followings.find(({ requestId }) => requestId === frame.requestId);
    if (following === undefined || !following.hear(frame)) return;
    const socket = this.#socket;
    setTimeout(() => {
      if (socket !== this.#socket || socket.readyState !== WebSocket.OPEN) return;
      this.#send({ messageType: 'subscribe', topics: [following.frame()] });
    }, AGAIN_MS);
  }

  #send(frame: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}

export async function answered(clients: readonly FaultClient[]): Promise<void> {
  const open = () => clients.flatMap(({ followings }) => followings).filter((one) => one.asking);
  await until(
    () => `all is subscribed; ${open()[0]?.what}`,
    () => open().length === 0,
    LIMIT_MS,
  );
}
