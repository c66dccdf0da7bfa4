/**
 * Mempool monitoring of one connection: a snapshot and how much of it was sent. A request for
 * another snapshot waits until it would differ; later requests wait behind it, as in a node.
 */
import { type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';
import { answerText, CODES, type Request, resultText } from './rpc.ts';
import type { ServedChain, ServedTransaction } from './served.ts';
import type { Transport } from './session.ts';

export const MEMPOOL_METHODS: readonly string[] = [
  'acquireMempool',
  'nextTransaction',
  'hasTransaction',
  'sizeOfMempool',
  'releaseMempool',
];

/** Twice a block, as a node has it. */
const CAPACITY_BYTES = 2 * 90_112;
const MAX_ASKED = 1_000;

interface Snapshot {
  readonly version: string;
  readonly transactions: readonly ServedTransaction[];
}

export class MempoolMonitor {
  readonly #chain: ServedChain;
  readonly #transport: Transport;
  readonly #requests: Request[] = [];
  #snapshot: Snapshot | null = null;
  #sent = 0;

  constructor(chain: ServedChain, transport: Transport) {
    this.#chain = chain;
    this.#transport = transport;
  }

  ask(request: Request): void {
    if (this.#requests.length >= MAX_ASKED) {
      this.#transport.close(`more than ${MAX_ASKED} requests are in flight`);
      return;
    }
    this.#requests.push(request);
    this.pump();
  }

  end(): void {
    this.#requests.length = 0;
  }

  /** Answers all requests that can be answered now. */
  pump(): void {
    for (let [request] = this.#requests; request !== undefined; [request] = this.#requests) {
      if (this.#transport.isFull(request.method)) return;
      const text = this.#answer(request);
      if (text === null) return;
      this.#requests.shift();
      this.#transport.send(text);
    }
  }

  /** null: not yet. */
  #answer(request: Request): string | null {
    const { method } = request;
    if (method === 'acquireMempool') return this.#acquire(request);
    if (this.#snapshot === null) {
      const message = `'${method}' must be called after at least one 'acquireMempool'.`;
      return answerText(request, { error: { code: CODES.mustAcquireMempool, message } });
    }
    if (method === 'nextTransaction') return this.#next(request, this.#snapshot);
    return answerText(request, { result: this.#about(request, this.#snapshot) });
  }

  #acquire(request: Request): string | null {
    const version = this.#chain.snapshotVersion;
    if (this.#snapshot?.version === version) return null;
    this.#snapshot = { version, transactions: this.#chain.pending };
    this.#sent = 0;
    const slot = Number(this.#chain.tip?.slot ?? -1) + 1;
    return answerText(request, { result: { acquired: 'mempool', slot } });
  }

  #next(request: Request, { transactions }: Snapshot): string {
    const transaction = transactions[this.#sent];
    if (transaction === undefined) return answerText(request, { result: { transaction: null } });
    this.#sent += 1;
    const { id, text } = transaction;
    const shown = request.params.fields === 'all' ? text : jsonText({ id });
    return resultText(request, `{"transaction":${shown}}`);
  }

  #about({ method, params }: Request, { transactions }: Snapshot): JsonValue {
    if (method === 'hasTransaction') return transactions.some(({ id }) => id === params.id);
    if (method === 'sizeOfMempool') {
      const bytes = transactions.reduce((sum, each) => sum + each.bytes, 0);
      return {
        maxCapacity: { bytes: CAPACITY_BYTES },
        currentSize: { bytes },
        transactions: { count: transactions.length },
      };
    }
    this.#snapshot = null;
    return { released: 'mempool' };
  }
}
