/**
 * The thread of the ledger: questions in, answers out, blocks at their pace.
 *
 * What changes the ledger waits in one queue (`MOST_COMMANDS`, then it is refused) and runs in
 * slices, so that blocks and lookups come in between. What throws there ends the thread: the chain
 * on disk is whole, and `EmulatedChain` reports it. A lookup that throws fails alone. A disk that
 * refuses a block is told once and tried again, less and less often; transactions wait.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { keyOf } from '../cardano/keys.ts';
import { slotAt, slotStartMs } from '../cardano/slots.ts';
import type { Point } from '../chain/port.ts';
import { assert } from '../runtime/assert.ts';
import { systemClock, type Timer } from '../runtime/clock.ts';
import { Failure } from '../runtime/errors.ts';
import { openLedger, warmUp } from './boot.ts';
import { give } from './faucet.ts';
import type { BlockHead } from './ledgerFile.ts';
import {
  type CallName,
  type Calls,
  packed,
  packedFailure,
  packedState,
  type Ready,
  type Request,
  type WorkerOptions,
} from './messages.ts';
import { Stream } from './streams.ts';
import { utxosOfAsset, utxosOfCredential } from './views.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
// trust: handed over by EmulatedChain
const options = workerData as WorkerOptions;
const clock = systemClock;
const { file, ledger, deployment } = openLedger(options, clock);
const faucetKey = keyOf(options.faucetSecret);
const state = { chain: ledger.chain, mempool: ledger.mempool };

const MOST_COMMANDS = 2_000;
const MOST_STREAMS = 256;
const SLICE_MS = 10;
const MOST_BLOCKS = 100;
/** How far a paced chain may be ahead of its clock, in slots. */
const MOST_AHEAD = 100;
const LEAST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 10_000;

const commands: (() => void)[] = [];
const streams = new Map<number, Stream>();
/** Pulls that found nothing: stream → question. */
const pulls = new Map<number, number>();
let streamsOpened = 0;
let isDraining = false;
let isStopped = false;
let nextTick: Timer | null = null;
/** Before a block is tried again that the disk refused; 0: it did not. */
let pauseMs = 0;

function reply<Name extends CallName>(number: number, answer: Calls[Name]['answer']): void {
  port.postMessage({ number, answer });
}

function drain(): void {
  if (isStopped) return;
  const endMs = clock.monotonicMs() + SLICE_MS;
  do {
    if (ledger.isRevalidating) ledger.revalidateOne();
    else commands.shift()?.();
  } while (isBusy() && clock.monotonicMs() < endMs);
  wake();
  isDraining = isBusy();
  if (isDraining) clock.soon(drain);
}

function isBusy(): boolean {
  return ledger.isRevalidating || commands.length > 0;
}

function drainSoon(): void {
  if (isDraining || !isBusy()) return;
  isDraining = true;
  clock.soon(drain);
}

function wake(): void {
  for (const [stream, number] of pulls) answerPull(stream, number);
}

function answerPull(id: number, number: number): void {
  const events = streams.get(id)?.read() ?? null;
  if (events?.length === 0) {
    pulls.set(id, number);
    return;
  }
  pulls.delete(id);
  reply<'pull'>(number, events);
}

function open(points: readonly Point[]): number | null {
  const from = points.length === 0 ? null : newestOf(points);
  if (from === undefined) return null;
  assert(streams.size < MOST_STREAMS, 'streams are closed by those who open them');
  streamsOpened += 1;
  streams.set(streamsOpened, new Stream(ledger, file, from));
  return streamsOpened;
}

function newestOf(points: readonly Point[]): BlockHead | undefined {
  for (const { slot, hash } of points) {
    const head = file.headAt(slot);
    if (head !== null && head.hash === hash) return head;
  }
  return undefined;
}

function fork({ depth, resubmit }: Calls['fork']['argument']): Calls['fork']['answer'] {
  const fork = ledger.fork(depth, resubmit);
  if (fork instanceof Failure) return packedFailure(fork);
  for (const stream of streams.values()) stream.forked(fork);
  return { tip: fork.tip, takenBack: fork.takenBack.length };
}

/** In pieces, one a turn. */
function mine(count: number, answer: (answer: Calls['mine']['answer']) => void): void {
  const failure = tooFarAhead(count) ?? ledger.forge(Math.min(count, MOST_BLOCKS));
  if (failure !== null) answer(packedFailure(failure));
  else if (count > MOST_BLOCKS) commands.unshift(() => mine(count - MOST_BLOCKS, answer));
  else answer({ tip: ledger.tip });
}

