/**
 * `--verify`: compares the state of a stopped node with one rebuilt from its log or, if the log is
 * trimmed, from the oldest snapshot and the log after it. Reports which one it was.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LocalLog } from '../../engine/log/local.ts';
import { openLocalLog } from '../../engine/log/localOpen.ts';
import { inlineLogFile } from '../../engine/log/logOwner.ts';
import { type DataFiles, dataFiles } from '../../engine/recovery/dataFiles.ts';
import { STATE_REMEDY, type Verification, verifyState } from '../../engine/recovery/verify.ts';
import { DirectorySnapshots } from '../../engine/snapshots/directory.ts';
import { loadSnapshot } from '../../engine/snapshots/load.ts';
import type { AppDeps } from '../wiring/appDeps.ts';
import { makeDataDirectory } from '../wiring/dataDirectory.ts';
import type { Terminal } from './command.ts';
import { Progress } from './progress.ts';

/** Exit code: 0 if both agree and nothing is damaged. */
export async function verify(appDeps: AppDeps, terminal: Terminal): Promise<number> {
  const { settings, clock, signal } = appDeps;
  if (settings.NATS_URL !== undefined) {
    terminal.print(
      'verify needs the log of a single node; nodes that share a log compare their state hashes\n' +
        'instead: /health/ready shows them. Unset NATS_URL for the directory of a single node.\n',
    );
    return 1;
  }
  const { DATA_DIR } = settings;
  await makeDataDirectory(DATA_DIR, { clock, signal, command: ['ls', '-d', '--'] });
  if (!existsSync(join(DATA_DIR, 'log.sqlite'))) {
    terminal.print(
      `There is no log.sqlite in DATA_DIR=${DATA_DIR}: nothing was verified.\n` +
        'Set DATA_DIR to the directory of a node that is stopped.\n',
    );
    return 1;
  }
  const files = dataFiles(DATA_DIR);
  const log = await openLocalLog(files.log, clock, {
    maxMb: 0,
    signal,
    openFile: inlineLogFile,
    sumsOutdated: (reason) => terminal.print(`${reason}; but all its entries are right\n`),
  });
  try {
    const { found, damaged } = await compare(log, files, appDeps, terminal);
    const isRight = found === null || isSame(found);
    report(found, files, terminal);
    return isRight && damaged === 0 ? 0 : 1;
  } finally {
    await log.close();
  }
}

async function compare(
  log: LocalLog,
  files: DataFiles,
  { settings, clock, signal }: AppDeps,
  terminal: Terminal,
): Promise<{ readonly found: Verification | null; readonly damaged: number }> {
  const damaged = new Set<string>();
  const observer = {
    snapshotLoaded: () => {},
    snapshotUnusable(name: string, reason: string) {
      if (damaged.has(name)) return;
      damaged.add(name);
      terminal.print(`snapshot ${name}: ${reason}: remove it, the node takes others\n`);
    },
  };
  const snapshots = new DirectorySnapshots(files.directory, observer);
  const all = await snapshots.list();
  const oldestFirst = {
    list: async () => all.toReversed(),
    get: snapshots.get.bind(snapshots),
  };
  const progress = new Progress('verify', clock, terminal);
  const found = await verifyState(log, files, {
    horizonBlocks: settings.HORIZON_BLOCKS,
    maxMb: 0,
    maxLoadedPairs: settings.MAX_LOADED_POOLS,
    clock,
    signal,
    folded: (done, all) => progress.show(done, all),
    takeSnapshot: (path, upTo, after = 0) =>
      loadSnapshot(path, { upTo, after }, oldestFirst, log, observer),
    quarantined(pool, error) {
      progress.end();
      terminal.print(`pool ${pool} cannot be rebuilt: ${error}\n`);
    },
  }).finally(() => progress.end());
  return { found, damaged: damaged.size };
}

function report(found: Verification | null, { state }: DataFiles, terminal: Terminal): void {
  if (found === null) {
    terminal.print('There is no state to verify yet.\n');
    return;
  }
  const { seq, stateHash, rebuiltHash, differing, trimmed } = found;
  if (trimmed !== null) {
    terminal.print(
      `The log is trimmed: it begins with entry ${trimmed.first}. The state was made again from ` +
        `the snapshot of entry ${trimmed.snapshot};\nentries before that were not verified ` +
        '(LOG_KEEP=all keeps them from now on).\n',
    );
  }
  terminal.print(`position ${seq}\nstate    ${stateHash}\nrebuilt  ${rebuiltHash}\n`);
  if (differing.length > 0) terminal.print(`rows differ in: ${differing.join(', ')}\n`);
  terminal.print(
    isSame(found)
      ? 'The state is what the log says.\n'
      : `The state is NOT what the log says. ${state}: ${STATE_REMEDY}.\n`,
  );
}

function isSame({ stateHash, rebuiltHash, differing }: Verification): boolean {
  return stateHash === rebuiltHash && differing.length === 0;
}
