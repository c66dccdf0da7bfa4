/**
 * Whether a transaction that was built before may be answered again under the same
 * `Idempotency-Key` (protocol.md section 9.4): while a block can still take it, or once it was
 * accepted. An accepted transaction is answered again even after its end, because a new one would
 * have the effect twice.
 */
import { fromHex } from '../../cardano/codec/hex.ts';
import { decodeTransaction } from '../../cardano/codec/transaction.ts';
import { LAUNCH_TYPES } from '../../cardano/datums/metadata.ts';
import type { Answer, Idempotency } from '../gateway/port.ts';
import { SERVER_WALLET, type TxBuildContext } from './txBuildContext.ts';
import { DEFAULT_TTL_SECONDS } from './validity.ts';

type Lookups = Pick<TxBuildContext, 'utxos' | 'clock'>;

/** Fields of the routes that build, and the value that means what their absence does. */
const LIKE_ABSENT = {
  utxos: SERVER_WALLET,
  collaterals: [],
  assets: [],
  launchType: LAUNCH_TYPES[0],
  initialDeposit: '0',
  ttl: DEFAULT_TTL_SECONDS,
};

/** Settings of `Idempotency-Key` that all building routes share. */
export function builtBefore(lookups: Lookups): Pick<Idempotency, 'isCurrent' | 'likeAbsent'> {
  return { isCurrent: (answer) => mayRepeat(lookups, answer), likeAbsent: LIKE_ABSENT };
}

async function mayRepeat({ utxos, clock }: Lookups, { body }: Answer): Promise<boolean> {
  // trust: the answer of a building route
  const built = JSON.parse(String(body)) as { cbor: string; validUntil: number | null };
  const { id, inputs, collateralInputs } = decodeTransaction(fromHex(built.cbor));
  const own = { txHash: id, index: 0 };
  const [made, ...spent] = await utxos.byRefs([own, ...inputs, ...collateralInputs]);
  if (made !== undefined && made.state !== 'unknown') return true;
  const { validUntil } = built;
  const isOver = validUntil !== null && clock.nowMs() >= validUntil;
  return !isOver && spent.every(({ state }) => state === 'unspent');
}
