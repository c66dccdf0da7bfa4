/**
 * The market on a simulated devnet: its launchpad in the genesis, and people who trade through the
 * nodes, as `npm start` has them: their code (src/client), their keys, real signatures.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { Client } from '../../../src/client/client.ts';
import type { Fetch } from '../../../src/client/platform.ts';
import { TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { readSecrets } from '../../../src/server/settings/secrets.ts';
import { makeLaunchpad } from '../../../src/server/wiring/devnet.ts';
import { readTraderConfig, type TraderConfig } from '../../../src/traders/config.ts';
import { Crowd } from '../../../src/traders/crowd.ts';
import { KnownTokens } from '../../../src/traders/knownTokens.ts';
import type { Report } from '../../../src/traders/messages.ts';
import { adaToLovelace, shareOf } from '../../../src/traders/random.ts';
import { styleOf } from '../../../src/traders/styles.ts';
import { tokenIdea } from '../../../src/traders/tokenNames.ts';
import { Trader, type Turn } from '../../../src/traders/trader.ts';
import type { Action, View } from '../../../src/traders/view.ts';
import { traderWallets } from '../../../src/traders/wallets.ts';
import type { SimProcess, VirtualClock, VirtualTime } from '../machine/virtualTime.ts';
import { LedgerAudit } from './ledgerAudit.ts';
import { type AskedNode, nodeFetch, nodeUrl } from './nodeFetch.ts';
import { SimDevnet } from './simDevnet.ts';

export interface TradeChoice {
  /** Which of the people, which token, how much: counted round. */
  readonly trader: number;
  readonly token: number;
  readonly amount: number;
  readonly kind: 'buy' | 'sell' | 'cancel' | 'lock' | 'launch';
}

type TradeOutcome = 'accepted' | 'refused' | 'unanswered';

interface AcceptedOrder {
  readonly node: string;
  readonly txHash: string;
  readonly pkh: string;
  /** From the submission to its answer. */
  readonly tookMs: number;
}

interface SimMarketOptions {
  readonly time: VirtualTime;
  readonly seed: number;
  /** Between blocks. */
  readonly paceMs: number;
  readonly refundAfterMs?: number;
  readonly traders?: TraderConfig;
}

const REFUND_AFTER_MS = 1_200_000;
const LOCK_MS = 120_000;
/** A slot after the unlock, the ledger agrees that it is over. */
const UNLOCK_GRACE_MS = 2_000;
const MIN_ADA = 3;
const MAX_ADA = 400;
const MAX_INITIAL_ADA = 80;
const MAX_PERCENT = 90;

export class SimMarket {
  readonly devnet: SimDevnet;
  readonly people: readonly { readonly pkh: string; readonly address: string }[];
  /** Reports of the crowd. */
  onReport: (report: Report) => void = () => {};
  /** Called when the answer to an order of `trade` that is not cancelled at once has arrived. */
  onOrder: (order: AcceptedOrder) => void = () => {};
  readonly #audit: LedgerAudit;
  /** Directory of the devnet's files. */
  readonly directory: string;
  readonly #time: VirtualTime;
  readonly #seed: number;
  readonly #process: SimProcess;
  readonly #clock: VirtualClock;
  readonly #rng: Rng;
  readonly #config: TraderConfig;
  readonly #refundAfterMs: number;
  readonly #nodes = new Map<string, AskedNode>();
  readonly #fetch: Fetch;
  /** By node and person. */
  readonly #traders = new Map<string, { readonly trader: Trader; readonly market: KnownTokens }>();
  readonly #launched: { readonly asset: string; readonly txHash: string }[] = [];
  /** How long the answer to the last submission of each transaction took. */
  readonly #tookMs = new Map<string, number>();
  /** Transactions that placed orders, or cancelled them. */
  #ordered: string[] = [];

