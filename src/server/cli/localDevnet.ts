/** The devnet that the nodes of `cluster` follow: a process of its own, on free ports. */
import { join } from 'node:path';
import { type Clock, sleepUnless } from '../../engine/runtime/clock.ts';
import type { Environment } from '../settings/settings.ts';
import { freePorts } from './localServers.ts';
import { SupervisedProcess } from './supervisedProcess.ts';

export interface LocalChain {
  readonly ogmiosUrl: string;
  readonly kupoUrl: string;
}

export interface LocalDevnet {
  readonly chain: LocalChain;
  /** Resolves once it serves; false, and `giveUp`, when it cannot run at all. */
  begin(giveUp: (why: string) => void): Promise<boolean>;
  stop(): Promise<void>;
}

export interface LocalDevnetDeps {
  readonly environment: Environment;
  /** How this program is started: Node, its options, the main file. */
  readonly program: readonly [command: string, ...args: string[]];
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  say(line: string): void;
}

const HOST = '127.0.0.1';
const LOOK_EVERY_MS = 50;
const LOOK_LIMIT_MS = 2_000;
const STOP_LIMIT_MS = 7_000;

/** Not started yet. */
export async function localDevnet(
  { directory, keysFile }: { readonly directory: string; readonly keysFile: string },
  { program: [command, ...args], environment, clock, fetch: ask, say }: LocalDevnetDeps,
): Promise<LocalDevnet> {
  const [ogmiosPort = 0, kupoPort = 0] = await freePorts(2);
  const ports = ['--ogmios-port', String(ogmiosPort), '--kupo-port', String(kupoPort)];
  const lost = Promise.withResolvers<void>();
  let giveUp: (why: string) => void = () => {};
  let hasServed = false;
  const process = new SupervisedProcess(
    {
      command,
      args: [...args, 'devnet', '--launchpad', ...ports],
      environment: {
        ...environment,
        HOST,
        DATA_DIR: join(directory, 'devnet'),
        KEYS_FILE: keysFile,
      },
      stopLimitMs: STOP_LIMIT_MS,
      heard: (line) => say(`devnet | ${line}`),
      died(how) {
        if (hasServed)
          say(`cluster: the devnet has died (${how}); it is started again in a second`);
        else {
          lost.resolve();
          giveUp(`the devnet did not start (${how})`);
        }
        return hasServed;
      },
    },
    clock,
  );
  const health = `http://${HOST}:${kupoPort}/health`;
  return {
    chain: { ogmiosUrl: `ws://${HOST}:${ogmiosPort}`, kupoUrl: `http://${HOST}:${kupoPort}` },
    async begin(why) {
      giveUp = why;
      process.start();
      hasServed = await untilServes(() => answers(health, ask), clock, lost.promise);
      return hasServed;
    },
    stop: () => process.stop(),
  };
}

async function untilServes(
  look: () => Promise<boolean>,
  clock: Clock,
  lost: Promise<void>,
): Promise<boolean> {
  const isLost = lost.then(() => 'lost' as const);
  for (;;) {
    const outcome = await Promise.race([look(), isLost]);
    if (outcome === 'lost') return false;
    if (outcome) return true;
    await sleepUnless(clock, LOOK_EVERY_MS, lost);
  }
}

async function answers(url: string, ask: typeof fetch): Promise<boolean> {
  try {
    return (await ask(url, { signal: AbortSignal.timeout(LOOK_LIMIT_MS) })).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}
