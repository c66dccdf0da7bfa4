/** An unrelated network, keys of the deployers, and the program that deploys. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { ADA } from '../../e2e/devnet/world.ts';
import { FakeKupo } from '../../support/kupo/fake.ts';
import { keyNamed, secretOf, startChain } from '../../support/ledgerWorld.ts';
import { Bridge } from '../../support/ogmios/bridge.ts';
import { type Environment, Program, temporaryDirectory } from '../../support/server.ts';
import type { TestChain } from '../../support/testChain.ts';
import { untilAsked } from '../../support/until.ts';

export const GENESIS_MS = Date.now();
const SIGNERS = ['first', 'second', 'third'] as const;
const NAMES = ['filler', 'guarantor', 'alice', 'bob', ...SIGNERS] as const;

export interface Network {
  readonly ledger: TestChain;
  readonly env: Environment;
  /** The file of Alice's key, who pays. */
  readonly key: string;
  readonly out: string;
  /** A file with terms other than the usual ones. */
  readonly terms: string;
  /** A file with the signers, and files of their keys. */
  readonly signers: string;
  readonly signerKeys: readonly string[];
}

/** Every number that validators are compiled with differs from the default. */
export const TERMS = {
  curve: { ...DEFAULT_CURVE, supply: 2_000_000_000n },
  thresholdLovelace: 20_000n * ADA,
  fees: {
    ...{ ...DEFAULT_FEES, percentFee: 2n, lpFeePer10k: 30n, poolKeepLovelace: 4n * ADA },
    ...{ launchFeeLeastLovelace: 2n * ADA, launchFeeFixedLovelace: 1n * ADA },
    ...{ overshootPer1000: 2n, overshootLovelace: 3n * ADA, refundFeeLovelace: 700_000n },
  },
};

export async function network(t: TestContext): Promise<Network> {
  const ledger = await startChain(t, { genesisTimeMs: GENESIS_MS });
  await ledger.mine(1);
  const kupo = await FakeKupo.begin(t, { source: ledger, genesis: ledger.genesis });
  const bridge = new Bridge(ledger);
  await bridge.start();
  t.after(() => bridge.stop());
  const directory = temporaryDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const env = {
    OGMIOS_URL: bridge.url,
    KUPO_URL: kupo.url,
    DATA_DIR: join(directory, 'data'),
    LOG_LEVEL: 'trace',
    EXECUTOR_KEY: secretOf('filler'),
    COLLATERAL_KEY_FILE: file('collateral', `${secretOf('guarantor')}\n`),
  };
  const cborHex = `5820${secretOf('alice')}`;
  const skey = { type: 'PaymentSigningKeyShelley_ed25519', description: '', cborHex };
  const key = file('alice.skey', JSON.stringify(skey));
  const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
  const terms = file('terms.json', JSON.stringify(TERMS, asText));
  const keyHashes = SIGNERS.map((name) => keyNamed(name).hash);
  const signers = file('signers.json', JSON.stringify({ required: 2, keyHashes }));
  const signerKeys = SIGNERS.map((name) => file(`${name}.key`, secretOf(name)));
  const out = join(directory, 'deployment.json');
  return { ledger, env, key, out, terms, signers, signerKeys };
}

export function args({ key, out, signers }: Network, ...more: string[]): string[] {
  const from = ['--key', key, '--signers', signers, '--out', out];
  return ['deploy', '--network', 'preprod', ...from, ...more];
}

/** Blocks come as long as something waits for them. */
export async function deployed(world: Network, argv: readonly string[]): Promise<Program> {
  const { ledger, env } = world;
  const program = new Program(argv, env);
  await untilAsked(
    () => `the program ends; it said ${program.text}`,
    async () => {
      await mineWhatWaits(ledger);
      return program.exit;
    },
    (exit) => exit !== null,
  );
  assert.equal(program.exit?.code, 0, program.text);
  return program;
}

async function mineWhatWaits(ledger: TestChain): Promise<void> {
  const outputs = async (name: string, view: 'spendable' | 'newest') =>
    JSON.stringify((await ledger.byPaymentKey(keyNamed(name).hash, view)).map(({ ref }) => ref));
  for (const name of ['alice', 'bob']) {
    if ((await outputs(name, 'spendable')) === (await outputs(name, 'newest'))) continue;
    await ledger.mine(1);
    return;
  }
}

export function assertSilent({ text, log }: Pick<Program, 'text' | 'log'>): void {
  const all = text + JSON.stringify(log);
  for (const name of NAMES) {
    const secret = secretOf(name);
    assert.ok(!all.toLowerCase().includes(secret), `the key of ${name} is printed`);
  }
}
