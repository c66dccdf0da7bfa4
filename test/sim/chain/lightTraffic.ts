/**
 * Blocks and plain payments, straight to the devnet: traffic without scripts and without a market,
 * for runs that examine only how nodes follow, share and serve.
 */
import type { NewOutput } from '../../../src/cardano/codec/encode.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { Key } from '../../../src/cardano/keys/keys.ts';
import { utxosOfCredential } from '../../../src/cardano/ledger/views.ts';
import { keyAddress } from '../../../src/cardano/validators/deploy.ts';
import { signedPayment } from '../../../src/devnet/payment.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';
import type { SimDevnet } from './simDevnet.ts';

interface LightTrafficOptions {
  readonly time: VirtualTime;
  readonly devnet: SimDevnet;
  readonly seed: number;
  /** Mean time between payments. */
  readonly everyMs: number;
}

const WALLETS = 4;
const OUTPUTS_EACH = 5;
const ADA = 1_000_000n;
const OUTPUT_LOVELACE = 10_000n * ADA;
const FEE_LOVELACE = 200_000n;
const MIN_LOVELACE = 2n * ADA;

export function lightKeys(seed: number): Key[] {
  const rng = seededRng(seed);
  return Array.from({ length: WALLETS }, () => new Key(rng.secret()));
}

/** Outputs that the genesis must hold for it. */
export function lightGenesis(seed: number): NewOutput[] {
  return lightKeys(seed).flatMap(({ hash }) => {
    const output = { address: keyAddress(hash), value: coins(OUTPUT_LOVELACE) };
    return Array.from({ length: OUTPUTS_EACH }, () => output);
  });
}

export class LightTraffic {
  /** Payments that the devnet accepted. */
  accepted = 0;
  readonly #options: LightTrafficOptions;
  readonly #process: SimProcess;
  readonly #rng: Rng;
  readonly #keys: readonly Key[];

  constructor(options: LightTrafficOptions) {
    this.#options = options;
    this.#process = options.time.process('payments');
    this.#rng = seededRng(options.seed);
    this.#keys = lightKeys(options.seed);
  }

  start(): void {
    const waitMs = -Math.log(1 - this.#rng.unit()) * this.#options.everyMs;
    this.#options.time.at(this.#process, waitMs, () => {
      this.#pay();
      this.start();
    });
  }

  stop(): void {
    this.#process.kill();
  }

  #pay(): void {
    const from = this.#pick(this.#keys);
    const to = this.#pick(this.#keys);
    const [amount, which] = [this.#rng.unit(), this.#rng.unit()];
    const { devnet } = this.#options;
    devnet.run(async (node) => {
      if (devnet.core === null) return;
      const own = utxosOfCredential(devnet.core.ledger, from.hash, 'newest', {});
      const rich = own.filter(({ output }) => output.value.lovelace > 3n * MIN_LOVELACE);
      const source = rich[Math.floor(which * rich.length)];
      if (source === undefined) return;
      const { lovelace } = source.output.value;
      const most = Number((lovelace - FEE_LOVELACE) / MIN_LOVELACE) - 1;
      const paid = MIN_LOVELACE * BigInt(1 + Math.floor(amount * most));
      const outputs = [
        { address: keyAddress(to.hash), value: coins(paid) },
        { address: keyAddress(from.hash), value: coins(lovelace - paid - FEE_LOVELACE) },
      ];
      const plan = { inputs: [source.ref], outputs, feeLovelace: FEE_LOVELACE };
      const { bytes, id } = signedPayment(plan, [from]);
      if ((await node.submit(Buffer.from(bytes).toString('hex'))) === id) this.accepted += 1;
    });
  }

  #pick<T>(choices: readonly T[]): T {
    const chosen = choices[Math.floor(this.#rng.unit() * choices.length)];
    if (chosen === undefined) throw new Error('there is a choice');
    return chosen;
  }
}
