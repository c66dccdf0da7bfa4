/** Calls a devnet's faucet, fork and mine routes, and waits until this node shows their effect. */

import type { Devnet } from '../../api/devnet/routes.ts';
import type { SubmitOutcome } from '../../cardano/ledger/port.ts';
import type { Fetch } from '../../chain/access.ts';
import { chainTip } from '../../chain/chainPoints.ts';
import type { ChainTip } from '../../chain/port.ts';
import type { Node } from '../../engine/node/node.ts';
import { withDeadline } from '../../engine/runtime/abort.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type Cause, Failure, messageOf, notReady } from '../../engine/runtime/errors.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';

interface DevnetClientDeps {
  /** http:// */
  readonly url: string;
  readonly node: Pick<Node, 'fold' | 'onApplied'>;
  /** The chain's newest block as the node last reported it; null: none. */
  readonly tip: () => ChainTip | null;
  /** Resolves once this node shows the transaction, or after a while. */
  readonly untilShown: (txHash: string) => Promise<void>;
  readonly reasons: Pick<Reasons, 'refusal'>;
  readonly clock: Clock;
  /** Absent: that of the network. */
  readonly fetch?: Fetch;
}

const SHOWN_MS = 1_000;
const DEADLINE_MS = 30_000;
const LOVELACE_PER_ADA = 1_000_000n;
const CAUSES: readonly Cause[] = ['INVALID_PARAMS', 'OVERLOADED', 'SERVER_ERROR'];

type Body = Readonly<Record<string, unknown>>;

export class DevnetClient implements Devnet {
  readonly #deps: DevnetClientDeps;

  constructor(deps: DevnetClientDeps) {
    this.#deps = deps;
  }

  async faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure> {
    const refusal = this.#deps.reasons.refusal();
    if (refusal !== null) return refusal;
    const answer = await this.#post('faucet', {
      address,
      ada: Number(lovelace / LOVELACE_PER_ADA),
    });
    if (answer instanceof Failure) return answer;
    const txHash = String(answer.txHash);
    await this.#deps.untilShown(txHash);
    return { outcome: 'accepted', txHash };
  }

  async fork(depth: number, resubmit: 'all' | 'none'): Promise<number | Failure> {
    const before = this.#deps.tip()?.hash;
    const answer = await this.#post('fork', { depth, resubmit });
    if (answer instanceof Failure) return answer;
    await this.#untilShown((own) => {
      const newest = this.#deps.tip();
      return newest?.hash !== before && own?.hash === newest?.hash;
    });
    return Number(answer.height);
  }

  async mine(blocks: number): Promise<number | Failure> {
    const answer = await this.#post('mine', { blocks });
    if (answer instanceof Failure) return answer;
    const height = Number(answer.height);
    // Not the node's tip: the fold may have its newest block before that is known here.
    await this.#untilShown((own) => own !== null && own.height >= height);
    return height;
  }

  async #post(route: string, body: Body): Promise<Body | Failure> {
    const { clock } = this.#deps;
    try {
      return await withDeadline(clock, DEADLINE_MS, (signal) => this.#ask(route, body, signal));
    } catch (error) {
      const why = messageOf(error);
      return notReady(`the devnet does not answer (${why}): try again`);
    }
  }

  async #ask(route: string, body: Body, signal: AbortSignal): Promise<Body | Failure> {
    const { url, fetch: fetchUrl = fetch } = this.#deps;
    const response = await fetchUrl(`${url}/devnet/v1/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const answer: unknown = await response.json();
    const fields: Body = typeof answer === 'object' && answer !== null ? { ...answer } : {};
    return response.ok ? fields : failureOf(fields);
  }

  /** Until `isShown` accepts the newest block of the fold; a second at most. */
  async #untilShown(isShown: (own: ReturnType<typeof chainTip>) => boolean): Promise<void> {
    const { node, clock } = this.#deps;
    const shown = Promise.withResolvers<void>();
    const check = () => {
      if (isShown(chainTip(node.fold.store))) shown.resolve();
    };
    const unlisten = node.onApplied(check);
    const timer = clock.after(SHOWN_MS, shown.resolve);
    check();
    await shown.promise;
    unlisten();
    timer.cancel();
  }
}

function failureOf({ cause, message }: Body): Failure {
  const known = CAUSES.find((each) => each === cause);
  return known === undefined ? notReady(String(message)) : new Failure(known, String(message));
}
