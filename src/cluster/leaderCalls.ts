/**
 * What only the leader can do, asked by any node: transactions are handed in, and on a devnet
 * coins, forks and blocks are asked for. An answer names the position that shows it; whoever asked
 * answers its client once it is there too.
 *
 * Errors: no leader, one that does not answer, or one whose entry is late: NOT_READY, to be tried
 * again; a transaction that is known already is answered the same again. A fork and blocks are not
 * asked for again because this node is late: they are answered, after as long.
 */
import { fromHex, toHex } from '../cardano/codec/hex.ts';
import type { SubmitOutcome } from '../cardano/ledger/port.ts';
import type { Counter, Devnet } from '../chain/devnet.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { CATALOGUE, type Cause, Failure } from '../engine/runtime/errors.ts';

/** Done by the leader itself. */
export interface LeaderWork extends Counter, Devnet {}

type Call =
  | { readonly call: 'submit'; readonly cbor: string }
  | { readonly call: 'faucet'; readonly address: string; readonly lovelace: string }
  | { readonly call: 'fork'; readonly depth: number; readonly resubmit: 'all' | 'none' }
  | { readonly call: 'mine'; readonly blocks: number };

interface Reply {
  /** Position of the leader that shows what was done. */
  readonly seq: number;
  readonly outcome?: SubmitOutcome;
  readonly height?: number;
  readonly failure?: { readonly cause: string; readonly message: string };
}

const WAIT_MS = 1_000;
const NO_LEADER = 'no node leads at the moment: try again';
const LATE = 'it was accepted, but this node has not seen it yet: ask again';

/** The leader's side: bytes in, bytes out. */
export async function answerCall(
  work: LeaderWork,
  bytes: Uint8Array,
  appliedSeq: () => number,
): Promise<Uint8Array> {
  // trust: another node of this market wrote it
  const call = JSON.parse(Buffer.from(bytes).toString()) as Call;
  const result = await perform(work, call);
  const seq = appliedSeq();
  const reply: Reply =
    result instanceof Failure
      ? { seq, failure: { cause: result.cause, message: result.message } }
      : typeof result === 'number'
        ? { seq, height: result }
        : { seq, outcome: result };
  return Buffer.from(JSON.stringify(reply));
}

function perform(work: LeaderWork, call: Call): Promise<SubmitOutcome | number | Failure> {
  if (call.call === 'submit') return work.submit(fromHex(call.cbor));
  if (call.call === 'faucet') return work.faucet(call.address, BigInt(call.lovelace));
  if (call.call === 'fork') return work.fork(call.depth, call.resubmit);
  return work.mine(call.blocks);
}

export interface CallerPlace {
  /** This node's own, while it leads. */
  work(): LeaderWork | null;
  ask(bytes: Uint8Array): Promise<Uint8Array | Failure>;
  /** Resolves once this node has applied `seq`; rejects when it will not, or that is given up. */
  reached(seq: number, givenUp: AbortSignal): Promise<void>;
  readonly clock: Clock;
}

/** Any node's side. */
export class LeaderCaller implements LeaderWork {
  readonly #place: CallerPlace;

  constructor(place: CallerPlace) {
    this.#place = place;
  }

  async submit(bytes: Uint8Array): Promise<SubmitOutcome | Failure> {
    const work = this.#place.work();
    if (work !== null) return work.submit(bytes);
    return outcomeOf(await this.#ask({ call: 'submit', cbor: toHex(bytes) }));
  }

  async faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure> {
    const work = this.#place.work();
    if (work !== null) return work.faucet(address, lovelace);
    return outcomeOf(await this.#ask({ call: 'faucet', address, lovelace: String(lovelace) }));
  }

  async fork(depth: number, resubmit: 'all' | 'none'): Promise<number | Failure> {
    const work = this.#place.work();
    if (work !== null) return work.fork(depth, resubmit);
    return heightOf(await this.#ask({ call: 'fork', depth, resubmit }));
  }

  async mine(blocks: number): Promise<number | Failure> {
    const work = this.#place.work();
    if (work !== null) return work.mine(blocks);
    return heightOf(await this.#ask({ call: 'mine', blocks }));
  }

  async #ask(call: Call): Promise<Reply | Failure> {
    const { ask } = this.#place;
    const answer = await ask(Buffer.from(JSON.stringify(call)));
    if (answer instanceof Failure) return notReady(NO_LEADER);
    // trust: the leader wrote it
    const reply = JSON.parse(Buffer.from(answer).toString()) as Reply;
    if (reply.failure !== undefined) {
      return new Failure(causeOf(reply.failure.cause), reply.failure.message);
    }
    const isLate = !(await this.#reachedInTime(reply.seq));
    return isLate && reply.height === undefined ? notReady(LATE) : reply;
  }

  async #reachedInTime(seq: number): Promise<boolean> {
    const { reached, clock } = this.#place;
    const givenUp = new AbortController();
    const timer = clock.after(WAIT_MS, () => givenUp.abort());
    try {
      await reached(seq, givenUp.signal);
      return true;
    } catch {
      return false;
    } finally {
      timer.cancel();
    }
  }
}

function outcomeOf(reply: Reply | Failure): SubmitOutcome | Failure {
  if (reply instanceof Failure) return reply;
  return reply.outcome ?? notReady(NO_LEADER);
}

function heightOf(reply: Reply | Failure): number | Failure {
  if (reply instanceof Failure) return reply;
  return reply.height ?? notReady(NO_LEADER);
}

function notReady(message: string): Failure {
  return new Failure('NOT_READY', message, { retryAfterSeconds: 1 });
}

function causeOf(cause: string): Cause {
  return isCause(cause) ? cause : 'SERVER_ERROR';
}

function isCause(cause: string): cause is Cause {
  return Object.hasOwn(CATALOGUE, cause);
}
