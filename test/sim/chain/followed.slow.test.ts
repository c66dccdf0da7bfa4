/**
 * Our reader of Ogmios and our lookups in Kupo on a simulated devnet, through an hour of forks,
 * cuts, resets, freezes and restarts: they show the content of the devnet's ledger.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { refText } from '../../../src/cardano/codec/output.ts';
import { KupoLookup } from '../../../src/chain/kupo/kupo.ts';
import { MempoolOverlay } from '../../../src/chain/mempoolOverlay.ts';
import { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import { OgmiosClient } from '../../../src/chain/ogmios/ogmiosClient.ts';
import type { Point } from '../../../src/chain/port.ts';
import { genesisUtxos } from '../../../src/devnet/chainFile.ts';
import { Unavailable } from '../../../src/engine/runtime/errors.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { NaiveChain } from '../../devnet/naiveChain.ts';
import { secretOf } from '../../support/ledgerWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { VirtualTime } from '../machine/virtualTime.ts';
import { LedgerAudit } from './ledgerAudit.ts';
import { LightTraffic, lightGenesis, lightKeys } from './lightTraffic.ts';
import { SimDevnet } from './simDevnet.ts';

const PACE_MS = 5_000;
const MINUTE_MS = 60_000;
const SEED = 7;

function devnetOf(scope: TestContext, time: VirtualTime): SimDevnet {
  const genesis = lightGenesis(SEED);
  const faucetSecret = secretOf('faucet');
  const directory = temporaryDirectory();
  const devnet = new SimDevnet({ time, directory, genesis, faucetSecret, paceMs: PACE_MS });
  devnet.start();
  scope.after(() => devnet.stop());
  return devnet;
}

/** One reader of ours, its events applied to the naive model. */
class Reader {
  readonly naive: NaiveChain;
  readonly lookup: KupoLookup;
  /** Lookups that were answered, and that were refused in time. */
  readonly answers = { given: 0, refused: 0 };
  readonly #time: VirtualTime;
  readonly #chain: OgmiosChain;
  readonly #process;
  readonly #clock;
  #tip: Point | null = null;

  constructor(time: VirtualTime, devnet: SimDevnet) {
    this.#time = time;
    this.#process = time.process('a');
    this.#clock = time.clock({}, this.#process);
    const genesis = genesisUtxos({ genesis: lightGenesis(SEED), faucetSecret: secretOf('faucet') });
    this.naive = new NaiveChain(genesis);
    const { openSocket, fetch } = devnet.accessOf('a', this.#process);
    const [clock, process] = [this.#clock, this.#process];
    this.#chain = new OgmiosChain({
      url: devnet.env.OGMIOS_URL ?? '',
      deployment: null,
      watched: () => ({ tokens: [], watched: [] }),
      clock,
      rng: seededRng(SEED),
      observer: {
        nodeConnected: () => {},
        nodeLost: () => {},
        partPassedOver: () => {},
        ogmiosFailed: (error) => {
          throw error;
        },
      },
      startThread: (options, { onNews }) => {
        const reader = new OgmiosClient(options, { clock, openSocket, report: onNews });
        void reader.start();
        return {
          call: (name, values) => {
            return new Promise((resolve, reject) => {
              const run = async () => reader.calls[name](...values);
              time.at(process, 0, () => void run().then(resolve, reject));
            });
          },
          stop: async () => {},
        };
      },
    });
    this.lookup = new KupoLookup({
      url: devnet.env.KUPO_URL ?? '',
      tip: () => this.#tip,
      overlay: new MempoolOverlay(),
      clock,
      observer: { kupoAsked: () => {}, kupoHealth: () => {} },
      fetch,
    });
  }

  start(): void {
    this.#time.at(this.#process, 0, () => void this.#follow());
  }

  get tip(): Point | null {
    return this.#tip;
  }

  /** An answer must fit the chain at the tip of its question, or later. */
  ask(keyHash: string, history: History): void {
    this.#time.at(this.#process, 0, async () => {
      const since = history.newestOf(this.#tip?.hash ?? null);
      try {
        const utxos = await this.lookup.byPaymentKey(keyHash, 'spendable');
        const found = utxos.map(({ ref }) => refText(ref)).sort();
        const known = history.since(since, keyHash);
        assert.ok(
          known.includes(found.join()),
          'an answer is of a block that was asked for or later',
        );
        this.answers.given += 1;
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.answers.refused += 1;
      }
    });
  }

  async #follow(): Promise<void> {
    await this.#chain.start();
    const stream = await this.#chain.open([]);
    assert.ok(stream !== null);
    for (let event = await stream.next(); event !== null; event = await stream.next()) {
      this.naive.apply(event);
      if (event.kind === 'forward') this.#tip = event.block.point;
      else if (event.kind === 'back') this.#tip = event.point;
    }
  }
}

