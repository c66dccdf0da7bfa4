/** One command of a person at work: who asks which server, what it says, and how it waits. */

import type { Desk } from '../../client/trade/desk.ts';
import { ApiFailure } from '../../client/trade/failure.ts';
import type { OwnUtxo } from '../../client/trade/utxo.ts';
import type { Clock } from '../../engine/runtime/clock.ts';

export const DONE = 0;
export const FAILED = 1;
export const MISUSED = 2;

export interface Visit {
  readonly desk: Desk;
  readonly clock: Clock;
  /** Stay until a block has it. */
  readonly wait: boolean;
  /** One line of the result. */
  say(line: string): void;
  /** One line about what went wrong. */
  complain(line: string): void;
}

const LOOK_EVERY_MS = 250;
const LONGEST_WAIT_MS = 120_000;

export function failed(visit: Visit, what: string, failure: ApiFailure): number {
  const reason = failure.reason === null ? '' : ` (${failure.reason})`;
  visit.complain(`${what}: ${failure.cause}${reason}: ${failure.message}`);
  return FAILED;
}

/** Looks at the wallet until `find` finds something; null after two minutes. */
export async function lookUntil<T>(
  { desk, clock }: Visit,
  find: (utxos: readonly OwnUtxo[]) => T | null,
): Promise<T | ApiFailure | null> {
  const endMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  for (;;) {
    const utxos = await desk.client.utxos(desk.wallet.keyHash);
    if (utxos instanceof ApiFailure) return utxos;
    const found = find(utxos);
    if (found !== null) return found;
    if (clock.monotonicMs() >= endMs) return null;
    await desk.client.transport.pause(LOOK_EVERY_MS);
  }
}

/** Waits, if asked to, until a block has the transaction: its change shows in the wallet. */
export async function settle(visit: Visit, txHash: string): Promise<number> {
  if (!visit.wait) return DONE;
  const startMs = visit.clock.monotonicMs();
  const found = await lookUntil(visit, (utxos) =>
    utxos.some(({ ref }) => ref.txHash === txHash) ? true : null,
  );
  if (found instanceof ApiFailure) return failed(visit, 'waiting for the block', found);
  if (found === null) {
    visit.complain(`No block has ${txHash} yet; it may still come.`);
    return FAILED;
  }
  visit.say(`In a block after ${seconds(visit.clock.monotonicMs() - startMs)}.`);
  return DONE;
}

/** Waits until the market knows a token that was launched. */
export function untilListed(visit: Visit, asset: string): Promise<number> {
  return untilShown(visit, async ({ client }) => {
    const pools = await client.pools('New');
    return !(pools instanceof ApiFailure) && pools.some((pool) => pool.info.asset === asset);
  });
}

/** As `untilListed`, for the locks that a transaction makes. */
export function untilLocked(visit: Visit, txHash: string): Promise<number> {
  return untilShown(visit, async ({ client, wallet }) => {
    const found = await client.locks(wallet.keyHash);
    return !(found instanceof ApiFailure) && found.vestings.some(({ id }) => id.startsWith(txHash));
  });
}

async function untilShown(
  { desk, clock }: Visit,
  isShown: (desk: Visit['desk']) => Promise<boolean>,
): Promise<number> {
  const endMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  while (clock.monotonicMs() < endMs && !(await isShown(desk))) {
    await desk.client.transport.pause(LOOK_EVERY_MS);
  }
  return DONE;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
