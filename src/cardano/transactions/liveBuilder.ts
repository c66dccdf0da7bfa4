/**
 * The builder for a chain whose parameters are asked for: none before they are known, and by the
 * new ones soon after they have changed, which a real network does at the beginning of an epoch.
 *
 * Where our evaluator does not know the node's parameters, the node evaluates. If the node cannot
 * evaluate either, no transaction that runs a script is built.
 */
import { isDeepStrictEqual } from 'node:util';
import { unlessAborted } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure, messageOf, Unavailable } from '../../engine/runtime/errors.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';
import { formatAddress } from '../codec/address.ts';
import { encodeOutput } from '../codec/encode.ts';
import { fromHex } from '../codec/hex.ts';
import { decodeOutput, type Utxo } from '../codec/output.ts';
import { coins } from '../codec/value.ts';
import {
  type LedgerTerms,
  type ProtocolParameters,
  unknownToEvaluator,
} from '../ledger/parameters.ts';
import { type AskEvaluator, assembleAsking } from './assemble.ts';
import { type BuilderLimits, type StartBuilders, ThreadedBuilder } from './builderThreads.ts';
import type { TransactionPlan } from './plan.ts';
import type { Builder, BuildOptions, BuildOutcome } from './port.ts';
import { UnitsCheck, type UnitsObserver } from './unitsCheck.ts';

interface LiveBuilderOptions {
  /** Rejects while the node cannot be asked. */
  ask(): Promise<LedgerTerms>;
  /** By the node. Throws `Unavailable` while it cannot be asked, else where it refuses. */
  readonly evaluate: AskEvaluator;
  /** Our units are compared with the node's. */
  readonly comparesUnits: boolean;
  readonly clock: Clock;
  readonly limits: Partial<BuilderLimits>;
  readonly startThreads?: StartBuilders | undefined;
  readonly observer: LiveBuilderObserver;
}

interface LiveBuilderObserver extends UnitsObserver {
  /** Asked again from time to time while the node does not evaluate. */
  evaluatorChanged(evaluator: ScriptEvaluator): void;
  parametersChanged(): void;
  /** The parameters are requested again; until then the last known ones stay in force. */
  parametersFailed(error: unknown): void;
}

const AGAIN_MS = 2_000;
const LOOK_MS = 5_000;

/** Builds by the node's evaluation at once; each holds no thread, only its plan. */
const MAX_BY_NODE = 64;
const NODE_AGAIN_SECONDS = 5;
const UNKNOWN_AGAIN_SECONDS = 60;

/**
 * The program that evaluates scripts. `unknown`: the parameters of the node that our evaluator does
 * not know.
 */
type ScriptEvaluator =
  | { readonly by: 'upcurve' }
  | { readonly by: 'node'; readonly unknown: string }
  | { readonly by: 'none'; readonly unknown: string; readonly why: string };

const UPCURVE: ScriptEvaluator = { by: 'upcurve' };
/** A transaction that spends `PROBED` and runs no script: a node that evaluates it can evaluate. */
const PROBE = fromHex(`84a30081825820${'00'.repeat(32)}0001800200a0f5f6`);
const PROBED: Utxo = {
  ref: { txHash: '00'.repeat(32), index: 0 },
  output: decodeOutput(
    encodeOutput({
      address: formatAddress({
        network: 'testnet',
        payment: { kind: 'key', hash: '00'.repeat(28) },
        stake: null,
        pointer: false,
      }),
      value: coins(1_000_000n),
    }),
  ),
};

export class LiveBuilder implements Builder, Service {
  readonly name = 'builder';
  readonly #options: LiveBuilderOptions;
  readonly #asking: Task;
  #threaded: ThreadedBuilder | null = null;
  #terms: LedgerTerms | null = null;
  /** null: the parameters are not known yet. */
  #evaluator: ScriptEvaluator | null = null;
  #check: UnitsCheck | null = null;
  #byNode = 0;

  constructor(options: LiveBuilderOptions) {
    this.#options = options;
    this.#asking = new Task({ clock: options.clock });
  }

  /** The parameters for builds; null: not known yet. */
  get parameters(): LedgerTerms | null {
    return this.#terms;
  }

  start(): void {
    this.#asking.start(() => this.#run());
  }

  async stop(): Promise<void> {
    await this.#asking.stop();
    await this.#threaded?.stop();
  }

