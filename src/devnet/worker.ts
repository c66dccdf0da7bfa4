/**
 * The thread of the ledger: questions in, answers out, blocks at their pace.
 *
 * What changes the ledger waits in one queue (`MOST_COMMANDS`, then it is refused) and runs in
 * slices, so that blocks and lookups come in between. What throws there ends the thread: the chain
 * on disk is whole, and `EmulatedChain` reports it. A lookup that throws fails alone.
 *
 * The role may change at any time; each piece of work looks at it when its turn comes.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { slotAt } from '../cardano/codec/slots.ts';
import { keyOf } from '../cardano/keys/keys.ts';
import { utxosOfAsset, utxosOfCredential } from '../cardano/ledger/views.ts';
import type { Point } from '../chain/port.ts';
import { assert } from '../engine/runtime/assert.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { openLedger, warmUp } from './boot.ts';
import { copied, genesisOf } from './copies.ts';
import { give } from './faucet.ts';
import type { Fork } from './ledger.ts';
import {
  type CallName,
  type Calls,
  type LedgerRole,
  packed,
  packedFailure,
  packedState,
  type Ready,
  type Request,
  type WorkerOptions,
} from './messages.ts';
import { Pace } from './pace.ts';
import { newestOf, Replica } from './replica.ts';
import { Stream } from './streams.ts';

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

const commands: (() => void)[] = [];
const streams = new Map<number, Stream>();
/** Pulls that found nothing: stream → question. */
const pulls = new Map<number, number>();
let streamsOpened = 0;
let isDraining = false;
let isStopped = false;
let role: LedgerRole = options.role ?? 'leader';
const replica = new Replica(ledger, file, tellForked);
const pace = new Pace(ledger, clock, forged, (fault) => {
  port.postMessage({ number: 0, answer: null, fault });
});

function reply<Name extends CallName>(number: number, answer: Calls[Name]['answer']): void {
  port.postMessage({ number, answer });
}

function drain(): void {
  if (isStopped) return;
  const endMs = clock.monotonicMs() + SLICE_MS;
  do {
    if (isJudging()) ledger.revalidateOne();
    else commands.shift()?.();
  } while (isBusy() && clock.monotonicMs() < endMs);
  wake();
  isDraining = isBusy();
  if (isDraining) clock.soon(drain);
}

function isBusy(): boolean {
  return isJudging() || commands.length > 0;
}

/** A replica is told what becomes of what returns. */
function isJudging(): boolean {
  return role === 'leader' && ledger.isRevalidating;
}

function forged(): void {
  drainSoon();
  wake();
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
  const from = points.length === 0 ? null : newestOf(points, file);
  if (points.length > 0 && from === null) return null;
  assert(streams.size < MOST_STREAMS, 'streams are closed by those who open them');
  streamsOpened += 1;
  streams.set(streamsOpened, new Stream(ledger, file, from));
  return streamsOpened;
}

function fork({ depth, resubmit }: Calls['fork']['argument']): Calls['fork']['answer'] {
  const fork = ledger.fork(depth, resubmit);
  if (fork instanceof Failure) return packedFailure(fork);
  tellForked(fork);
  return { tip: fork.tip, takenBack: fork.takenBack.length };
}

function tellForked(fork: Fork): void {
  for (const stream of streams.values()) stream.forked(fork);
}

