/** Vesting locks: outputs of the vesting script with a lock's datum and one token that we know. */
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { readLockData } from '../../cardano/datums/datums.ts';
import type { VestingLock } from '../../engine/market/events.ts';
import { type KnownMarket, launchedTokens } from './knownMarket.ts';
import { type Rules, scriptOf } from './rules.ts';

export function recogniseLock(
  tx: Transaction,
  index: number,
  market: KnownMarket,
  rules: Rules,
): VestingLock | null {
  const output = tx.outputs[index];
  if (output === undefined || scriptOf(output, rules) !== 'vesting') return null;
  const datum = readLockData(datumOf(output));
  const [token, ...more] = launchedTokens(output, market);
  if (datum === null || token === undefined || more.length > 0) return null;
  return {
    ref: refText({ txHash: tx.id, index }),
    token,
    amount: String(output.value.assets.get(token)),
    unlockMs: String(datum.unlockMs),
    owner: datum.owner,
    ownerAddress: formatAddress({
      network: rules.deployment.addressNetwork,
      payment: { kind: 'key', hash: datum.owner },
      stake: parseAddress(output.address)?.stake ?? null,
      pointer: false,
    }),
  };
}