  async build(plan: TransactionPlan, options?: BuildOptions): Promise<BuildOutcome | Failure> {
    if (this.#terms === null || this.#threaded === null) return unknownParameters();
    const { parameters } = this.#terms;
    if (runsScripts(plan) && this.#evaluator?.by !== 'upcurve') {
      return this.#buildByNode(plan, parameters);
    }
    const check = this.#check;
    const outcome = await this.#threaded.build(plan, options);
    if (outcome instanceof Failure || outcome.outcome === 'refused' || check === null) {
      return outcome;
    }
    return answered(check.checked(plan, outcome));
  }

  /** Why no script can run, and what to do; null: they run. */
  get cannotRunScripts(): string | null {
    const evaluator = this.#evaluator;
    if (evaluator?.by !== 'none') return null;
    return (
      `the node reports ${evaluator.unknown}, which this version of upcurve cannot evaluate, and ` +
      `it does not evaluate transactions itself (${evaluator.why}): install a version that knows ` +
      'it, or use an Ogmios that answers evaluateTransaction'
    );
  }

  async #buildByNode(
    plan: TransactionPlan,
    parameters: ProtocolParameters,
  ): Promise<BuildOutcome | Failure> {
    const cannot = this.cannotRunScripts;
    if (cannot !== null) {
      return new Failure('NOT_READY', cannot, { retryAfterSeconds: UNKNOWN_AGAIN_SECONDS });
    }
    if (this.#byNode >= MAX_BY_NODE) {
      const message = `${this.#byNode} transactions wait for the node's evaluation`;
      return new Failure('OVERLOADED', message, { retryAfterSeconds: 1 });
    }
    this.#byNode += 1;
    const outcome = await answered(assembleAsking(plan, parameters, this.#options.evaluate));
    this.#byNode -= 1;
    return outcome;
  }

  async #run(): Promise<void> {
    const { observer } = this.#options;
    let isKnown = false;
    do {
      isKnown = await this.#refreshParameters().catch((error: unknown) => {
        if (!this.#asking.isStopping) observer.parametersFailed(error);
        return false;
      });
    } while (await this.#asking.pause(isKnown ? LOOK_MS : AGAIN_MS));
  }

  /** Whether the parameters are known and in force. Rejects if the threads fail to start. */
  async #refreshParameters(): Promise<boolean> {
    const found = await unlessAborted(this.#options.ask(), this.#asking.signal);
    if (found === null) return false;
    if (!isDeepStrictEqual(found, this.#terms)) await this.#applyTerms(found);
    else if (this.#evaluator?.by === 'none') this.#setEvaluator(await this.#evaluatorOf(found));
    return true;
  }

  async #applyTerms(terms: LedgerTerms): Promise<void> {
    const { clock, limits, startThreads, observer, evaluate, comparesUnits } = this.#options;
    const evaluator = await this.#evaluatorOf(terms);
    if (this.#threaded === null) {
      const threaded = new ThreadedBuilder({ clock, limits, startThreads, ...terms });
      await threaded.start();
      this.#threaded = threaded;
    } else await this.#threaded.renew(terms);
    this.#terms = terms;
    this.#check = comparesUnits ? new UnitsCheck(evaluate, terms.parameters, observer) : null;
    this.#setEvaluator(evaluator);
    observer.parametersChanged();
  }

  #setEvaluator(evaluator: ScriptEvaluator): void {
    if (isDeepStrictEqual(evaluator, this.#evaluator)) return;
    this.#evaluator = evaluator;
    this.#options.observer.evaluatorChanged(evaluator);
  }

  /** Rejects while the node cannot be asked. */
  async #evaluatorOf({ parameters }: LedgerTerms): Promise<ScriptEvaluator> {
    const unknown = unknownToEvaluator(parameters);
    if (unknown === null) return UPCURVE;
    try {
      await this.#options.evaluate(PROBE, [PROBED]);
      return { by: 'node', unknown };
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      return { by: 'none', unknown, why: messageOf(error) };
    }
  }
}

/** A Failure where the node's evaluation was needed and did not come. */
async function answered(built: Promise<BuildOutcome>): Promise<BuildOutcome | Failure> {
  try {
    return await built;
  } catch (error) {
    const why = messageOf(error);
    const message = `the node does not evaluate the transaction: ${why}`;
    return new Failure('NOT_READY', message, { retryAfterSeconds: NODE_AGAIN_SECONDS });
  }
}

function runsScripts({ inputs, mints }: TransactionPlan): boolean {
  return mints.length > 0 || inputs.some(({ redeemer }) => redeemer !== null);
}

export function unknownParameters(): Failure {
  const what = 'the protocol parameters are not known yet: try again once the node answers';
  return new Failure('NOT_READY', what, { retryAfterSeconds: 5 });
}