/** Holdings of each wallet after each change of the chain. */
class History {
  readonly #devnet: SimDevnet;
  readonly #states: { readonly hash: string | null; readonly owned: Map<string, string> }[] = [];

  constructor(devnet: SimDevnet) {
    this.#devnet = devnet;
  }

  /** Again after each start of the devnet. */
  listen(): void {
    this.#devnet.core?.node.chain.listen({ changed: () => this.#note(), shortened: () => {} });
    this.#note();
  }

  newestOf(hash: string | null): number {
    return this.#states.findLastIndex((state) => state.hash === hash);
  }

  since(index: number, keyHash: string): string[] {
    return this.#states.slice(Math.max(0, index)).map(({ owned }) => owned.get(keyHash) ?? '');
  }

  #note(): void {
    const { ledger } = this.#devnet.core ?? {};
    const hash = ledger?.tip?.hash ?? null;
    if (ledger === undefined || this.#states.at(-1)?.hash === hash) return;
    const owned = new Map<string, string>();
    for (const { hash: key } of lightKeys(SEED)) {
      const refs = Array.from(ledger.chain.ofCredential(key), ({ ref }) => refText(ref));
      owned.set(key, refs.sort().join());
    }
    this.#states.push({ hash, owned });
  }
}

type Fault = (devnet: SimDevnet, rng: Rng) => void;

const FAULTS: readonly Fault[] = [
  (devnet, rng) => devnet.fork(1 + Math.floor(rng.unit() * 12), 'all'),
  (devnet, rng) => devnet.fork(1 + Math.floor(rng.unit() * 12), 'none'),
  (devnet) => devnet.cut('a'),
  (devnet) => devnet.cut('a', 'toServer'),
  (devnet) => devnet.cut('a', 'toNode'),
  (devnet) => devnet.drop('a'),
  (devnet) => devnet.slow('a', 3_000),
  (devnet) => devnet.slow('a', 30_000, 'ogmios'),
  (devnet) => devnet.lagKupo(12_000),
  (devnet) => devnet.freeze(),
  (devnet) => devnet.stop(),
  (devnet, rng) => devnet.mine(1 + Math.floor(rng.unit() * 8)),
];

function heal(devnet: SimDevnet, history: History): void {
  if (devnet.core === null) {
    devnet.start();
    history.listen();
  }
  devnet.thaw();
  devnet.heal('a');
  devnet.lagKupo(0);
}

test('an hour of faults: our reader has the ledger, lookups are new', async (scope) => {
  const time = new VirtualTime();
  const rng = seededRng(SEED);
  const takeBack = time.install(seededRng(SEED));
  scope.after(takeBack);
  const devnet = devnetOf(scope, time);
  const audit = new LedgerAudit(() => devnet.core);
  const history = new History(devnet);
  history.listen();
  const payments = new LightTraffic({ time, devnet, seed: SEED, everyMs: 4_000 });
  const reader = new Reader(time, devnet);
  reader.start();
  payments.start();
  for (let minute = 0; minute < 60; minute += 1) {
    await time.run(time.nowMs + 10_000 + rng.unit() * 20_000);
    FAULTS[Math.floor(rng.unit() * FAULTS.length)]?.(devnet, rng);
    for (let each = 0; each < 4; each += 1) {
      const { hash } = lightKeys(SEED)[each] ?? { hash: '' };
      reader.ask(hash, history);
      await time.run(time.nowMs + rng.unit() * 8_000);
    }
    heal(devnet, history);
    assert.deepEqual(audit.check(), []);
  }
  payments.stop();
  await time.run(time.nowMs + 3 * MINUTE_MS);
  const { core } = devnet;
  assert.ok(core !== null);
  const heights = Array.from({ length: core.ledger.height }, (_, at) => at + 1);
  assert.deepEqual(
    reader.naive.hashes,
    heights.map((height) => core.file.head(height)?.hash),
  );
  const unspent = Array.from(core.file.unspent(), ({ ref }) => refText(ref)).sort();
  assert.deepEqual([...reader.naive.confirmed().keys()].sort(), unspent);
  assert.equal(reader.naive.limbo, 0);
  assert.ok(payments.accepted > 300 && reader.answers.given > 60 && reader.answers.refused > 0);
});
