/**
 * Looks once whether a devnet holds the scripts of this market. A devnet that was started for other
 * keys, or for none, would be followed for ever without a single pool.
 */
import type { NetworkDeployment } from '../../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Unavailable } from '../../engine/runtime/errors.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { Task } from '../../engine/runtime/task.ts';

export interface ScriptCheckDeps {
  readonly utxos: UtxoLookup;
  readonly network: NetworkDeployment;
  /** Of its Ogmios, for the message. */
  readonly url: string;
  readonly clock: Clock;
}

export interface ScriptCheckObserver {
  /** This process should end. */
  otherDevnet(message: string): void;
}

const AGAIN_MS = 1_000;

export class ScriptCheck implements Service {
  readonly name = 'script check';
  readonly #options: ScriptCheckDeps;
  readonly #observer: ScriptCheckObserver;
  readonly #task: Task;

  constructor(options: ScriptCheckDeps, observer: ScriptCheckObserver) {
    this.#options = options;
    this.#observer = observer;
    this.#task = new Task({ clock: options.clock });
  }

  start(): void {
    this.#task.start(async () => {
      do {
        const holds = await this.#look();
        if (holds === null) continue;
        if (!holds) this.#observer.otherDevnet(this.#message());
        return;
      } while (await this.#task.pause(AGAIN_MS));
    });
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** null: it cannot be asked now. */
  async #look(): Promise<boolean | null> {
    const { utxos, network } = this.#options;
    const refs = Object.values(network.complete?.scripts ?? {}).map(({ ref }) => ref);
    try {
      const states = await utxos.byRefs(refs);
      return states.every(({ state }) => state === 'unspent');
    } catch (error) {
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }

  #message(): string {
    return (
      `the devnet at ${this.#options.url} does not hold the scripts of this market: start one ` +
      'with npm start -- devnet --launchpad and the same KEYS_FILE'
    );
  }
}
