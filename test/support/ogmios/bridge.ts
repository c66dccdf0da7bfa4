/**
 * A test's own chain behind a fake Ogmios, which can be made to fail: its blocks and forks by chain
 * synchronisation, its mempool by monitoring, submission by its own judgement, in the words of a
 * real node. So the same chain can be read directly and through Ogmios.
 *
 * As a node, it refuses a transaction that is pending or in a block: its inputs are spent.
 */
import assert from 'node:assert/strict';
import { type OutputRef, refText } from '../../../src/cardano/codec/output.ts';
import { utxoJson } from '../../../src/cardano/codec/outputJson.ts';
import type { SlotConfig } from '../../../src/cardano/codec/slots.ts';
import { namedRefs, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import type { Submitter, UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type {
  Block,
  ChainEvent,
  ChainSource,
  ChainStream,
  ChainTip,
} from '../../../src/chain/port.ts';
import { oneEra } from '../../../src/devnet/ogmios/networkFacts.ts';
import {
  ALL_SPENT,
  deserialisationFailure,
  mempoolError,
  refusalError,
  transactionOf,
} from '../../../src/devnet/ogmios/refusals.ts';
import type { Answer, RpcError } from '../../../src/devnet/ogmios/rpc.ts';
import {
  servedTransaction,
  type TransactionOptions,
} from '../../../src/devnet/ogmios/transactionJson.ts';
import { MAINNET_645 } from '../../../src/devnet/parameters.ts';
import { until, untilAsked } from '../until.ts';
import { praosBlock } from './blocks.ts';
import type { FakeTransaction } from './chain.ts';
import type { NodeFacts } from './node.ts';
import { FakeOgmios, type FakeOgmiosOptions } from './server.ts';

/** The parts of a chain that a node is asked about. */
interface BridgedChain extends ChainSource, Submitter, Pick<UtxoLookup, 'byRefs'> {
  readonly slotConfig: SlotConfig;
  tip(): Promise<{ readonly tip: ChainTip | null; readonly slot: number }>;
}

export interface BridgeOptions extends TransactionOptions {
  /** The network that it pretends to be. */
  readonly facts?: Partial<NodeFacts>;
  readonly ogmios?: Pick<FakeOgmiosOptions, 'sent' | 'port'>;
}

/** How long a submission waits for the mempool to show it. */
const SHOWN_LIMIT_MS = 30_000;

export class Bridge {
  readonly ogmios: FakeOgmios;
  readonly #chain: BridgedChain;
  readonly #options: TransactionOptions;
  #stream: ChainStream | null = null;
  #following: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  /** In the order in which they can be applied. */
  readonly #waiting = new Map<string, FakeTransaction>();
  /** Ids of all transactions in blocks, with the block's. */
  readonly #inBlock = new Map<string, string>();
  readonly #dropped = new Set<string>();

  constructor(chain: BridgedChain, { ogmios = {}, facts = {}, ...options }: BridgeOptions = {}) {
    this.#chain = chain;
    this.#options = options;
    const submit = (cbor: string) => this.#submit(Buffer.from(cbor, 'hex'));
    const utxo = (params: Readonly<Record<string, unknown>>) => this.#utxo(params);
    this.ogmios = new FakeOgmios({
      ...ogmios,
      facts: { ...this.#facts(), ...facts },
      submit,
      utxo,
    });
  }

  /** Resolves when every block of the chain is served. */
  async start(): Promise<void> {
    const stream = await this.#chain.open([]);
    assert.ok(stream, 'a chain opens at its beginning');
    this.#stream = stream;
    this.#following = this.#follow(stream).catch((error: unknown) => {
      this.#failure = error;
    });
    await this.settled();
    await this.ogmios.start();
  }

  async stop(): Promise<void> {
    await this.#stream?.close();
    await this.#following;
    await this.ogmios.stop();
    if (this.#failure !== null) throw this.#failure;
  }

  get url(): string {
    return this.ogmios.url;
  }

  /** Waits until the newest block of the ledger is served. */
  async settled(): Promise<void> {
    // Asked again each time: a ledger with a pace has a newer one in the meantime.
    await untilAsked(
      () => `the fake serves the newest block: ${this.#failure}`,
      async () => (await this.#chain.tip()).tip?.hash ?? null,
      (id) => this.#failure === null && (this.ogmios.chain.tip?.id ?? null) === id,
      SHOWN_LIMIT_MS,
    );
  }

  async #follow(stream: ChainStream): Promise<void> {
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      this.#tell(event);
    }
  }

  #tell(event: ChainEvent): void {
    const { chain } = this.ogmios;
    if (event.kind === 'forward') this.#forward(event.block);
    else if (event.kind === 'back') {
      const at = chain.placeOf(
        event.point === null ? 'origin' : { slot: event.point.slot, id: event.point.hash },
      );
      assert.ok(at !== undefined, 'the ledger goes back to one of its blocks');
      const taken = new Set(chain.blocks.slice(at).map(({ id }) => id));
      for (const [id, block] of this.#inBlock) if (taken.has(block)) this.#inBlock.delete(id);
      chain.fork(chain.length - at);
    } else {
      if (event.whole) this.#waiting.clear();
      for (const { id } of event.removed) {
        this.#waiting.delete(id);
        this.#dropped.add(id);
      }
      for (const tx of event.added) this.#waiting.set(tx.id, this.#shown(tx));
      chain.mempool([...this.#waiting.values()]);
    }
  }

  #forward({ point, height, transactions }: Block): void {
    const { chain } = this.ogmios;
    for (const { id } of transactions) {
      this.#waiting.delete(id);
      this.#inBlock.set(id, point.hash);
    }
    const block = praosBlock(chain.tip, {
      slot: point.slot,
      id: point.hash,
      height: BigInt(height),
      transactions: transactions.map((tx) => this.#shown(tx)),
    });
    // Transactions of the block leave the mempool before any client can see the block.
    chain.mempool([...this.#waiting.values()]);
    chain.extend(block);
  }

  #shown(tx: Transaction): FakeTransaction {
    return servedTransaction(tx, this.#options);
  }

  async #submit(bytes: Uint8Array): Promise<string | RpcError> {
    const tx = transactionOf(bytes);
    if (tx === null) return deserialisationFailure('no transaction of this era');
    if (this.#waiting.has(tx.id) || this.#inBlock.has(tx.id)) return mempoolError(ALL_SPENT);
    this.#dropped.delete(tx.id);
    const outcome = await this.#chain.submit(bytes);
    if (outcome.outcome === 'accepted') {
      const { txHash } = outcome;
      const isShown = () => this.#waiting.has(txHash) || this.#inBlock.has(txHash);
      const shown = () => isShown() || this.#dropped.has(txHash) || this.#failure !== null;
      await until(`${txHash} is shown`, shown, SHOWN_LIMIT_MS);
      return txHash;
    }
    const states = await this.#chain.byRefs(namedRefs(tx));
    const utxos = states.flatMap((state) => (state.state === 'unspent' ? [state.utxo] : []));
    const known = new Map(utxos.map((utxo) => [refText(utxo.ref), utxo]));
    const output = (ref: OutputRef) => known.get(refText(ref)) ?? null;
    const { slot } = await this.#chain.tip();
    return refusalError(outcome, tx, { output, slot, parameters: MAINNET_645.values });
  }

  #facts(): NodeFacts {
    const { zeroTimeMs, zeroSlot, slotLengthMs } = this.#chain.slotConfig;
    return {
      network: 'testnet',
      networkMagic: 42,
      startTime: new Date(zeroTimeMs).toISOString(),
      eras: oneEra(slotLengthMs, zeroSlot),
      parameters: MAINNET_645.json,
      synchronization: 1,
      isConnected: true,
    };
  }

  /** By references alone; the ledger has no index of addresses. */
  async #utxo({ outputReferences }: Readonly<Record<string, unknown>>): Promise<Answer> {
    assert.ok(Array.isArray(outputReferences), 'outputs are asked for by reference here');
    const refs = outputReferences.map(({ transaction, index }) => ({
      txHash: String(transaction.id),
      index: Number(index),
    }));
    const states = await this.#chain.byRefs(refs);
    return {
      result: states.flatMap((state) => (state.state === 'unspent' ? [utxoJson(state.utxo)] : [])),
    };
  }
}
