/**
 * `devnet`: serves a small Cardano as Ogmios and Kupo until it is stopped. Its files are in
 * DATA_DIR/node: the chain, the faucet's key, and three wallets that a new chain funds.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { NewOutput } from '../../cardano/codec/encode.ts';
import { coins } from '../../cardano/codec/value.ts';
import { Devnet, type DevnetOptions } from '../../devnet/devnet.ts';
import { readGenesis } from '../../devnet/genesisFile.ts';
import { readDevnetParameters } from '../../devnet/parameters.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { systemCode } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Launchpad } from '../wiring/devnet.ts';
import type { DevnetCommand } from './commands/devnet.ts';
import { createWallet, openWallet } from './walletFile.ts';

interface DevnetCommandDeps {
  readonly dataDirectory: string;
  /** Used if the command names no pace. */
  readonly blockEveryMs: number;
  readonly host: string;
  readonly version: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly say: (line: string) => void;
  readonly stopAsked: Promise<unknown>;
  /** Genesis outputs of a market's chain; creates missing keys. */
  readonly launchpad: () => Pick<Launchpad, 'outputs' | 'aside'>;
}

const OWNER_ONLY = 0o600;
const WALLETS = 3;
const WALLET_LOVELACE = 10_000_000_000n;
const WALLET_OUTPUTS = 10;

/** Returns the exit code after it has stopped. */
export async function runDevnet(command: DevnetCommand, place: DevnetCommandDeps): Promise<number> {
  const { say, clock, rng, host, version } = place;
  const directory = resolve(place.dataDirectory, 'node');
  mkdirSync(directory, { recursive: true });
  const isPlain = command.genesis === null && !command.launchpad;
  const wallets = isPlain ? walletsIn(directory) : [];
  const file = join(directory, 'chain.sqlite');
  const began = isPlain ? { genesis: funded(wallets) } : genesisFor(command, place);
  const paceMs = command.paceMs ?? place.blockEveryMs;
  const parameters = command.parameters === null ? {} : parametersIn(command.parameters);
  const devnet = await opened(command, {
    file,
    clock,
    ...began,
    ...parameters,
    anyGenesis: isPlain,
    faucetSecret: faucetSecret(join(directory, 'faucet.key'), rng),
    paceMs,
    host,
    ogmiosPort: command.ogmiosPort,
    kupoPort: command.kupoPort,
    ogmiosMajor: command.ogmiosMajor,
    guard: { hosts: command.allowHost === null ? [] : [command.allowHost] },
    version,
    stalled: (message) => say(message ?? 'The disk takes blocks again.'),
    waits: (message) => say(message ?? 'Blocks are made again.'),
  });
  const blocks = paceMs === 0 ? 'blocks on demand' : `a block every ${paceMs} ms`;
  say(`A Cardano devnet runs (network magic 42, ${blocks}). Stop it with Ctrl+C.`);
  say(`  Ogmios  ${devnet.ogmiosUrl}`);
  say(`  Kupo    ${devnet.kupoUrl}`);
  say(`  Faucet  POST ${devnet.devnetUrl}/devnet/v1/faucet {"address": "addr_test1…", "ada": 100}`);
  // A chain with another genesis did not fund these wallets.
  for (const each of devnet.isOfGenesis ? wallets : [])
    say(`  Wallet  ${each.address}  ${each.file}`);
  devnet.warmUp();
  await place.stopAsked;
  await devnet.stop();
  return 0;
}

function genesisFor(
  { genesis }: DevnetCommand,
  place: DevnetCommandDeps,
): Pick<DevnetOptions, 'genesis' | 'aside'> {
  if (genesis !== null) return { genesis: genesisOf(genesis) };
  const { outputs, aside } = place.launchpad();
  return { genesis: outputs, aside };
}

async function opened({ genesis }: DevnetCommand, options: DevnetOptions): Promise<Devnet> {
  try {
    return await Devnet.open(options);
  } catch (error) {
    if (!isFault(error, 'otherGenesis')) throw error;
    const [asked, option] =
      genesis === null ? ['this launchpad', '--launchpad'] : [genesis, '--genesis'];
    const help = `start without ${option} to continue it, or move ${dirname(options.file)} away`;
    throw new Error(`${options.file} began with other outputs than ${asked}: ${help}`);
  }
}

interface FundedWallet {
  readonly file: string;
  readonly address: string;
}

function walletsIn(directory: string): FundedWallet[] {
  return Array.from({ length: WALLETS }, (_, at) => {
    const file = join(directory, `wallet-${at + 1}.json`);
    const opened = openWallet(file);
    const wallet = typeof opened === 'string' ? createWallet(file) : opened.wallet;
    if (typeof wallet === 'string') throw new Error(wallet);
    return { file, address: wallet.address };
  });
}

function funded(wallets: readonly FundedWallet[]): NewOutput[] {
  const value = coins(WALLET_LOVELACE / BigInt(WALLET_OUTPUTS));
  return wallets.flatMap(({ address }) => {
    return Array.from({ length: WALLET_OUTPUTS }, () => ({ address, value }));
  });
}

function genesisOf(file: string): NewOutput[] {
  try {
    return readGenesis(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`--genesis ${file} cannot be read`, { cause: error });
  }
}

/** Read here as well, for an error that names the file. */
function parametersIn(file: string): Pick<DevnetOptions, 'parameters'> {
  try {
    const parameters = readFileSync(file, 'utf8');
    readDevnetParameters(parameters);
    return { parameters };
  } catch (error) {
    throw new Error(`--parameters ${file} cannot be read`, { cause: error });
  }
}

/** 32 bytes in hex, created at the first start. */
function faucetSecret(file: string, rng: Rng): string {
  try {
    writeFileSync(file, `${rng.secret()}\n`, { flag: 'wx', mode: OWNER_ONLY });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
  const secret = readFileSync(file, 'utf8').trim();
  if (/^[0-9a-f]{64}$/.test(secret)) return secret;
  throw new Error(`${file} does not hold 32 bytes in hex: restore it from a backup`);
}
