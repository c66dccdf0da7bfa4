/**
 * One connection to Ogmios, over its official client: it checks the server's health, opens the
 * socket, and writes and reads the small messages. Messages that carry transactions are read here:
 * the client's own reader is many times slower than `JSON.parse`, and refuses keys of metadata that
 * anybody may write.
 *
 * The client neither reconnects nor limits how long an answer takes, and a message it cannot read
 * is a rejection that nobody handles: so what comes passes through `Wire`, and every question has
 * a deadline. A connection ends once, with the reason; whoever waits is told it.
 */
import { EventEmitter } from 'node:events';
import { globalAgent as plain } from 'node:http';
import { globalAgent as secure } from 'node:https';
import {
  ChainSynchronization,
  createInteractionContext,
  type InteractionContext,
  JSONRPCError,
  LedgerStateQuery,
  MempoolMonitoring,
  safeJSON,
  TransactionSubmission,
} from '@cardano-ogmios/client';
import type { OutputRef } from '../../cardano/codec/output.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { NodeFault, NodeRefusal } from './fault.ts';
import { type JsonObject, objectOf, parseJson } from './json.ts';
import type { Limits } from './messages.ts';

export interface ConnectionPlace {
  readonly url: string;
  readonly limits: Limits;
  readonly clock: Clock;
}

export interface Listener {
  /** An answer to `nextBlock`. What it throws ends the connection. */
  onBlock?(result: JsonObject): void;
  onEnd?(fault: NodeFault): void;
}

/** What the client takes for its socket: it hears only what is not read here. */
class Wire extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly send: (text: string) => void;

  constructor(send: (text: string) => void) {
    super({ captureRejections: true });
    this.send = send;
    this.setMaxListeners(0);
  }
}

const NEXT_TRANSACTION = safeJSON.stringify({
  jsonrpc: '2.0',
  method: 'nextTransaction',
  params: { fields: 'all' },
});

export class NodeConnection {
  readonly #context: InteractionContext;
  readonly #place: ConnectionPlace;
  readonly #listener: Listener;
  readonly #wire: Wire;
  readonly #wired: InteractionContext;
  readonly #ended = Promise.withResolvers<never>();
  #transaction: ((answer: JsonObject) => void) | null = null;
  #fault: NodeFault | null = null;

  private constructor(context: InteractionContext, place: ConnectionPlace, listener: Listener) {
    this.#context = context;
    this.#place = place;
    this.#listener = listener;
    this.#wire = new Wire((text) => context.socket.send(text));
    this.#wire.on('error', (error) => this.end(new NodeFault('garbage', String(error))));
    // trust: the client uses no more of a socket than a Wire has
    const socket = this.#wire as unknown as InteractionContext['socket'];
    this.#wired = { connection: context.connection, socket };
    this.#ended.promise.catch(() => {});
    context.socket.on('message', (data) => this.#receive(String(data)));
  }

  /** Throws `NodeFault`. */
  static async open(place: ConnectionPlace, listener: Listener = {}): Promise<NodeConnection> {
    const { url, limits, clock } = place;
    let made: NodeConnection | null = null;
    let early: NodeFault | null = null;
    const end = (fault: NodeFault) => {
      early ??= fault;
      made?.end(fault);
    };
    const webSocket = url.replace(/\/+$/, '');
    const address = { http: webSocket.replace(/^ws/, 'http'), webSocket };
    const context = createInteractionContext(
      (error) => end(faultOf(error)),
      (code, reason) => end(new NodeFault('closed', `it was closed: ${code} ${reason}`.trim())),
      { connection: { address, maxPayload: limits.messageBytes } },
    );
    const late = Promise.withResolvers<never>();
    const timer = clock.after(limits.answerMs, () => {
      late.reject(new NodeFault('unreachable', `${withoutUser(webSocket)} does not answer`));
      // The client's question for the server's health has no end of its own.
      for (const agent of [plain, secure]) agent.destroy();
      context.then(({ socket }) => socket.terminate()).catch(() => {});
    });
    try {
      made = new NodeConnection(await Promise.race([context, late.promise]), place, listener);
      if (early !== null) throw early;
      return made;
    } catch (error) {
      if (error instanceof NodeFault) throw error;
      throw new NodeFault('unreachable', withoutUser(`${webSocket}: ${wordsOf(error)}`));
    } finally {
      timer.cancel();
    }
  }

  /** Only the first reason counts. */
  end(fault: NodeFault): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#wire.readyState = 3;
    this.#context.socket.terminate();
    this.#wire.emit('close', 1006, fault.message);
    this.#ended.reject(fault);
    this.#listener.onEnd?.(fault);
  }

