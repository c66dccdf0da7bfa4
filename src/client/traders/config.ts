/**
 * What the simulated traders are and do: `config/devnet.json`, under `traders`. Their keys derive
 * from its seed and are no secret; they are worth nothing outside a devnet.
 */
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { blake2b256 } from '../../cardano/codec/hash.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { KeyWallet } from '../trade/wallet.ts';

const Percent = Type.Number({ minimum: 0, maximum: 100 });
const Range = Type.Tuple([Type.Number({ minimum: 0 }), Type.Number({ minimum: 0 })]);
const Count = Type.Integer({ minimum: 1, maximum: 1000 });
const Ada = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });
const Seconds = Type.Number({ minimum: 1 });

const TRADERS = Type.Object({
  seed: Type.String({ minLength: 1 }),
  /** Beside the pusher. */
  wallets: Count,
  adaEach: Ada,
  outputsEach: Count,
  /** Below it a trader sells, but does not buy. */
  keepAda: Ada,
  /** Turns in flight. */
  mostAtOnce: Count,
  launches: Type.Object({
    atStart: Type.Integer({ minimum: 0, maximum: 100 }),
    everySeconds: Seconds,
    mostTokens: Count,
    initialBuyAda: Range,
    hypedPercent: Percent,
  }),
  orders: Type.Object({
    /** Mean time between turns, at pace 1. */
    everyMs: Type.Number({ minimum: 1 }),
    buyAda: Range,
    /** Of what is held. */
    sellPercent: Range,
    /** Of the turns of one who could do both. */
    sellSharePercent: Percent,
    exactOutputPercent: Percent,
    cancelPercent: Percent,
  }),
  others: Type.Object({
    lockPercent: Percent,
    lockSeconds: Range,
    withdrawPercent: Percent,
    transferPercent: Percent,
    consolidateFromOutputs: Type.Integer({ minimum: 10, maximum: 1000 }),
  }),
  /** One wallet that takes a token from launch to graduation, again and again. */
  pusher: Type.Object({
    ada: Ada,
    outputs: Count,
    graduateInSeconds: Seconds,
    orderAda: Ada,
    restSeconds: Seconds,
  }),
});
export type TraderConfig = Static<typeof TRADERS>;

const FILE = new URL('../../../config/devnet.json', import.meta.url);

/** Throws when the file that ships with the program is not what it should be. */
export function readTraderConfig(file: URL | string = FILE): TraderConfig {
  const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const traders: unknown =
    typeof found === 'object' && found !== null ? Reflect.get(found, 'traders') : undefined;
  const validator = Compile(TRADERS);
  const fault = validator.Errors(traders)[0];
  assert(
    fault === undefined,
    `${String(file)}: traders${fault?.instancePath ?? ''} ${fault?.message ?? ''}`,
  );
  // trust: checked by the schema that the type comes from
  return traders as TraderConfig;
}

interface TraderWallets {
  readonly traders: readonly KeyWallet[];
  readonly pusher: KeyWallet;
}

export function traderWallets({ seed, wallets }: TraderConfig): TraderWallets {
  const names = Array.from({ length: wallets }, (_, index) => `trader ${index}`);
  return {
    traders: names.map((name) => walletOf(seed, name)),
    pusher: walletOf(seed, 'pusher'),
  };
}

function walletOf(seed: string, name: string): KeyWallet {
  const secret = (part: string) => blake2b256(Buffer.from(`${seed}/${name}/${part}`, 'utf8'));
  return new KeyWallet({ payment: secret('payment'), stake: secret('stake') }, 'testnet');
}

/** What the genesis of a devnet gives to one wallet. */
interface TraderFund {
  readonly keyHash: string;
  /** All of it, to be split evenly over `outputs`. */
  readonly lovelace: bigint;
  readonly outputs: number;
}

const LOVELACE_PER_ADA = 1_000_000n;

export function traderFunds(config: TraderConfig): readonly TraderFund[] {
  const { traders, pusher } = traderWallets(config);
  const fund = ({ keyHash }: KeyWallet, ada: number, outputs: number): TraderFund => ({
    keyHash,
    lovelace: BigInt(ada) * LOVELACE_PER_ADA,
    outputs,
  });
  return [
    ...traders.map((wallet) => fund(wallet, config.adaEach, config.outputsEach)),
    fund(pusher, config.pusher.ada, config.pusher.outputs),
  ];
}
