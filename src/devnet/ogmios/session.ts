/**
 * One connection. The mini-protocols do not wait for each other: chain synchronisation, mempool,
 * queries and submission are answered in order within themselves only, as in Ogmios.
 */
import { ChainSync } from './chainSync.ts';
import { MEMPOOL_METHODS, MempoolMonitor } from './mempoolMonitor.ts';
import { answerQuery } from './queries.ts';
import { type Answer, answerText, CODES, faultText, type Request, readRequest } from './rpc.ts';
import type { ServedNode } from './served.ts';

/** Queries and submissions of one connection that may be under way or queued. */
const MOST_QUEUED = 1_000;

export interface Transport {
  send(text: string): void;
  /** No answer to this method should be made now; the session is pumped again later. */
  isFull(method: string): boolean;
  /** Ends the connection, with the reason. */
  close(reason: string): void;
}

export class Session {
  readonly #node: ServedNode;
  readonly #transport: Transport;
  readonly #chainSync: ChainSync;
  readonly #mempool: MempoolMonitor;
  /** Queries and submissions are each answered in order. */
  readonly #last = { query: Promise.resolve(), submit: Promise.resolve() };
  readonly #unlisten: () => void;
  #queued = 0;
  #isEnded = false;

  constructor(node: ServedNode, transport: Transport) {
    this.#node = node;
    this.#transport = transport;
    this.#chainSync = new ChainSync(node.chain, transport);
    this.#mempool = new MempoolMonitor(node.chain, transport);
    this.#unlisten = node.chain.listen({
      changed: () => this.pump(),
      shortened: (place) => this.#chainSync.shortened(place),
    });
  }

  receive(text: string): void {
    if (this.#isEnded) return;
    const request = readRequest(text);
    if (typeof request === 'string') this.#transport.send(request);
    else this.#take(request);
  }

  /** Answers nothing any more. */
  end(): void {
    this.#isEnded = true;
    this.#unlisten();
    this.#chainSync.end();
    this.#mempool.end();
  }

  /** Answers what can be answered now. */
  pump(): void {
    if (this.#isEnded) return;
    this.#chainSync.pump();
    this.#mempool.pump();
  }

  #take(request: Request): void {
    const { method } = request;
    if (method === 'nextBlock') this.#chainSync.nextBlock(request);
    else if (MEMPOOL_METHODS.includes(method)) this.#mempool.ask(request);
    else if (method === 'findIntersection') {
      this.#transport.send(answerText(request, this.#chainSync.findIntersection(request)));
    } else if (this.#queued >= MOST_QUEUED) {
      this.#transport.close(`more than ${MOST_QUEUED} requests are in flight`);
    } else {
      this.#queued += 1;
      if (method === 'submitTransaction') {
        // Judged together, and written with one commit; the node judges in the order of its queue.
        const asked = this.#submit(request).catch(internalError);
        this.#last.submit = this.#last.submit.then(() => this.#answer(request, asked));
      } else {
        this.#last.query = this.#last.query.then(() => {
          return this.#answer(request, answerQuery(this.#node, request));
        });
      }
    }
  }

  async #answer(request: Request, asked: Promise<Answer | null>): Promise<void> {
    const answer = await asked.catch(internalError);
    this.#queued -= 1;
    if (this.#isEnded) return;
    const unknown = "unknown method in 'method' (beware names are case-sensitive)";
    const text =
      answer === null
        ? faultText(CODES.unknownMethod, unknown, request.id)
        : answerText(request, answer);
    this.#transport.send(text);
  }

  async #submit({ params }: Request): Promise<Answer> {
    const cbor = cborOf(params);
    if (cbor === null) {
      const message = 'Invalid request: transaction.cbor must be base16.';
      return { error: { code: CODES.invalidParams, message } };
    }
    const outcome = await this.#node.submit(cbor);
    if (typeof outcome !== 'string') return { error: outcome };
    return { result: { transaction: { id: outcome } } };
  }
}

/** `transaction.cbor` of a request; null where it is not hex. */
export function cborOf({ transaction }: Request['params']): string | null {
  const cbor =
    typeof transaction === 'object' && transaction !== null && 'cbor' in transaction
      ? transaction.cbor
      : null;
  return typeof cbor === 'string' && /^([0-9a-f]{2})+$/i.test(cbor) ? cbor : null;
}

function internalError(error: unknown): Answer {
  return { error: { code: CODES.internalError, message: String(error) } };
}
