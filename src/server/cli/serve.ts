/** The commands `serve` and `replay`. */

import { existsSync, type ReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { pageFiles } from '../../api/page/files.ts';
import { fingerprint, openFile } from '../../engine/ingest/feedLines.ts';
import type { ReplayCounts } from '../../engine/ingest/replay.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import { readTraderConfig } from '../../traders/config.ts';
import { type App, type AppDeps, startApp } from '../app.ts';
import { isPublicNetwork, reachableHost, type Settings } from '../settings/table.ts';
import type { ChainSync } from '../wiring/chain.ts';
import type { Terminal } from './command.ts';
import type { ImportCommand } from './commands/dump.ts';
import type { ReplayCommand } from './commands/replay.ts';
import type { ServeCommand } from './commands/serve.ts';
import { DumpError } from './dump/files.ts';
import { openDump } from './dump/import.ts';
import { Progress, type ProgressOutput } from './progress.ts';

/**
 * Serves until asked to stop; on a devnet with its chain and its traders. Throws, after everything
 * has stopped, if the process must be restarted.
 */
export async function serve(
  { withHistory }: ServeCommand,
  appDeps: AppDeps,
  terminal: Terminal,
): Promise<number> {
  const app = await startGreeting(withDevnet(appDeps, withHistory), terminal);
  const failed = app.failed.then((why) => ({ why, isFault: true }));
  const asked = terminal.stopAsked.then((why) => ({ why, isFault: false }));
  const endProgress = showSync(app.chain?.sync ?? null, appDeps, terminal);
  const { why, isFault } = await Promise.race([failed, asked]);
  endProgress();
  await app.stop(why);
  if (isFault) throw new Error(`${why}: start it again`);
  return 0;
}

async function startGreeting(appDeps: AppDeps, { greet }: Terminal): Promise<App> {
  const { settings, version } = appDeps;
  greet?.(startingText(version, settings, appDeps.devnet !== undefined));
  const app = await startApp({ ...appDeps, preparesDocuments: true });
  greet?.(listeningText(settings, app.port));
  // After a developer's edit the page is made again, before a browser asks for it.
  if (greet !== undefined) pageFiles().catch(() => {});
  return app;
}

function withDevnet(appDeps: AppDeps, beginsWithPast: boolean): AppDeps {
  const { settings, rng } = appDeps;
  if (settings.NETWORK !== 'devnet') return appDeps;
  const seed = Math.floor(rng.unit() * 2 ** 32);
  return {
    ...appDeps,
    devnet: { traders: readTraderConfig(), pace: settings.TRADERS_PACE, seed, beginsWithPast },
  };
}

/** The source of a feed, and its limits. */
interface FeedInput {
  /** Under which progress is kept; null: it cannot be continued. */
  readonly name: string | null;
  open(): Readable;
  /** How much of it was read, of how much; null: how much there is, is not known. */
  read(): readonly [done: number, all: number] | null;
  /** Gets the number of each line whose turn has come. */
  reached?(line: number): void;
}

type FeedOptions = Omit<ReplayCommand, 'name' | 'file'>;

/** Feeds a file or standard input and serves meanwhile; also afterwards, without `--exit`. */
export async function replay(
  command: ReplayCommand,
  appDeps: AppDeps,
  terminal: Terminal,
): Promise<number> {
  const { file } = command;
  if (file === '-') {
    const input = { name: null, open: () => terminal.input, read: () => null };
    return serveFeed(input, command, appDeps, terminal);
  }
  if (!existsSync(file)) {
    terminal.print(`There is no file ${file}.\n`);
    return 1;
  }
  return serveFeed(await fileInput(file, command), command, appDeps, terminal);
}

/**
 * With a pace, the progress of a file counts the lines that were due, because reading is far ahead.
 * The number of lines in a packed file is not known, so the bytes that were read count.
 */
async function fileInput(file: string, { speed }: ReplayCommand): Promise<FeedInput> {
  // A named pipe can be read only once, so it has no fingerprint.
  if (!statSync(file).isFile()) {
    return { name: null, open: () => openFile(file), read: () => null };
  }
  const { name, lines } = await fingerprint(file);
  if (!file.endsWith('.gz')) {
    let line = 0;
    const reached = (number: number) => {
      line = number;
    };
    return { name, open: () => openFile(file), read: () => [line, lines], reached };
  }
  const files: ReadStream[] = [];
  const open = () => openFile(file, (opened) => files.push(opened));
  const { size } = statSync(file);
  const read = (): [number, number] => [files.at(-1)?.bytesRead ?? 0, size];
  return { name, open, read: speed === null ? read : () => null };
}

/** Feeds the trades of a dump, and serves as `replay` does. */
export async function importDump(
  { directory, exit }: ImportCommand,
  appDeps: AppDeps,
  terminal: Terminal,
): Promise<number> {
  const progress = new Progress('check', appDeps.clock, terminal);
  try {
    const dump = await openDump(directory, (done, all) => progress.show(done, all));
    progress.end();
    const held = `${counted(dump.days, 'day')} of ${counted(dump.tokens, 'token')}`;
    terminal.print(`${directory}: ${held}, all sums are right\n`);
    const input = { name: null, open: dump.open, read: dump.read };
    // Its rows were accepted once already, however old they are.
    const taken = { allowFuture: false, allowPast: true };
    const options = { speed: null, latenessMs: 0, ...taken, strict: true, exit };
    return await serveFeed(input, options, appDeps, terminal);
  } catch (error) {
    progress.end();
    if (!(error instanceof DumpError)) throw error;
    terminal.print(`${error.message}\nNothing was imported.\n`);
    return 1;
  }
}

async function serveFeed(
  input: FeedInput,
  options: FeedOptions,
  appDeps: AppDeps,
  terminal: Terminal,
): Promise<number> {
  if (isPublicNetwork(appDeps.settings)) {
    const { NETWORK } = appDeps.settings;
    terminal.print(`NETWORK=${NETWORK} follows a chain; to serve a feed set NETWORK=none.\n`);
    return 1;
  }
  const app = await startGreeting(appDeps, terminal);
  const feeding = feed(app, input, options);
  const endProgress = showWhile('replay', () => input.read() ?? 'unknown', appDeps, terminal);
  const first = await Promise.race([feeding, terminal.stopAsked.then((reason) => ({ reason }))]);
  endProgress();
  if ('reason' in first) return stopped(app, first.reason);
  const fault =
    'failure' in first ? `The feed ended early: ${first.failure}` : refusal(first, options);
  if (!('failure' in first)) terminal.print(`${summary(first)}\n`);
  if (fault !== null) terminal.print(`${fault}\n`);
  const failed = fault === null ? 0 : 1;
  if (options.exit) return (await stopped(app, 'the feed has ended')) || failed;
  return (await stopped(app, await terminal.stopAsked)) || failed;
}

const LOOK_EVERY_MS = 100;

/** How far it is, of how much, and how long the rest takes where that is known. */
type Reached = readonly [done: number, all: number, secondsLeft?: number | null];

/** Shows how far something is, until it is over or the returned function is called. */
function showWhile(
  what: string,
  read: () => Reached | 'unknown' | 'over',
  { clock }: Pick<AppDeps, 'clock'>,
  terminal: ProgressOutput,
): () => void {
  const progress = new Progress(what, clock, terminal);
  const look = () => {
    const reached = read();
    if (reached === 'over') {
      progress.end();
      return;
    }
    if (reached !== 'unknown') progress.show(...reached);
    timer = clock.after(LOOK_EVERY_MS, look);
  };
  let timer = clock.after(LOOK_EVERY_MS, look);
  return () => {
    timer.cancel();
    progress.end();
  };
}

/** How much of a chain was read, until the node has caught up; elsewhere the log says the same. */
export function showSync(
  sync: Pick<ChainSync, 'isSynced' | 'progress'> | null,
  appDeps: Pick<AppDeps, 'clock'>,
  terminal: ProgressOutput,
): () => void {
  if (sync === null || terminal.draw === undefined || sync.isSynced()) return () => {};
  const read = (): Reached | 'unknown' | 'over' => {
    if (sync.isSynced()) return 'over';
    const { percent, secondsLeft } = sync.progress();
    return percent === null ? 'unknown' : [percent, 100, secondsLeft];
  };
  return showWhile('sync', read, appDeps, terminal);
}

async function feed(app: App, { name, open, reached }: FeedInput, options: FeedOptions) {
  const { speed, latenessMs, allowFuture, allowPast } = options;
  const told = reached === undefined ? {} : { reached };
  const limits = { latenessMs, allowFuture, allowPast };
  try {
    return await app.replay(open(), { feed: name, speed, ...limits, ...told });
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

async function stopped(app: App, reason: string): Promise<number> {
  await app.stop(reason);
  return 0;
}

/** Why the command fails although the feed was read to its end; null: it does not. */
function refusal({ lines, late, rejected }: ReplayCounts, { strict }: FeedOptions): string | null {
  const refused = late + rejected;
  if (refused * 2 > lines) {
    return `More than half of the lines were refused (${refused} of ${lines}); the log says why.`;
  }
  return strict && refused > 0
    ? `${counted(refused, 'line')} refused (--strict); the log says why.`
    : null;
}

function summary(counts: ReplayCounts): string {
  const { lines, trades, duplicates, late, rejected, rollbacks, resumedAfterLine } = counts;
  const resumed = resumedAfterLine > 0 ? ` (continued after line ${resumedAfterLine})` : '';
  return (
    `replay: ${counted(lines, 'line')}${resumed}: ${counted(trades, 'trade')}, ` +
    `${counted(duplicates, 'duplicate')}, ${late} too late, ${rejected} rejected, ` +
    counted(rollbacks, 'rollback')
  );
}

/** Printed on a terminal before anything is opened. */
function startingText(
  version: string,
  { NETWORK, DATA_DIR }: Settings,
  hasDevnet: boolean,
): string {
  const follows =
    NETWORK === 'devnet' || NETWORK === 'none' ? 'without a chain' : `following ${NETWORK}`;
  const chain = hasDevnet ? 'with its own devnet' : follows;
  return `upcurve ${version}, ${chain}. Data directory: ${DATA_DIR}\n`;
}

/** Printed on a terminal when the server listens on `port`. */
function listeningText({ HOST }: Settings, port: number): string {
  const url = `http://${reachableHost(HOST)}:${port}`;
  return `\n  open ${url}\n\n  API reference: ${url}/docs\n  Press Ctrl+C to stop.\n\n`;
}
