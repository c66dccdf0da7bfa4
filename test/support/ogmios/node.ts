/** What a fake Ogmios knows of its network beside blocks; a test may replace any of it. */
import { DEFAULT_PARAMETERS } from '../../../src/cardano/build/parameters.ts';
import type { FakeChain } from './chain.ts';
import { type EraPlan, MAINNET_ERAS, MAINNET_START } from './eras.ts';
import type { JsonValue } from './json.ts';
import { parametersJson } from './parameters.ts';
import type { RpcError } from './rpc.ts';

export interface NodeFacts {
  /** As in `/health`; the magic number where the network has no name. */
  readonly network: string;
  readonly networkMagic: number;
  /** ISO 8601. */
  readonly startTime: string;
  readonly eras: readonly EraPlan[];
  /** Answer of `queryLedgerState/protocolParameters`. */
  readonly parameters: JsonValue;
  /** Answer of `queryLedgerState/utxo` to its parameters. Without it nothing is unspent. */
  readonly utxo?: (params: Readonly<Record<string, unknown>>) => Promise<JsonValue>;
  /** 1 is all; what `/health` says of the node behind. */
  readonly synchronization: number;
  /** The node behind is there. */
  readonly isConnected: boolean;
}

/** `cbor` is hex. Answers the id of what was taken. */
export type Submit = (cbor: string) => Promise<string | RpcError>;

export interface FakeNode {
  readonly chain: FakeChain;
  facts: NodeFacts;
  submit: Submit;
}

export const MAINNET_FACTS: NodeFacts = {
  network: 'mainnet',
  networkMagic: 764_824_073,
  startTime: MAINNET_START,
  eras: MAINNET_ERAS,
  parameters: parametersJson(DEFAULT_PARAMETERS),
  synchronization: 1,
  isConnected: true,
};
