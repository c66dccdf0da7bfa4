/**
 * One connection. The mini-protocols do not wait for each other: chain synchronisation, mempool,
 * queries and submission are answered in order within themselves only, as in Ogmios.
 */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { ChainSync, type Send } from './chainSync.ts';
import type { BlockFault, Faults } from './faults.ts';
import { MEMPOOL_METHODS, MempoolMonitor } from './mempool.ts';
import type { FakeNode } from './node.ts';
import { answerQuery } from './queries.ts';
import { type Answer, answerText, CODES, faultText, type Request, readRequest } from './rpc.ts';

const MOST_HELD = 100_000;

export class Session {
  readonly #node: FakeNode;
  readonly #faults: Faults;
  readonly #socket: WebSocket;
  readonly #raw: Duplex;
  readonly #sent: (text: string) => void;
  readonly #chainSync: ChainSync;
  readonly #mempool: MempoolMonitor;
  /** Queries and submissions are each answered in order. */
  readonly #last = { query: Promise.resolve(), submit: Promise.resolve() };
  /** Requests that came while nothing like them was answered. */
  #held: Request[] = [];
  readonly #unwatch: (() => void)[];
  #isEnded = false;

  constructor(
    node: FakeNode,
    faults: Faults,
    { socket, raw }: { readonly socket: WebSocket; readonly raw: Duplex },
    sent: (text: string) => void,
  ) {
    this.#node = node;
    this.#faults = faults;
    this.#socket = socket;
    this.#raw = raw;
    this.#sent = sent;
    const send: Send = (text, fault) => this.#send(text, fault);
    this.#chainSync = new ChainSync(node.chain, faults, send, (text) => this.#cut(text));
    this.#mempool = new MempoolMonitor(node.chain, faults, send);
    const pump = () => this.#pump();
    this.#unwatch = [node.chain.watch(pump), faults.onResume(() => this.#resume())];
  }

  receive(text: string): void {
    if (this.#isEnded) return;
    const request = readRequest(text);
    if (typeof request === 'string') this.#send(request);
    else this.#take(request);
  }

  /** As it is, whoever waits for what. */
  sendRaw(text: string): void {
    this.#socket.send(text);
  }

  /** Nothing is answered any more. */
  end(): void {
    this.#isEnded = true;
    for (const unwatch of this.#unwatch) unwatch();
    this.#chainSync.end();
    this.#mempool.end();
    this.#held = [];
  }

  /** Ends it without a word. */
  drop(): void {
    this.end();
    this.#raw.destroy();
  }

  /** Ends it as Ogmios does when the node behind it is gone. */
  close(reason: string): void {
    this.end();
    this.#socket.close(1011, reason);
  }

  #take(request: Request): void {
    const { method } = request;
    if (method === 'nextBlock') this.#chainSync.nextBlock(request);
    else if (MEMPOOL_METHODS.includes(method)) this.#mempool.ask(request);
    else if (this.#faults.stalls(method)) this.#hold(request);
    else if (method === 'findIntersection') {
      this.#send(answerText(request, this.#chainSync.findIntersection(request)));
    } else {
      const kind = method === 'submitTransaction' ? 'submit' : 'query';
      this.#last[kind] = this.#last[kind].then(() => this.#answer(request));
    }
  }

  #hold(request: Request): void {
    if (this.#held.length >= MOST_HELD) throw new Error('too many requests are held');
    this.#held.push(request);
  }

  async #answer(request: Request): Promise<void> {
    const submits = request.method === 'submitTransaction';
    const asked = submits ? this.#submit(request) : answerQuery(this.#node, request);
    const answer = await asked.catch(internalError);
    const unknown = "unknown method in 'method' (beware names are case-sensitive)";
    const text =
      answer === null
        ? faultText(CODES.unknownMethod, unknown, request.id)
        : answerText(request, answer);
    this.#send(text);
  }

  async #submit({ params }: Request): Promise<Answer> {
    const { transaction } = params;
    const cbor =
      typeof transaction === 'object' && transaction !== null && 'cbor' in transaction
        ? transaction.cbor
        : null;
    if (typeof cbor !== 'string' || !/^([0-9a-f]{2})+$/.test(cbor)) {
      const message = 'Invalid request: transaction.cbor must be base16.';
      return { error: { code: CODES.invalidParams, message } };
    }
    const outcome = await this.#node.submit(cbor);
    if (typeof outcome !== 'string') return { error: outcome };
    return { result: { transaction: { id: outcome } } };
  }

  #pump(): void {
    this.#chainSync.pump();
    this.#mempool.pump();
  }

  #resume(): void {
    const held = this.#held;
    this.#held = [];
    for (const request of held) this.#take(request);
    this.#pump();
  }

  #send(text: string, fault: BlockFault | null = null): void {
    if (this.#isEnded || this.#socket.readyState !== this.#socket.OPEN) return;
    if (fault?.kind !== 'garbage') this.#sent(text);
    if (fault?.kind === 'garbage') this.#socket.send(fault.text);
    else if (fault?.kind === 'padded') this.#socket.send(`${text}${' '.repeat(fault.bytes)}`);
    else this.#socket.send(text);
  }

  /** Half of a text frame, then the end of the connection. */
  #cut(text: string): void {
    const payload = Buffer.from(text);
    const head = Buffer.alloc(10);
    head[0] = 0x81;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
    this.end();
    const half = payload.subarray(0, Math.ceil(payload.length / 2));
    this.#raw.end(Buffer.concat([head, half]));
  }
}

function internalError(error: unknown): Answer {
  return { error: { code: CODES.internalError, message: String(error) } };
}
