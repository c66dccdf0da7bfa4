/**
 * The first access to DATA_DIR. On a network disk that is away it never returns, and a process with
 * a thread that hangs like that cannot exit; so a child process creates the directory. Node's
 * recursive mkdir loops forever if a parent answers ENOENT (below /proc).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Settings } from '../settings/table.ts';

interface DirectoryOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number;
  /** Program and arguments; the directory is appended. */
  readonly command?: readonly [program: string, ...rest: string[]];
}

const DEADLINE_MS = 10_000;
const MAKE = ['mkdir', '-p', '--'] as const;

/** Rejects with a remedy if it cannot be created or does not answer. */
export async function makeDataDirectory(
  directory: string,
  { clock, signal, deadlineMs = DEADLINE_MS, command: [program, ...rest] = MAKE }: DirectoryOptions,
): Promise<void> {
  const child = spawn(program, [...rest, directory], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(0, 1_000);
  });
  const over = Promise.withResolvers<'late' | 'stopped'>();
  const stop = () => over.resolve('stopped');
  const timer = clock.after(deadlineMs, () => over.resolve('late'));
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  try {
    const outcome = await Promise.race([codeOf(child), over.promise]);
    if (outcome === 'stopped')
      throw new Fault('interrupted', 'stopped before DATA_DIR had answered');
    if (outcome === 'late') throw new Error(notAnswering(directory, deadlineMs));
    if (outcome !== 0) {
      throw new Error(`DATA_DIR=${directory} cannot be used: ${said.trim()}: set another DATA_DIR`);
    }
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', stop);
    leave(child);
  }
}

function notAnswering(directory: string, deadlineMs: number): string {
  return (
    `DATA_DIR=${directory} does not answer for ${deadlineMs / 1000} s: look at its disk ` +
    '(a network disk that is away?), or set another DATA_DIR'
  );
}

async function codeOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'close');
  return typeof code === 'number' ? code : null;
}

/** A process that hangs in the kernel ignores signals, so do not wait for it. */
function leave(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stderr?.destroy();
  child.unref();
}

/** Versions before 0.5 kept the chain in this file. */
const OLD_LEDGER = 'ledger.sqlite';

/** Throws `startRefused` if a devnet's directory holds a chain that cannot be continued. */
export function checkNoOldLedger({
  NETWORK,
  DATA_DIR,
}: Pick<Settings, 'NETWORK' | 'DATA_DIR'>): void {
  const file = join(DATA_DIR, OLD_LEDGER);
  if (NETWORK !== 'devnet' || !existsSync(file)) return;
  throw new Fault(
    'startRefused',
    `${file} is a devnet of version 0.4, which this version cannot continue: npm start -- reset ` +
      'moves it and its market aside, and the next start begins a new chain',
  );
}
