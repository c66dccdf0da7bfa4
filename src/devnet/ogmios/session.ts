/**
 * One connection. The mini-protocols do not wait for each other: chain synchronisation, mempool,
 * queries and submission are answered in order within themselves only, as in Ogmios.
 */

import type { JsonValue } from '../../engine/runtime/exactJson.ts';
import { MAX_FORK_BLOCKS } from '../../engine/runtime/limits.ts';
import { ChainSync, readPoint } from './chainSync.ts';
import { MEMPOOL_METHODS, MempoolMonitor } from './mempoolMonitor.ts';
import { boundOf, epochAt, eraAt, eraSummaries } from './networkFacts.ts';
import {
  type Answer,
  answerText,
  CODES,
  faultText,
  invalidParams,
  type Request,
  readRequest,
} from './rpc.ts';
import type { NodeFacts, ServedNode } from './served.ts';

/** Queries and submissions of one connection that may be under way or queued. */
const MAX_QUEUED = 1_000;

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
    else this.#handle(request);
  }

  /** Sends no further answers. */
  end(): void {
    this.#isEnded = true;
    this.#unlisten();
    this.#chainSync.end();
    this.#mempool.end();
  }

  /** Answers all requests that can be answered now. */
  pump(): void {
    if (this.#isEnded) return;
    this.#chainSync.pump();
    this.#mempool.pump();
  }

  #handle(request: Request): void {
    const { method } = request;
    if (method === 'nextBlock') this.#chainSync.nextBlock(request);
    else if (MEMPOOL_METHODS.includes(method)) this.#mempool.ask(request);
    else if (method === 'findIntersection') {
      this.#transport.send(answerText(request, this.#chainSync.findIntersection(request)));
    } else if (this.#queued >= MAX_QUEUED) {
      this.#transport.close(`more than ${MAX_QUEUED} requests are in flight`);
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
    if (cbor === null) return invalidParams('transaction.cbor must be base16');
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

/** Answers to queries of the ledger state and of the network, at the tip. */
type Query = (node: ServedNode, request: Request) => Answer | Promise<Answer>;

function slotOf({ chain }: ServedNode): number {
  return Number(chain.tip?.slot ?? 0);
}

function point({ chain: { tip } }: ServedNode): JsonValue {
  return tip === null ? 'origin' : { slot: tip.slot, id: tip.id };
}

/** An answer that cannot fail. */
function fact(of: (node: ServedNode) => JsonValue): Query {
  return (node) => ({ result: of(node) });
}

const QUERIES: Readonly<Record<string, Query>> = {
  'queryLedgerState/eraSummaries': fact((node) => eraSummaries(node.facts.eras, slotOf(node))),
  'queryLedgerState/eraStart': fact((node) => boundOf(eraAt(node.facts.eras, slotOf(node)))),
  'queryLedgerState/epoch': fact((node) => epochAt(node.facts.eras, slotOf(node))),
  'queryLedgerState/protocolParameters': fact(({ facts }) => facts.parameters),
  'queryLedgerState/tip': fact(point),
  'queryLedgerState/utxo': (node, { params }) => node.utxo(params),
  // No stake account is registered here.
  'queryLedgerState/rewardAccountSummaries': fact(() => []),
  'queryNetwork/tip': fact(point),
  'queryNetwork/blockHeight': fact(({ chain: { tip } }) => tip?.height ?? 'origin'),
  'queryNetwork/startTime': fact(({ facts }) => facts.startTime),
  'queryNetwork/genesisConfiguration': fact(({ facts }) => shelleyGenesis(facts)),
};

/** null: no such query. */
async function answerQuery(node: ServedNode, request: Request): Promise<Answer | null> {
  const { method, params } = request;
  if (method === 'acquireLedgerState') return acquire(node, request);
  if (method === 'releaseLedgerState') return { result: { released: 'ledgerState' } };
  if (method === 'evaluateTransaction') return node.evaluate(params);
  const query = Object.hasOwn(QUERIES, method) ? QUERIES[method] : undefined;
  if (query === undefined) return null;
  if (method === 'queryNetwork/genesisConfiguration' && params.era !== 'shelley') {
    const message = 'Failed to retrieve genesis configuration.';
    const data = "A devnet begins in the last era: only 'shelley' has one.";
    return { error: { code: CODES.genesisUnavailable, message, data } };
  }
  return query(node, request);
}

/** The state is always the tip's; a point that was rolled back cannot be acquired. */
function acquire({ chain }: ServedNode, { params }: Request): Answer {
  const wanted = readPoint(params.point);
  if (wanted !== null && chain.placeOf(wanted) !== undefined) {
    return {
      result: { acquired: 'ledgerState', point: wanted === 'origin' ? wanted : { ...wanted } },
    };
  }
  const message = 'Failed to acquire the requested ledger state.';
  const data = 'Target point is not on the chain.';
  return { error: { code: CODES.ledgerStateUnavailable, message, data } };
}

function shelleyGenesis({
  network,
  networkMagic,
  startTime,
  parameters,
  eras,
}: NodeFacts): JsonValue {
  const last = eras.at(-1);
  return {
    era: 'shelley',
    startTime,
    networkMagic,
    network: network === 'mainnet' ? 'mainnet' : 'testnet',
    activeSlotsCoefficient: '1/20',
    securityParameter: MAX_FORK_BLOCKS,
    epochLength: last?.epochSlots ?? 432_000,
    slotsPerKesPeriod: 129_600,
    maxKesEvolutions: 62,
    slotLength: { milliseconds: last?.slotLengthMs ?? 1_000 },
    updateQuorum: 5,
    maxLovelaceSupply: 45_000_000_000_000_000n,
    initialParameters: parameters,
    initialDelegates: [],
    initialFunds: {},
    initialStakePools: { stakePools: {}, delegators: {} },
  };
}
