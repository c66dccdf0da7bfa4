/** Answers to queries of the ledger state and of the network, at the tip. */

import { readPoint } from './chainSync.ts';
import { boundOf, epochAt, eraAt, eraSummaries } from './eras.ts';
import type { JsonValue } from './json.ts';
import type { FakeNode } from './node.ts';
import { type Answer, CODES, type Request } from './rpc.ts';

type Query = (node: FakeNode, request: Request) => JsonValue | Promise<JsonValue>;

function slotOf({ chain }: FakeNode): number {
  return Number(chain.tip?.slot ?? 0);
}

function point({ chain: { tip } }: FakeNode): JsonValue {
  return tip === null ? 'origin' : { slot: tip.slot, id: tip.id };
}

const QUERIES: Readonly<Record<string, Query>> = {
  'queryLedgerState/eraSummaries': (node) => eraSummaries(node.facts.eras, slotOf(node)),
  'queryLedgerState/eraStart': (node) => boundOf(eraAt(node.facts.eras, slotOf(node))),
  'queryLedgerState/epoch': (node) => epochAt(node.facts.eras, slotOf(node)),
  'queryLedgerState/protocolParameters': ({ facts }) => facts.parameters,
  'queryLedgerState/tip': point,
  'queryLedgerState/utxo': ({ facts }, { params }) => facts.utxo?.(params) ?? [],
  'queryNetwork/tip': point,
  'queryNetwork/blockHeight': ({ chain: { tip } }) => tip?.height ?? 'origin',
  'queryNetwork/startTime': ({ facts }) => facts.startTime,
  'queryNetwork/genesisConfiguration': ({ facts }) => shelleyGenesis(facts),
};

/** null: no such query. */
export async function answerQuery(node: FakeNode, request: Request): Promise<Answer | null> {
  const { method, params } = request;
  if (method === 'acquireLedgerState') return acquire(node, request);
  if (method === 'releaseLedgerState') return { result: { released: 'ledgerState' } };
  const query = Object.hasOwn(QUERIES, method) ? QUERIES[method] : undefined;
  if (query === undefined) return null;
  if (method === 'queryNetwork/genesisConfiguration' && params.era !== 'shelley') {
    const message = "Invalid request: only the 'shelley' genesis is known here.";
    return { error: { code: CODES.invalidParams, message } };
  }
  return { result: await query(node, request) };
}

/** The state is always that of the tip; a point that was taken back cannot be acquired. */
function acquire({ chain }: FakeNode, { params }: Request): Answer {
  const wanted = readPoint(params.point);
  if (wanted !== null && chain.positionOf(wanted) !== undefined) {
    return {
      result: { acquired: 'ledgerState', point: wanted === 'origin' ? wanted : { ...wanted } },
    };
  }
  const message = 'Failed to acquire the requested ledger state.';
  const data = 'Target point is not on the chain.';
  return { error: { code: CODES.ledgerStateUnavailable, message, data } };
}

function shelleyGenesis({ network, networkMagic, startTime, parameters, eras }: FakeNode['facts']) {
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
