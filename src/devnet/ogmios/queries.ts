/** Answers to queries of the ledger state and of the network, at the tip. */

import { readPoint } from './chainSync.ts';
import { boundOf, epochAt, eraAt, eraSummaries } from './eras.ts';
import type { JsonValue } from './json.ts';
import { type Answer, CODES, type Request } from './rpc.ts';
import type { NodeFacts, ServedNode } from './served.ts';

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
  // Nobody is registered for rewards here.
  'queryLedgerState/rewardAccountSummaries': fact(() => []),
  'queryNetwork/tip': fact(point),
  'queryNetwork/blockHeight': fact(({ chain: { tip } }) => tip?.height ?? 'origin'),
  'queryNetwork/startTime': fact(({ facts }) => facts.startTime),
  'queryNetwork/genesisConfiguration': fact(({ facts }) => shelleyGenesis(facts)),
};

/** null: no such query. */
export async function answerQuery(node: ServedNode, request: Request): Promise<Answer | null> {
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

/** The state is always that of the tip; a point that was taken back cannot be acquired. */
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
    securityParameter: 2160,
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
