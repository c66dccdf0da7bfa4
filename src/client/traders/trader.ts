/** One wallet that takes part: one turn at a time, on what the chain says that it has. */
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Desk } from '../trade/desk.ts';
import { ApiFailure } from '../trade/failure.ts';
import { balanceOf, type OwnUtxo } from '../trade/utxo.ts';
import { type Acted, act } from './act.ts';
import type { Market } from './market.ts';
import type { Action, Lock, View } from './view.ts';

/** After so long a transaction that left no trace is forgotten: it lost a race, or paid all out. */
const UNSETTLED_MS = 12_000;

export interface TurnWorld {
  readonly nowMs: number;
  readonly market: Market;
  readonly others: readonly string[];
  readonly launchDue: boolean;
  decide(view: View, rng: Rng): Action;
}

export type Turn =
  /** Nothing to do, or its last transaction is not in a block yet. */
  | { readonly outcome: 'rested' }
  | { readonly outcome: 'acted'; readonly action: Action; readonly acted: Acted }
  | { readonly outcome: 'refused'; readonly action: string; readonly failure: ApiFailure };

export class Trader {
  readonly name: string;
  readonly desk: Desk;
  isBusy = false;
  /** What it could spend when it looked last. */
  view: View | null = null;
  readonly #rng: Rng;
  #last: { readonly txHash: string; readonly atMs: number } | null = null;
  #mayHaveLocks = true;

  constructor(name: string, desk: Desk, rng: Rng) {
    this.name = name;
    this.desk = desk;
    this.#rng = rng;
  }

  async turn(world: TurnWorld): Promise<Turn> {
    const utxos = await this.desk.client.utxos(this.desk.wallet.keyHash);
    if (utxos instanceof ApiFailure) return refused('look', utxos);
    if (!this.#isSettled(utxos, world.nowMs)) return { outcome: 'rested' };
    const locks = await this.#locks();
    if (locks instanceof ApiFailure) return refused('look', locks);
    const view = this.#see(utxos, locks, world);
    const action = world.decide(view, this.#rng);
    if (action.kind === 'rest') return { outcome: 'rested' };
    if (action.kind === 'lock') this.#mayHaveLocks = true;
    const acted = await act(this.desk, action, utxos, world.nowMs);
    if (acted instanceof ApiFailure) return refused(action.kind, acted);
    this.#last = { txHash: acted.txHash, atMs: world.nowMs };
    return { outcome: 'acted', action, acted };
  }

  #see(utxos: readonly OwnUtxo[], locks: readonly Lock[], world: TurnWorld): View {
    const { nowMs, market, others, launchDue } = world;
    const { lovelace, assets: tokens } = balanceOf(utxos);
    for (const asset of tokens.keys()) market.add(asset, nowMs);
    const holdings = { lovelace, tokens, outputs: utxos.length, locks };
    const own = this.desk.wallet.address;
    const view = {
      ...holdings,
      nowMs,
      launchDue,
      market: market.open(),
      others: others.filter((address) => address !== own),
    };
    this.view = view;
    return view;
  }

  /** Change of its last transaction shows that a block has it; before that the balance is short. */
  #isSettled(utxos: readonly OwnUtxo[], nowMs: number): boolean {
    const last = this.#last;
    if (last === null || nowMs - last.atMs > UNSETTLED_MS) return true;
    return utxos.some(({ ref }) => ref.txHash === last.txHash);
  }

  async #locks(): Promise<readonly Lock[] | ApiFailure> {
    if (!this.#mayHaveLocks) return [];
    const found = await this.desk.client.locks(this.desk.wallet.keyHash);
    if (found instanceof ApiFailure) return found.status === 404 ? [] : found;
    this.#mayHaveLocks = found.vestings.length > 0;
    return found.vestings.map(({ id, lockUntil }) => ({ id, unlockMs: Number(lockUntil) }));
  }
}

function refused(action: string, failure: ApiFailure): Turn {
  return { outcome: 'refused', action, failure };
}