/** In pieces, one a turn. */
function mine(count: number, answer: (answer: Calls['mine']['answer']) => void): void {
  const failure = notLeading() ?? tooFarAhead(count) ?? ledger.forge(Math.min(count, MOST_BLOCKS));
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

const NOT_LEADING = 'This node does not lead: try again';
const REFUSED = { outcome: 'refused', reason: 'REFUSED', message: NOT_LEADING } as const;

function notLeading(): Failure | null {
  return role === 'leader' ? null : new Failure('NOT_READY', NOT_LEADING);
}

/** What only a replica does, after what was asked before it; `fail` when the ledger leads then. */
function copying(work: () => void, fail: (fault: string) => void): void {
  command(
    () => (role === 'replica' ? work() : fail('a ledger that leads copies nothing')),
    () => fail(BUSY.message),
  );
}

/** All that waits is judged first: what was told of it may be old by now. */
function lead(answer: (answer: Calls['lead']['answer']) => void, fail: (fault: string) => void) {
  if (role === 'leader') return answer({ tip: ledger.tip });
  role = 'leader';
  ledger.judgeAnew();
  commands.unshift(() => {
    if (role !== 'leader') return fail('it was told to follow before it led');
    answer({ tip: ledger.tip });
    if (options.blockPaceMs > 0) pace.start();
  });
}

function follow(): null {
  role = 'replica';
  pace.stop();
  return null;
}

const OVERLOADED = packedFailure(new Failure('OVERLOADED', BUSY.message));

type Handlers = {
  readonly [Name in CallName]: (
    argument: Calls[Name]['argument'],
    answer: (answer: Calls[Name]['answer']) => void,
    fail: (fault: string) => void,
  ) => void;
};

const handlers: Handlers = {
  submit: (bytes, answer) =>
    command(
      () => answer(role === 'leader' ? ledger.submit(bytes) : REFUSED),
      () => answer(BUSY),
    ),
  faucet: ({ address, lovelace }, answer) =>
    command(
      () => {
        answer(role === 'leader' ? give(ledger, faucetKey, address, lovelace) : REFUSED);
      },
      () => answer(BUSY),
    ),
  mine: (count, answer) =>
    command(
      () => mine(count, answer),
      () => answer(OVERLOADED),
    ),
  fork: (argument, answer) =>
    command(
      () => {
        const failure = notLeading();
        answer(failure === null ? fork(argument) : packedFailure(failure));
      },
      () => answer(OVERLOADED),
    ),
  tip: (_, answer) => answer({ tip: ledger.tip, slot: ledger.slot }),
  byPaymentKey: ({ keyHash, view, page }, answer) =>
    answer(utxosOfCredential(state, keyHash, view, page).map(packed)),
  byAsset: ({ asset, view }, answer) => answer(utxosOfAsset(state, asset, view).map(packed)),
  byRefs: (refs, answer) => answer(refs.map((ref) => packedState(ledger.output(ref)))),
  open: (points, answer) => answer(open(points)),
  apply: (copies, answer, fail) => copying(() => answer(replica.apply(copies)), fail),
  applyMempool: (copy, answer, fail) => copying(() => answer(replica.applyMempool(copy)), fail),
  rollTo: (point, answer, fail) => copying(() => answer(replica.rollTo(point)), fail),
  reconcile: ({ points, reachesStart }, answer, fail) =>
    copying(() => answer(replica.reconcile(points, reachesStart)), fail),
  lead: (_, answer, fail) =>
    command(
      () => lead(answer, fail),
      () => fail(BUSY.message),
    ),
  follow: (_, answer) => answer(follow()),
  genesis: (_, answer) => answer(genesisOf(file)),
  snapshot: (to, answer) => answer(copied(file, to)),
  blockOf: (id, answer) => answer(file.blockOf(id)),
  pull: () => {},
  close: (id, answer) => {
    streams.delete(id);
    const waiting = pulls.get(id);
    if (waiting !== undefined) answerPull(id, waiting);
    answer(null);
  },
  stop: (_, answer) => {
    isStopped = true;
    pace.stop();
    file.close();
    answer(null);
    port.close();
  },
};

function failing(number: number): (fault: string) => void {
  return (fault) => port.postMessage({ number, answer: null, fault });
}

function handle<Name extends CallName>({ number, name, argument }: Request<Name>): void {
  const handler: Handlers[Name] = handlers[name];
  handler(argument, (answer) => reply<Name>(number, answer), failing(number));
}

// trust: EmulatedChain sends nothing else
port.on('message', (message: Request) => {
  try {
    if (message.name === 'pull') answerPull(Number(message.argument), message.number);
    else handle(message);
  } catch (error) {
    failing(message.number)(String(error));
  }
});
warmUp(options.genesis, options.faucetSecret, ledger.slots);
const ready: Ready = { deployment, slotConfig: ledger.slots };
port.postMessage(ready);
// Not before: a disk that refuses the first block says so, and `Ready` is the first message.
if (role === 'leader' && options.blockPaceMs > 0) pace.start();