  constructor(options: SimMarketOptions) {
    const { time, seed, paceMs, traders = readTraderConfig() } = options;
    const { refundAfterMs = REFUND_AFTER_MS } = options;
    this.#config = traders;
    this.#refundAfterMs = refundAfterMs;
    this.#time = time;
    this.#seed = seed;
    this.#process = time.process('traders');
    this.#clock = time.clock({}, this.#process);
    this.#rng = seededRng(seed);
    // In memory where the system offers that: a commit that survives a power cut is cheap there.
    const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
    this.directory = mkdtempSync(join(base, 'upcurve-sim-market-'));
    const secrets = readSecrets('', this.#rng, this.keysFile);
    const { outputs: genesis, aside } = makeLaunchpad(secrets, this.#config, refundAfterMs);
    const faucetSecret = secrets.faucet.reveal();
    this.devnet = new SimDevnet({
      time,
      directory: this.directory,
      genesis,
      aside,
      faucetSecret,
      paceMs,
    });
    this.#audit = new LedgerAudit(() => this.devnet.core);
    const wallets = traderWallets(this.#config);
    this.people = wallets.map(({ keyHash, address }) => ({ pkh: keyHash, address }));
    this.#fetch = this.#noting(nodeFetch((name) => this.#nodes.get(name)));
  }

  /** Settings of a node of this market. */
  get env(): Readonly<Record<string, string>> {
    const refund = { ORDER_REFUND_AFTER_MS: String(this.#refundAfterMs) };
    return { ...this.devnet.env, ...refund, KEYS_FILE: this.keysFile };
  }

  get keysFile(): string {
    return join(this.directory, 'keys.json');
  }

  /** Stops the devnet and removes its files. */
  close(): void {
    this.#process.kill();
    this.devnet.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  mine(blocks: number): void {
    this.devnet.mine(blocks);
  }

  fork(depth: number, resubmit: 'all' | 'none' = 'all'): void {
    if (resubmit === 'none') this.#audit.forkDrops(this.#clock.monotonicMs());
    this.devnet.fork(depth, resubmit);
  }

  /** Between a node and the devnet. */
  cut(node: string): void {
    this.devnet.cut(node);
  }

  heal(node?: string): void {
    this.devnet.heal(node);
  }

  /** Faults of the ledger, and accepted transactions that were lost; empty if there are none. */
  audit(): readonly string[] {
    return this.#audit.check();
  }

  /** Launched by `trade` and in a block. */
  get tokens(): readonly string[] {
    const { core } = this.devnet;
    const isInBlock = (txHash: string) => core === null || core.file.isInBlock(txHash);
    return this.#launched.filter(({ txHash }) => isInBlock(txHash)).map(({ asset }) => asset);
  }

  /** Transactions of `trade` that place orders and wait for a block. */
  waiting(): readonly string[] {
    const { core } = this.devnet;
    if (core === null) return [];
    this.#ordered = this.#ordered.filter((id) => core.ledger.mempool.has(id));
    return this.#ordered;
  }

  /**
   * The configured traders, at this pace, as a service of the devnet has them; they ask the first
   * of these nodes that answers. Ends with the returned function.
   */
  startCrowd(
    pace: number,
    nodes: readonly AskedNode[],
    config = this.#config,
    seed = this.#seed,
  ): () => void {
    for (const node of nodes) this.#nodes.set(node.name, node);
    const crowd = new Crowd({
      baseUrl: nodes.map(({ name }) => nodeUrl(name)),
      config,
      pace,
      seed,
      clock: this.#clock,
      fetch: this.#fetch,
      report: (report) => this.onReport(report),
    });
    this.#time.at(this.#process, 0, () => crowd.start());
    return () => void this.#time.at(this.#process, 0, () => void crowd.stop());
  }

  /** One turn of one person through one node. Resolves in an event of the caller. */
  trade(choice: TradeChoice, node: AskedNode): Promise<TradeOutcome> {
    const { promise, resolve } = Promise.withResolvers<TradeOutcome>();
    const caller = this.#time.current;
    this.#time.at(this.#process, 0, () => {
      this.#turn(choice, node).then((outcome) => {
        this.#time.at(caller, 0, () => resolve(outcome));
      });
    });
    return promise;
  }

  async #turn(choice: TradeChoice, node: AskedNode): Promise<TradeOutcome> {
    this.#nodes.set(node.name, node);
    const person = choice.trader % this.people.length;
    const { trader, market } = this.#traderAt(node.name, person);
    const turn = await trader.turn({
      nowMs: this.#clock.nowMs(),
      knownTokens: market,
      others: this.people.map(({ address }) => address),
      launchDue: choice.kind === 'launch',
      mood: null,
      decide: (view, rng) => this.#decide(choice, view, rng),
    });
    if (turn.outcome === 'acted') {
      const { launched: asset, txHash } = turn.result;
      if (asset !== null) this.#launched.push({ asset, txHash });
      else if (choice.kind !== 'lock') this.#ordered.push(txHash);
      const tookMs = this.#tookMs.get(txHash);
      this.#tookMs.delete(txHash);
      const pkh = this.people[person]?.pkh ?? '';
      const { action } = turn;
      const isOrder = action.kind === 'order' && !action.thenCancel;
      if (isOrder && tookMs !== undefined) this.onOrder({ node: node.name, txHash, pkh, tookMs });
    }
    return outcomeOf(turn);
  }

  #traderAt(node: string, person: number) {
    const key = `${node} ${person}`;
    const known = this.#traders.get(key);
    if (known !== undefined) return known;
    const client = new Client({ url: nodeUrl(node), fetch: this.#fetch, clock: this.#clock });
    const wallet = traderWallets(this.#config)[person];
    if (wallet === undefined) throw new Error(`there are ${this.people.length} people`);
    const rng = seededRng(this.#seed + this.#traders.size + 1);
    const trading = new TradingClient(client, wallet);
    const trader = new Trader(`trader ${person}`, trading, rng, styleOf(person));
    const made = { trader, market: new KnownTokens(client) };
    this.#traders.set(key, made);
    return made;
  }

  #decide({ kind, token, amount }: TradeChoice, view: View, rng: Rng): Action {
    const { tokens } = this;
    const ada = MIN_ADA + (amount % MAX_ADA);
    const percent = 1 + (amount % MAX_PERCENT);
    if (kind === 'launch') {
      const initialLovelace = adaToLovelace(Math.min(ada, MAX_INITIAL_ADA));
      return { kind, idea: tokenIdea(rng), initialLovelace, launchType: 'DEFAULT' };
    }
    const open = view.locks.find(({ unlockMs }) => unlockMs + UNLOCK_GRACE_MS <= view.nowMs);
    if (kind === 'lock' && open !== undefined) return { kind: 'withdraw', id: open.id };
    const [held, balance] = [...view.tokens][token % Math.max(1, view.tokens.size)] ?? [null, 0n];
    if (held !== null && kind === 'lock') {
      const locked = shareOf(balance, percent);
      return { kind, asset: held, amount: locked, lockMs: LOCK_MS, stages: 1 };
    }
    const common = { kind: 'order', slippage: '50', thenCancel: kind === 'cancel' } as const;
    if (held !== null && kind === 'sell') {
      return { ...common, side: 'SELL', asset: held, amount: shareOf(balance, percent) };
    }
    const asset = tokens[token % Math.max(1, tokens.length)];
    if (asset === undefined) return { kind: 'rest', why: 'there is no token yet' };
    return { ...common, side: 'BUY', asset, amount: adaToLovelace(ada) };
  }

  /** Notes transactions that a node accepted, for the audit. */
  #noting(fetch: Fetch): Fetch {
    return async (url, init) => {
      const askedMs = this.#clock.monotonicMs();
      const response = await fetch(url, init);
      if (response.status === 200 && url.endsWith('/sign-and-submit')) {
        // trust: the client's own request
        const { cbor } = JSON.parse(String(init.body)) as { cbor: string };
        const transaction = decodeTransaction(Buffer.from(cbor, 'hex'));
        const nowMs = this.#clock.monotonicMs();
        this.#audit.accepted(transaction, nowMs);
        this.#tookMs.set(transaction.id, nowMs - askedMs);
      }
      return response;
    };
  }
}

function outcomeOf(turn: Turn): TradeOutcome {
  if (turn.outcome !== 'refused') return turn.outcome === 'acted' ? 'accepted' : 'refused';
  return turn.error.status === null ? 'unanswered' : 'refused';
}