  /** Rejects with the reason when the connection ends; never resolves. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  nextBlock(): void {
    if (this.#fault === null) ChainSynchronization.nextBlock(this.#wired.socket);
  }

  findIntersection(points: readonly ({ slot: number; id: string } | 'origin')[]) {
    return this.#ask(() => ChainSynchronization.findIntersection(this.#wired, [...points]));
  }

  networkTip() {
    return this.#ask(() => LedgerStateQuery.networkTip(this.#wired));
  }

  eraSummaries() {
    return this.#ask(() => LedgerStateQuery.eraSummaries(this.#wired));
  }

  startTime() {
    return this.#ask(() => LedgerStateQuery.networkStartTime(this.#wired));
  }

  protocolParameters() {
    return this.#ask(() => LedgerStateQuery.protocolParameters(this.#wired));
  }

  submitTransaction(cbor: string) {
    return this.#ask(() => TransactionSubmission.submitTransaction(this.#wired, cbor));
  }

  /** Those of the outputs that are unspent in the newest block. */
  unspent(refs: readonly OutputRef[]) {
    const outputReferences = refs.map(({ txHash, index }) => ({
      transaction: { id: txHash },
      index,
    }));
    return this.#ask(() => LedgerStateQuery.utxo(this.#wired, { outputReferences }));
  }

  hasTransaction(id: string) {
    return this.#ask(() => MempoolMonitoring.hasTransaction(this.#wired, id));
  }

  /** A second one waits until the mempool has changed, for as long as that takes. */
  acquireMempool() {
    return this.#answered(MempoolMonitoring.acquireMempool(this.#wired, {}));
  }

  releaseMempool() {
    return this.#ask(() => MempoolMonitoring.releaseMempool(this.#wired));
  }

  /** null: that was the last one. One at a time. */
  async nextTransaction(): Promise<unknown> {
    const { transaction } = await this.#ask(
      () =>
        new Promise<JsonObject>((resolve) => {
          this.#transaction = resolve;
          this.#wire.send(NEXT_TRANSACTION);
        }),
    );
    return transaction;
  }

  #receive(text: string): void {
    if (this.#fault !== null) return;
    try {
      const message = objectOf(parseJson(text), 'a message');
      if (message.method === 'nextBlock') {
        this.#listener.onBlock?.(objectOf(message.result, 'nextBlock.result'));
      } else if (message.method === 'nextTransaction') {
        this.#transaction?.(objectOf(message.result, 'nextTransaction.result'));
      } else if (message.id !== undefined && message.id !== null) {
        this.#wire.emit('message', text);
      } else throw new NodeFault('garbage', `an unexpected message: ${cut(text)}`);
    } catch (error) {
      this.end(error instanceof NodeFault ? error : faultOf(error, text));
    }
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    const { clock, limits } = this.#place;
    const timer = clock.after(limits.answerMs, () => {
      this.end(new NodeFault('stalled', `no answer within ${limits.answerMs} ms`));
    });
    try {
      return await this.#answered(question());
    } finally {
      timer.cancel();
    }
  }

  /** Throws `NodeFault` or `NodeRefusal`; why the connection ended comes before all else. */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await Promise.race([answer, this.#ended.promise]);
    } catch (error) {
      if (this.#fault !== null) throw this.#fault;
      if (!(error instanceof JSONRPCError)) throw faultOf(error);
      throw new NodeRefusal(error.code, error.message, error.data);
    }
  }
}

/** Addresses may hold a user and a password, and what is said of them is logged. */
function withoutUser(text: string): string {
  return text.replaceAll(/:\/\/[^/\s]*@/g, '://');
}

const LONGEST_WORDS = 200;

function cut(text: string): string {
  return text.length <= LONGEST_WORDS ? text : `${text.slice(0, LONGEST_WORDS)}…`;
}

function wordsOf(error: unknown): string {
  return cut(error instanceof Error ? error.message : String(error));
}

function faultOf(error: unknown, text?: string): NodeFault {
  return NodeFault.of(error, text === undefined ? '' : ` in ${cut(text)}`);
}
