/**
 * A fake Ogmios 6: WebSocket with JSON-RPC 2.0, and `GET /health`. Tests write its chain, its
 * mempool and its faults; `sent` hears every message that is meant well.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type Answer, CODES } from '../../../src/devnet/ogmios/rpc.ts';
import type { ServedNode } from '../../../src/devnet/ogmios/served.ts';
import { type Activity, health } from '../../../src/devnet/ogmios/server.ts';
import { jsonText } from '../../../src/engine/runtime/exactJson.ts';
import { FakeChain } from './chain.ts';
import { FaultyConnection } from './connection.ts';
import { Faults } from './faults.ts';
import { MAINNET_FACTS, type NodeFacts, type Submit } from './node.ts';

export interface FakeOgmiosOptions {
  readonly chain?: FakeChain;
  readonly facts?: NodeFacts;
  readonly submit?: Submit;
  readonly utxo?: ServedNode['utxo'];
  readonly sent?: (text: string) => void;
  /** 0: any. */
  readonly port?: number;
}

const HOST = '127.0.0.1';
/** Limit of a request; a transaction has 16 kB. */
const MAX_BYTES = 1 << 20;

export class FakeOgmios implements ServedNode {
  readonly chain: FakeChain;
  readonly faults = new Faults();
  facts: NodeFacts;
  submit: Submit;
  readonly utxo: ServedNode['utxo'];
  readonly #options: FakeOgmiosOptions;
  readonly #http = createServer((request, response) => this.#answer(request, response));
  readonly #upgrades = new WebSocketServer({ noServer: true, maxPayload: MAX_BYTES });
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<FaultyConnection>();
  readonly #startTime = new Date().toISOString();
  #tipTime = this.#startTime;
  #connections = 0;
  #messages = 0;

  constructor(options: FakeOgmiosOptions = {}) {
    this.#options = options;
    this.chain = options.chain ?? new FakeChain();
    this.facts = options.facts ?? MAINNET_FACTS;
    this.submit = options.submit ?? refuseAll;
    this.utxo = options.utxo ?? (async () => ({ result: [] }));
    this.#http.on('connection', (socket) => this.#connected(socket));
    this.#http.on('upgrade', (request, raw, head) => this.#upgraded(request, raw, head));
    this.chain.listen({
      changed: () => {
        this.#tipTime = new Date().toISOString();
      },
      shortened: () => {},
    });
  }

  async evaluate(): Promise<Answer> {
    const message = 'this node evaluates nothing';
    return { error: { code: CODES.internalError, message } };
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#options.port ?? 0, HOST, resolve);
    });
  }

  async stop(): Promise<void> {
    this.dropAll();
    for (const socket of this.#sockets) socket.destroy();
    this.#upgrades.close();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  get port(): number {
    const address = this.#http.address();
    if (address === null || typeof address === 'string') throw new Error('it does not listen');
    return address.port;
  }

  get url(): string {
    return `ws://${HOST}:${this.port}`;
  }

  /** How many connections are open. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** How many requests came. */
  get messages(): number {
    return this.#messages;
  }

  /** Ends all connections without a word. */
  dropAll(): void {
    for (const session of this.#sessions) session.drop();
  }

  /** The node behind it is gone: health says so, connections end with the reason. */
  loseNode(): void {
    this.facts = { ...this.facts, isConnected: false };
    for (const session of this.#sessions) {
      session.close('Connection with the node lost or failed.');
    }
  }

  findNode(): void {
    this.facts = { ...this.facts, isConnected: true };
  }

  /** Sends it to every connection, outside the request queue. */
  sendRaw(text: string): void {
    for (const session of this.#sessions) session.sendRaw(text);
  }

  #connected(socket: Socket): void {
    if (this.faults.refuses()) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #upgraded(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    this.#upgrades.handleUpgrade(request, raw, head, (socket) => {
      this.#connections += 1;
      const sent = this.#options.sent ?? (() => {});
      const session = new FaultyConnection(this, this.faults, { socket, raw }, sent);
      this.#sessions.add(session);
      socket.on('error', () => {});
      socket.on('close', () => {
        session.end();
        this.#sessions.delete(session);
      });
      socket.on('message', (data) => {
        this.#messages += 1;
        session.receive(data.toString());
      });
      if (!this.facts.isConnected) session.close('Connection with the node lost or failed.');
    });
  }

  #answer({ method, url }: IncomingMessage, response: ServerResponse): void {
    if (this.faults.stalls('health')) return;
    const isHealth = method === 'GET' && url === '/health';
    const status = !isHealth ? 404 : this.facts.isConnected ? 200 : 500;
    const body = isHealth ? health(this, this.#activity(), 'v6.14.0 (fake)') : {};
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(jsonText(body));
  }

  #activity(): Activity {
    return {
      startTime: this.#startTime,
      lastTipUpdate: this.#tipTime,
      activeConnections: this.#sessions.size,
      totalConnections: this.#connections,
      totalMessages: this.#messages,
    };
  }
}

const refuseAll: Submit = async () => ({
  code: 3997,
  message: "The transaction couldn't be added to the mempool. See 'data.error'.",
  data: { error: 'this node takes no transactions' },
});
