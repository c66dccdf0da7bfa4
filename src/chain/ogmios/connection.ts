/**
 * One connection to Ogmios: JSON-RPC 2.0 over a WebSocket.
 *
 * A request carries a number as its id, which the answer repeats. `nextBlock` carries none: Ogmios
 * answers it in order, so counting is enough. Requests have a deadline, messages a largest size.
 *
 * A connection ends once, with one fault: every open request and `ended` reject with it, and later
 * messages are ignored. It does not reconnect; its users do.
 */

import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import {
  hexOf,
  type JsonObject,
  listOf,
  objectOf,
  parseJson,
  textOf,
  unreadable,
} from '../../cardano/codec/json.ts';
import type { OutputRef } from '../../cardano/codec/output.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { beginningOf, messageOf } from '../../engine/runtime/errors.ts';
import { type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';
import type { OpenSocket, SocketListener, TextSocket } from '../access.ts';
import { NodeFault, NodeRefusal } from './fault.ts';
import type { Limits } from './messages.ts';

export interface ConnectionDeps {
  readonly url: string;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Absent: a WebSocket. */
  readonly openSocket?: OpenSocket;
}

export interface Listener {
  /** Handles one answer to `nextBlocks`. An error that it throws ends the connection. */
  onBlock?(result: JsonObject): void;
  onEnd?(fault: NodeFault): void;
}

/** Requests without an answer; further ones fail, so that a slow node does not fill our memory. */
export const MAX_REQUESTS = 2_000;
/** Time for the server to answer our close frame; then the socket is destroyed. */
const CLOSE_MS = 500;
const NORMAL_CLOSURE = 1000;
const NEXT_BLOCK = JSON.stringify({ jsonrpc: '2.0', method: 'nextBlock' });

export class NodeConnection {
  readonly #socket: TextSocket;
  readonly #deps: ConnectionDeps;
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<never>();
  /** By id. */
  readonly #requests = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #blocksAsked = 0;
  #listener: Listener = {};
  #isOpen = false;
  /** Until the server answers our close frame. */
  #closing: Timer | null = null;
  #fault: NodeFault | null = null;

  /** Throws `NodeFault`. */
  private constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    // Not every user awaits `ended`.
    this.#ended.promise.catch(() => {});
    const { url, limits, openSocket = openWebSocket } = deps;
    const options = { maxMessageBytes: limits.messageBytes };
    try {
      this.#socket = openSocket(url.replace(/\/+$/, ''), this.#socketListener(), options);
    } catch (error) {
      throw unreachable(url, wordsOf(error));
    }
  }

  #socketListener(): SocketListener {
    return {
      opened: () => {
        this.#isOpen = true;
        this.#opened.resolve();
      },
      received: (text) => this.#receive(text),
      failed: (error) => {
        const { url } = this.#deps;
        this.end(this.#isOpen ? NodeFault.of(error) : unreachable(url, wordsOf(error)));
      },
      closed: (code, reason) => {
        this.#isOpen = false;
        this.#closing?.cancel();
        this.end(new NodeFault('closed', `it was closed: ${code} ${reason}`.trim()));
      },
    };
  }

  /** Throws `NodeFault`. The listener is not called before this resolves. */
  static async open(deps: ConnectionDeps, listener: Listener = {}): Promise<NodeConnection> {
    const { url, limits, clock } = deps;
    const connection = new NodeConnection(deps);
    const timer = clock.after(limits.answerMs, () => {
      connection.end(unreachable(url, 'it does not answer'));
    });
    try {
      await Promise.race([connection.#opened.promise, connection.ended]);
    } finally {
      timer.cancel();
    }
    if (connection.#fault !== null) throw connection.#fault;
    connection.#listener = listener;
    return connection;
  }

  /** Only the first reason counts. */
  end(fault: NodeFault): void {
    if (this.#fault !== null) return;
    this.#fault = fault;
    this.#close(fault);
    this.#ended.reject(fault);
    for (const { reject } of this.#requests.values()) reject(fault);
    this.#requests.clear();
    this.#listener.onEnd?.(fault);
  }

  /** Rejects with the reason when the connection ends; never resolves. */
  get ended(): Promise<never> {
    return this.#ended.promise;
  }

  /** Asks for `count` more blocks. The caller limits the number of open requests. */
  nextBlocks(count: number): void {
    if (this.#fault !== null) return;
    this.#blocksAsked += count;
    const send = () => {
      for (let sent = 0; sent < count; sent += 1) this.#socket.send(NEXT_BLOCK);
    };
    if (this.#socket.together === undefined) send();
    else this.#socket.together(send);
  }

  async findIntersection(points: readonly ({ slot: number; id: string } | 'origin')[]) {
    const result = await this.#request('findIntersection', { points });
    return objectOf(result, 'findIntersection.result').intersection;
  }

  networkTip(): Promise<unknown> {
    return this.#request('queryNetwork/tip');
  }

  eraSummaries(): Promise<unknown> {
    return this.#request('queryLedgerState/eraSummaries');
  }

  /** Unix milliseconds; NaN when the answer is no date. */
  async startTimeMs(): Promise<number> {
    return Date.parse(textOf(await this.#request('queryNetwork/startTime'), 'the start time'));
  }

  protocolParameters(): Promise<unknown> {
    return this.#request('queryLedgerState/protocolParameters');
  }

  /** Returns its id. */
  async submitTransaction(cbor: string): Promise<string> {
    const result = await this.#request('submitTransaction', { transaction: { cbor } });
    const { transaction } = objectOf(result, 'submitTransaction.result');
    return hexOf(objectOf(transaction, 'the submitted transaction').id, 'its id', 32);
  }

  /** Units by redeemer; `additionalUtxo`: outputs that the ledger need not have. */
  async evaluateTransaction(cbor: string, additionalUtxo: JsonValue): Promise<readonly unknown[]> {
    const params = { transaction: { cbor }, additionalUtxo };
    return listOf(await this.#request('evaluateTransaction', params), 'evaluated scripts');
  }

  /** The outputs among `refs` that are unspent in the newest block. */
  async unspent(refs: readonly OutputRef[]): Promise<readonly unknown[]> {
    const outputReferences = refs.map(({ txHash, index }) => ({
      transaction: { id: txHash },
      index,
    }));
    return listOf(await this.#request('queryLedgerState/utxo', { outputReferences }), 'outputs');
  }

  async hasTransaction(id: string): Promise<boolean> {
    const result = await this.#request('hasTransaction', { id });
    if (typeof result !== 'boolean') throw unreadable('hasTransaction.result is no boolean');
    return result;
  }

  /** Takes a snapshot of the mempool, for a connection that holds none. */
  async acquireMempool(): Promise<void> {
    await this.#request('acquireMempool');
  }

  /** The same, but waits, without a deadline, until the mempool differs from the held snapshot. */
  async acquireChangedMempool(): Promise<void> {
    await this.#request('acquireMempool', {}, null);
  }

  async releaseMempool(): Promise<void> {
    await this.#request('releaseMempool');
  }

  /** null: the snapshot has no more. */
  async nextTransaction(): Promise<unknown> {
    const result = await this.#request('nextTransaction', { fields: 'all' });
    return objectOf(result, 'nextTransaction.result').transaction;
  }

  /** Throws `NodeFault` or `NodeRefusal`. `deadlineMs` null: none. */
  async #request(
    method: string,
    params: Readonly<Record<string, JsonValue>> = {},
    deadlineMs: number | null = this.#deps.limits.answerMs,
  ): Promise<unknown> {
    if (this.#fault !== null) throw this.#fault;
    if (this.#requests.size >= MAX_REQUESTS) {
      throw new NodeFault('stalled', `${MAX_REQUESTS} requests wait for the node's answer`);
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#requests.set(id, answer);
    this.#socket.send(jsonText({ jsonrpc: '2.0', method, params, id }));
    if (deadlineMs === null) return answer.promise;
    const timer = this.#deps.clock.after(deadlineMs, () => {
      this.end(new NodeFault('stalled', `no answer to ${method} within ${deadlineMs} ms`));
    });
    try {
      return await answer.promise;
    } finally {
      timer.cancel();
    }
  }

  #receive(text: string): void {
    if (this.#fault !== null) return;
    try {
      const message = objectOf(parseJson(text), 'a message');
      if (message.method === 'nextBlock' && this.#blocksAsked > 0) {
        this.#blocksAsked -= 1;
        this.#listener.onBlock?.(objectOf(message.result, 'nextBlock.result'));
      } else if (!this.#answer(message)) {
        throw new NodeFault(
          'garbage',
          `an unexpected message: ${beginningOf(text, LONGEST_WORDS)}`,
        );
      }
    } catch (error) {
      this.end(NodeFault.of(error, ` in ${beginningOf(text, LONGEST_WORDS)}`));
    }
  }

  /** false: it answers no request. */
  #answer({ id, result, error }: JsonObject): boolean {
    const request = typeof id === 'number' ? this.#requests.get(id) : undefined;
    if (request === undefined) return false;
    if (error !== undefined) request.reject(refusalOf(error));
    else if (result !== undefined) request.resolve(result);
    else throw unreadable('an answer has neither result nor error');
    this.#requests.delete(Number(id));
    return true;
  }

  /** With a close frame when nothing is wrong with the connection; otherwise at once. */
  #close({ fault }: NodeFault): void {
    const socket = this.#socket;
    if (fault !== 'closed' || !this.#isOpen) {
      socket.terminate();
      return;
    }
    this.#closing = this.#deps.clock.after(CLOSE_MS, () => socket.terminate());
    socket.close();
  }
}

function openWebSocket(
  url: string,
  listener: SocketListener,
  { maxMessageBytes }: { readonly maxMessageBytes: number },
): TextSocket {
  const socket = new WebSocket(url, { maxPayload: maxMessageBytes });
  let wire: Socket | null = null;
  socket.on('upgrade', (response) => {
    wire = response.socket;
  });
  socket.on('open', () => listener.opened());
  socket.on('message', (data) => listener.received(String(data)));
  socket.on('error', (error) => listener.failed(error));
  socket.on('close', (code, reason) => listener.closed(code, String(reason)));
  return {
    send: (text) => socket.send(text),
    together(run) {
      wire?.cork();
      run();
      wire?.uncork();
    },
    close: () => socket.close(NORMAL_CLOSURE),
    terminate: () => socket.terminate(),
  };
}

function unreachable(url: string, words: string): NodeFault {
  return new NodeFault('unreachable', withoutUser(`${url}: ${words}`));
}

/** Throws `unreadableMessage`. */
function refusalOf(error: unknown): NodeRefusal {
  const { code, message, data } = objectOf(error, 'an error');
  if (typeof code !== 'number') throw unreadable('an error has no code');
  return new NodeRefusal(code, textOf(message, "an error's message"), data);
}

/** Addresses may hold a user and a password, and these messages are logged. */
function withoutUser(text: string): string {
  return text.replaceAll(/:\/\/[^/\s]*@/g, '://');
}

const LONGEST_WORDS = 200;

function wordsOf(error: unknown): string {
  // A name with several addresses fails once for each, and the whole has no message.
  if (error instanceof AggregateError)
    return beginningOf(error.errors.map(wordsOf).join('; '), LONGEST_WORDS);
  return beginningOf(messageOf(error), LONGEST_WORDS);
}