/** Blocks of a paced chain have the slots of a clock, and wait for it when they are ahead. */
function tooFarAhead(count: number): Failure | null {
  if (options.blockPaceMs === 0) return null;
  const ahead = Math.max(0, ledger.blockSlot - slotAt(ledger.slots, clock.nowMs()));
  if (ahead + count <= MOST_AHEAD) return null;
  const left = Math.max(0, MOST_AHEAD - ahead);
  const message = `blocks may be ${MOST_AHEAD} slots ahead of the clock, these are ${ahead} ahead`;
  return new Failure('INVALID_PARAMS', `${message}: at most ${left} can be made now`);
}

/** Runs `work` after what was asked before it; `refuse` answers when too much waits. */
function command(work: () => void, refuse: () => void): void {
  if (commands.length >= MOST_COMMANDS) refuse();
  else commands.push(work);
  drainSoon();
}

const BUSY = {
  outcome: 'refused',
  reason: 'MEMPOOL_FULL',
  message: 'Too busy: try again',
} as const;

const OVERLOADED = packedFailure(new Failure('OVERLOADED', BUSY.message));

type Handlers = {
  readonly [Name in CallName]: (
    argument: Calls[Name]['argument'],
    answer: (answer: Calls[Name]['answer']) => void,
  ) => void;
};

const handlers: Handlers = {
  submit: (bytes, answer) =>
    command(
      () => answer(ledger.submit(bytes)),
      () => answer(BUSY),
    ),
  faucet: ({ address, lovelace }, answer) =>
    command(
      () => answer(give(ledger, faucetKey, address, lovelace)),
      () => answer(BUSY),
    ),
  mine: (count, answer) =>
    command(
      () => mine(count, answer),
      () => answer(OVERLOADED),
    ),
  fork: (argument, answer) =>
    command(
      () => answer(fork(argument)),
      () => answer(OVERLOADED),
    ),
  tip: (_, answer) => answer({ tip: ledger.tip, slot: ledger.slot }),
  byPaymentKey: ({ keyHash, view, page }, answer) =>
    answer(utxosOfCredential(state, keyHash, view, page).map(packed)),
  byAsset: ({ asset, view }, answer) => answer(utxosOfAsset(state, asset, view).map(packed)),
  byRefs: (refs, answer) => answer(refs.map((ref) => packedState(ledger.output(ref)))),
  open: (points, answer) => answer(open(points)),
  pull: () => {},
  close: (id, answer) => {
    streams.delete(id);
    const waiting = pulls.get(id);
    if (waiting !== undefined) answerPull(id, waiting);
    answer(null);
  },
  stop: (_, answer) => {
    isStopped = true;
    nextTick?.cancel();
    file.close();
    answer(null);
    port.close();
  },
};

function handle<Name extends CallName>({ number, name, argument }: Request<Name>): void {
  const handler: Handlers[Name] = handlers[name];
  handler(argument, (answer) => reply<Name>(number, answer));
}

function tick(): void {
  const slot = slotAt(ledger.slots, clock.nowMs());
  if (slot > ledger.blockSlot) {
    forge();
    drainSoon();
    wake();
  }
  const delayMs = slotStartMs(ledger.slots, slot + 1) - clock.nowMs();
  nextTick = clock.after(Math.max(1, delayMs, pauseMs), tick);
}

function forge(): void {
  const failure = ledger.forge();
  if (failure !== null && pauseMs === 0) {
    port.postMessage({ number: 0, answer: null, fault: failure.message });
  }
  const doubled = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, 2 * pauseMs));
  pauseMs = failure === null ? 0 : doubled;
}

// trust: EmulatedChain sends nothing else
port.on('message', (message: Request) => {
  try {
    if (message.name === 'pull') answerPull(Number(message.argument), message.number);
    else handle(message);
  } catch (error) {
    port.postMessage({ number: message.number, answer: null, fault: String(error) });
  }
});
warmUp(options.genesis, options.faucetSecret, ledger.slots);
const ready: Ready = { deployment, slotConfig: ledger.slots };
port.postMessage(ready);
// Not before: a disk that refuses the first block says so, and `Ready` is the first message.
if (options.blockPaceMs > 0) tick();
