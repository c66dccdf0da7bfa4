/** What `/matches` is asked: a pattern, and the filters of its query string. */
import type { KupoReader } from './kupoReader.ts';
import { type Pattern, readPattern } from './pattern.ts';

const HASH = /^[0-9a-f]{64}$/;
const POLICY = /^[0-9a-f]{56}$/;
const NAME = /^(?:[0-9a-f]{2}){0,32}$/;

/** A text says what is wrong. */
export function readQuestion(
  text: string,
  params: URLSearchParams,
  reader: KupoReader,
): Pattern | string {
  const pattern = readPattern(text);
  if (pattern === null) {
    return 'Invalid pattern! An address, payment/delegation, policy.asset, index@transaction or *.';
  }
  if (params.has('spent') && params.has('unspent')) return 'spent and unspent exclude each other.';
  const status = params.has('unspent') ? 'unspent' : params.has('spent') ? 'spent' : undefined;
  const more = {
    txHash: params.get('transaction_id') ?? pattern.txHash,
    index: params.has('output_index') ? Number(params.get('output_index')) : pattern.index,
    policy: params.get('policy_id') ?? pattern.policy,
    assetName: params.get('asset_name') ?? pattern.assetName,
  };
  if (more.txHash !== undefined && !HASH.test(more.txHash))
    return 'transaction_id is 64 hex digits.';
  if (more.policy !== undefined && !POLICY.test(more.policy)) return 'policy_id is 56 hex digits.';
  if (more.assetName !== undefined && !NAME.test(more.assetName)) return 'asset_name is hex.';
  if (more.assetName !== undefined && more.policy === undefined)
    return 'asset_name wants policy_id.';
  if (more.index !== undefined && !Number.isSafeInteger(more.index))
    return 'output_index is a number.';
  const order = params.get('order') ?? 'most_recent_first';
  if (order !== 'most_recent_first' && order !== 'oldest_first') {
    return 'order is most_recent_first or oldest_first.';
  }
  const made = range(params, 'created', reader);
  const spent = range(params, 'spent', reader);
  if (typeof made === 'string') return made;
  if (typeof spent === 'string') return spent;
  return { ...pattern, ...more, status, made, spent, oldestFirst: order === 'oldest_first' };
}

/** Slots or points (`slot.hash`) as heights: after is exclusive, before too. */
function range(
  params: URLSearchParams,
  what: 'created' | 'spent',
  reader: KupoReader,
): readonly [number, number] | undefined | string {
  const after = params.get(`${what}_after`);
  const before = params.get(`${what}_before`);
  if (after === null && before === null) return undefined;
  const slots = [after ?? '-1', before ?? String(Number.MAX_SAFE_INTEGER)].map((text) => {
    return /^(-1|\d{1,16})(\.[0-9a-f]{64})?$/.test(text) ? Number(text.split('.')[0]) : null;
  });
  const [from, to] = slots;
  if (from === null || to === null || from === undefined || to === undefined) {
    return `${what}_after and ${what}_before are slots.`;
  }
  return [reader.heightAfter(from), reader.heightBefore(to)];
}
