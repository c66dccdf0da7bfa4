/**
 * Log lines and metrics of the program: one function per event, its log line and its metric
 * together.
 *
 * Labels are of low cardinality: values that a client can choose (a pool, an address, a path, a
 * close code) go into the log line or into `other`, never into a label. Events that a client can
 * cause at will are logged at debug and counted.
 */

import { type DestinationStream, type Logger, pino } from 'pino';
import type { Registry } from 'prom-client';
import { isFault } from './assert.ts';
import { chainEvents } from './chainEvents.ts';
import type { Clock } from './clock.ts';
import { clusterEvents, snapshotEvents } from './clusterEvents.ts';
import { counted } from './counted.ts';
import { pathEvents } from './entryPath.ts';
import { CATALOGUE } from './errors.ts';
import type { LatencySeries } from './latencyHistogram.ts';
import { DEPTHS, LATENCY_S, type Meters, metersIn } from './meters.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
}

/** JSON, one line per event: level, time (Unix ms), event, fields, msg. */
export function createLogger({ level, clock, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":${clock.nowMs()}`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

export type Events = ReturnType<typeof createEvents>;

/** Registers every metric; `registry` must not hold them yet. */
export function createEvents(logger: Logger, registry: Registry, clock: Clock) {
  const meters = metersIn(registry);
  return {
    ...lifeEvents(logger),
    ...httpEvents(logger, meters),
    ...socketEvents(logger, meters),
    ...webhookEvents(logger, meters),
    ...foldEvents(logger, meters),
    ...pathEvents(clock, meters),
    ...repairEvents(logger, meters),
    ...storeEvents(logger, meters),
    ...snapshotEvents(logger, meters),
    ...ingestEvents(logger, meters),
    ...chainEvents(logger, meters),
    ...clusterEvents(logger, meters),
  };
}

function lifeEvents(logger: Logger) {
  return {
    /** `what` is `market` or `admin`. */
    listening(what: string, host: string, port: number): void {
      const address = host.includes(':') ? `[${host}]` : host;
      logger.info(
        { event: 'listening', what, host, port },
        `listening on http://${address}:${port}`,
      );
    },
    stopping(reason: string): void {
      logger.info({ event: 'stopping', reason }, `stopping: ${reason}`);
    },
    stopped(seconds: number): void {
      logger.info({ event: 'stopped', seconds }, 'stopped');
    },
    /** Dollars are no part of the market: the last price stays, and is asked again. */
    adaUsdFailed(source: string, why: string): void {
      logger.warn({ event: 'adaUsdFailed', source, why }, `no price of ADA from ${source}: ${why}`);
    },
    /** A full disk: the file of an earlier start is still valid. */
    directoryNotMarked(error: unknown): void {
      const fields = { event: 'directoryNotMarked', err: error };
      logger.warn(
        fields,
        'DATA_DIR/created-at was not written: a restored copy of it may not show',
      );
    },
    apiKeysRead(file: string, count: number, revoked: readonly string[]): void {
      const fields = { event: 'apiKeysRead', file, count, revoked };
      const gone = revoked.length === 0 ? 'none was revoked' : `revoked: ${revoked.join(', ')}`;
      logger.info(fields, `${count} API keys are known, ${gone}`);
    },
    /** The keys that were read before stay. */
    apiKeysRefused(file: string, why: string): void {
      const fields = { event: 'apiKeysRefused', file, why };
      logger.error(fields, `${file} cannot be used, and the API keys stay as they were: ${why}`);
    },
    /** It threw on stop or missed the deadline; the end of the process releases its resources. */
    serviceStopFailed(service: string, error: unknown): void {
      logger.error({ event: 'serviceStopFailed', service, err: error }, `${service} did not stop`);
    },
  };
}

/** Places that can fail and are neither an operation nor a topic. */
export const HANDLERS = [
  'calls of other nodes',
  'copies of the log',
  'deliver',
  'end of subscriptions',
  'fan-out',
  'pictures',
  'ping',
  'socket upgrade',
  'subscribe',
  'sweep of sockets',
  'tickers',
  'traders',
  'waiting for a position',
  'waking of a socket',
  'watch',
  'webhooks',
] as const;

function httpEvents(logger: Logger, { counter, latency }: Meters) {
  const help = 'Requests by operation and class of status';
  const requests = latency('http_request_seconds', help, ['route', 'status']);
  const aborted = counter('http_aborted', 'Requests whose client left before the answer', {
    route: [],
  });
  const failed = counter('handler_failed', 'Faults in handlers, by operation or topic', {
    where: HANDLERS,
  });
  /** Series of a route, by the first digit of the status. */
  const seriesOf = new Map<string, LatencySeries[]>();
  return {
    /** Before the first request: their counters begin at 0. */
    serves(
      routes: readonly { readonly operationId: string }[],
      topics: readonly { readonly name: string }[],
    ): void {
      const operations = [...routes.map(({ operationId }) => operationId), 'unknown'];
      for (const route of operations) aborted.inc({ route }, 0);
      const handlers = [...operations, ...topics.map(({ name }) => `topic ${name}`)];
      for (const where of handlers) failed.inc({ where }, 0);
    },
    /** Metric only, on the hot path. */
    httpRequest(route: string, status: number, seconds: number): void {
      const statusClass = Math.floor(status / 100);
      const known = seriesOf.get(route)?.[statusClass];
      if (known !== undefined) {
        known.add(seconds);
        return;
      }
      const series = requests.series({ route, status: `${statusClass}xx` });
      const ofRoute = seriesOf.get(route) ?? [];
      ofRoute[statusClass] = series;
      seriesOf.set(route, ofRoute);
      series.add(seconds);
    },
    httpAborted(route: string): void {
      aborted.inc({ route });
    },
    handlerFailed(where: string, error: unknown): void {
      failed.inc({ where });
      logger.error({ event: 'handlerFailed', where, err: error }, `handler of ${where} failed`);
    },
  };
}

/** Close codes of protocol.md 6.6 and the usual ones; a client may send any other. */
const CLOSE_CODES: readonly number[] = [
  1000, 1001, 1005, 1006, 1009, 4001, 4002, 4008, 4403, 4429, 4500, 4501,
];

function socketEvents(logger: Logger, { counter, gauge, latency }: Meters) {
  const open = gauge('sockets', 'Open WebSockets');
  const opened = counter('sockets_opened', 'WebSockets opened');
  const closed = counter('sockets_closed', 'WebSockets closed, by close code', {
    code: [...CLOSE_CODES.map(String), 'other'],
  });
  const frames = counter('frames_published', 'Frames rendered and handed to the network');
  const bytes = counter('frame_bytes_published', 'Bytes of those frames');
  const flushes = latency('flush_seconds', 'Time a flush held the event loop', []).series({});
  const behind = counter('sockets_behind', 'Times a socket fell behind its buffer');
  const resyncs = counter('resyncs', 'Resync frames, by reason', {
    reason: ['slow', 'epoch'],
  });
  const bad = counter('bad_frames', 'Frames that could not be used, by cause', {
    cause: Object.keys(CATALOGUE),
  });
  return {
    socketOpened(): void {
      open.inc();
      opened.inc();
    },
    socketClosed(code: number): void {
      open.dec();
      closed.inc({ code: CLOSE_CODES.includes(code) ? String(code) : 'other' });
      logger.debug({ event: 'socketClosed', code }, 'socket closed');
    },
    framesPublished(count: number, size: number): void {
      frames.inc(count);
      bytes.inc(size);
    },
    flushed(milliseconds: number): void {
      flushes.add(milliseconds / 1000);
    },
    socketBehind(bufferedBytes: number): void {
      behind.inc();
      logger.debug({ event: 'socketBehind', bufferedBytes }, 'socket is behind');
    },
    resync(reason: 'slow' | 'epoch'): void {
      resyncs.inc({ reason });
    },
    badFrame(cause: string): void {
      bad.inc({ cause });
      logger.debug({ event: 'badFrame', cause }, 'bad frame');
    },
  };
}

function webhookEvents(logger: Logger, { counter, gauge, histogram }: Meters) {
  const help = 'Deliveries of webhooks, by outcome: delivered or failed';
  const tried = histogram('webhook_delivery_seconds', help, LATENCY_S, ['outcome']);
  for (const outcome of ['delivered', 'failed']) tried.zero({ outcome });
  const stopped = counter('webhooks_stopped', 'Webhooks that failed for a day, and stopped');
  const known = gauge('webhooks', 'Webhooks that this node delivers; 0 where it does not lead');
  const failing = gauge(
    'webhooks_failing',
    'Webhooks whose last delivery failed, stopped ones too',
  );
  return {
    /** `why` is null where it was accepted. The program that receives it can cause both. */
    webhookTried(owner: string, id: string, why: string | null, seconds: number): void {
      tried.observe({ outcome: why === null ? 'delivered' : 'failed' }, seconds);
      if (why === null) return;
      const fields = { event: 'webhookFailed', owner, id, why };
      logger.debug(fields, `a webhook of ${owner} was not delivered: ${why}`);
    },
    webhookStopped(owner: string, id: string, why: string): void {
      stopped.inc();
      const fields = { event: 'webhookStopped', owner, id, why };
      logger.info(fields, `a webhook of ${owner} failed for a day, and stops: ${why}`);
    },
    /** Frames that were delivered may be delivered again. */
    webhooksNotSaved(why: string): void {
      logger.warn({ event: 'webhooksNotSaved', why }, `webhooks: ${why}`);
    },
    /** After `webhooksNotSaved`: the file, or NATS, takes them again. */
    webhooksSaved(): void {},
    webhooksKnown(all: number, failingOnes: number): void {
      known.set(all);
      failing.set(failingOnes);
    },
  };
}

function foldEvents(logger: Logger, { counter, histogram }: Meters) {
  const entries = counter('entries_applied', 'Log entries folded');
  const batches = histogram('batch_seconds', 'Time one batch of entries held the loop', LATENCY_S);
  const appendFailures = counter('append_failures', 'Appends the log did not acknowledge');
  const quarantined = counter('actors_quarantined', 'Actors taken out after a repeated fault');
  const rollbacks = histogram('rollback_entries', 'Entries undone by a rollback', DEPTHS);
  const epochs = counter('epochs_started', 'Epochs started');
  return {
    /** Metric only, on the hot path. */
    batchApplied(count: number, seconds: number): void {
      entries.inc(count);
      batches.observe(seconds);
    },
    /** Nothing was appended; the same entries are tried again. */
    appendFailed(error: unknown, attempt: number, retryInMs: number): void {
      appendFailures.inc();
      const fields = { event: 'appendFailed', attempt, retryInMs, err: error };
      logger.error(fields, `the log took no entry, next try in ${retryInMs} ms`);
    },
    actorQuarantined(pool: string, error: unknown): void {
      quarantined.inc();
      logger.error({ event: 'actorQuarantined', pool, err: error }, `pool ${pool} is quarantined`);
    },
    /** A fault of the program: the node stops folding and is no longer ready. */
    foldFailed(error: unknown): void {
      logger.fatal({ event: 'foldFailed', err: error }, 'the fold stopped; the node is not ready');
    },
    stateUnreadable(error: unknown): void {
      if (isFault(error, 'otherStateVersion')) {
        // An upgrade, as it should be.
        const fields = { event: 'stateOutdated', reason: error.message };
        logger.info(fields, 'the state is of another version; it is made again from the log');
        return;
      }
      const fields = { event: 'stateUnreadable', err: error };
      logger.error(fields, 'the state file cannot be used; it is made again from the log');
    },
    /** After `appendFailed`: the log took the entries, or the writer gave up. */
    appendSettled(): void {
      logger.info({ event: 'appendSettled' }, 'no append waits for the log any more');
    },
    /** Its entries were all read and are right. */
    logSumsOutdated(reason: string): void {
      const fields = { event: 'logSumsOutdated', reason };
      logger.warn(fields, 'checksums of the log were outdated; every entry is as it was written');
    },
    rollbackApplied(entries: number): void {
      rollbacks.observe(entries);
      logger.info(
        { event: 'rollbackApplied', entries },
        `rolled back ${counted(entries, 'entry', 'entries')}`,
      );
    },
    epochStarted(epoch: string, reason: string): void {
      epochs.inc();
      logger.warn({ event: 'epochStarted', epoch, reason }, `epoch ${epoch} starts: ${reason}`);
    },
  };
}

function repairEvents(logger: Logger, { counter }: Meters) {
  const rebuilds = counter('state_rebuilds', 'States made again because a row was unreadable');
  return {
    /** A row cannot be read while the node serves: the state is made again beside it. */
    stateRebuilding(error: unknown): void {
      rebuilds.inc();
      const fields = { event: 'stateRebuilding', err: error };
      logger.error(
        fields,
        'state.sqlite has rows that cannot be read; it is made again from the log',
      );
    },
    stateRebuilt(seconds: number): void {
      const fields = { event: 'stateRebuilt', seconds };
      logger.warn(fields, 'the state was made again and is in use');
    },
    stateNotRebuilt(error: unknown): void {
      logger.error({ event: 'stateNotRebuilt', err: error }, 'the state could not be made again');
    },
  };
}

function storeEvents(logger: Logger, { counter, histogram }: Meters) {
  const rowCount = counter('rows_committed', 'Rows written to the state file');
  const commits = histogram('commit_seconds', 'Time one commit held the event loop', LATENCY_S);
  const failures = counter('commit_failures', 'Commits that failed and are tried again');
  return {
    committed(rows: number, seconds: number): void {
      rowCount.inc(rows);
      commits.observe(seconds);
    },
    /** Folding stands still until a retry succeeds: a full disk is no actor's fault. */
    commitFailed(error: unknown, attempt: number, retryInMs: number): void {
      failures.inc();
      const fields = { event: 'commitFailed', attempt, retryInMs, err: error };
      logger.error(fields, `commit failed; folding waits, next try in ${retryInMs} ms`);
    },
  };
}

/** Counts of a replay's lines, by outcome. */
interface LineCounts {
  readonly lines: number;
  readonly trades: number;
  readonly duplicates: number;
  readonly late: number;
  readonly rejected: number;
}

const REJECTED_LINES_LOGGED = 1_000;

function ingestEvents(logger: Logger, { counter }: Meters) {
  const rejected = counter(
    'replay_lines_rejected',
    'Lines of a replay that could not be used, late ones too',
  );
  let logged = 0;
  return {
    replayProgress(counts: LineCounts): void {
      const message = `${counted(counts.lines, 'line')} read, ${counted(counts.trades, 'trade')}`;
      logger.info({ event: 'replayProgress', ...counts }, message);
    },
    replayFinished(counts: LineCounts): void {
      const { lines, rejected, late } = counts;
      const read = counted(lines, 'line');
      const message = `replay read ${read}, ${rejected} rejected, ${late} too late`;
      logger.info({ event: 'replayFinished', ...counts }, message);
    },
    /** The first ones are logged, all are counted: a wrong file must not flood the log. */
    lineRejected(line: number, reason: string): void {
      rejected.inc();
      logged += 1;
      if (logged > REJECTED_LINES_LOGGED) return;
      logger.warn({ event: 'lineRejected', line, reason }, `line ${line} rejected: ${reason}`);
    },
  };
}
