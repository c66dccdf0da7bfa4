import type { JsonObject } from '../../cardano/codec/json.ts';
import type { RefusalReason } from '../../cardano/ledger/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { beginningOf, messageOf } from '../../engine/runtime/errors.ts';
import type { NodeFaultKind } from './observer.ts';

/** Why a connection ended; its user opens another one. */
export class NodeFault extends Error {
  readonly fault: NodeFaultKind;

  constructor(fault: NodeFaultKind, message: string) {
    super(message);
    this.fault = fault;
  }

  /** From an error of the socket, or one thrown while a message was read. */
  static of(error: unknown, where = ''): NodeFault {
    if (error instanceof NodeFault) return error;
    const words = messageOf(error);
    if (/max payload size/i.test(words)) {
      return new NodeFault('oversized', `a message is larger than allowed: ${words}`);
    }
    if (isFault(error, 'unreadableMessage')) {
      const cause: NodeFaultKind = words.startsWith('no JSON') ? 'garbage' : 'unreadable';
      return new NodeFault(cause, `${words}${where}`);
    }
    return new NodeFault('closed', `${words}${where}`);
  }
}

/** The node understood the request and refused it. */
export class NodeRefusal extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const WORDS: readonly (readonly [RefusalReason, string, readonly number[]])[] = [
  ['MALFORMED', 'This is no transaction', [-32600, -32602, 3005, 3121]],
  ['BAD_SIGNATURE', 'A signature is wrong', [3100]],
  ['SIGNATURE_MISSING', 'A signature is missing', [3101, 3103]],
  ['SCRIPT_FAILED', 'A script failed', [3010, 3012, 3136, 3161]],
  ['INPUT_SPENT', 'An input is spent or unknown', [3117]],
  ['EXPIRED', 'It is not valid any more', [3118]],
  ['NOT_YET_VALID', 'It is not valid yet', [3130]],
  ['VALUE_NOT_CONSERVED', 'Inputs and outputs differ', [3123]],
  ['FEE_TOO_SMALL', 'The fee is too small', [3122]],
  ['OUTPUT_TOO_SMALL', 'An output holds too little ADA', [3125]],
  ['LIMITS_EXCEEDED', 'Too large', [3119, 3120, 3126, 3134, 3166]],
  ['COLLATERAL', 'Bad collateral', [3128, 3129, 3131, 3132, 3133, 3135]],
];

/** Names a spent input, perhaps spent by the same transaction. */
export const UNKNOWN_INPUTS = 3117;
/** A refusal of the mempool: it is full, or all inputs are spent. */
export const MEMPOOL_REFUSES = 3997;

const REFUSED = ['REFUSED', 'The node refuses it'] as const;
const LONGEST_TEXT = 600;

/** The reason, and a message for a person that keeps the node's words. Source: Ogmios's schema. */
export function refusalOf(refusal: NodeRefusal) {
  const { code, message, data } = refusal;
  const [reason, said] = wordsOf(refusal);
  const more = data === undefined ? '' : ` ${beginningOf(jsonOf(data), LONGEST_TEXT)}`;
  return {
    outcome: 'refused',
    reason,
    message: `${withoutRepeat(said, beginningOf(message, LONGEST_TEXT))} (${code})${more}`,
  } as const;
}

/** A node that says the same in the same words is not quoted twice. */
function withoutRepeat(said: string, message: string): string {
  return message.toLowerCase().startsWith(said.toLowerCase()) ? message : `${said}: ${message}`;
}

function wordsOf({ code, data }: NodeRefusal): readonly [RefusalReason, string] {
  const text = jsonOf(data);
  if (code === MEMPOOL_REFUSES) {
    if (/full|capacity/i.test(text)) return ['MEMPOOL_FULL', 'The mempool is full: try again'];
    if (/inputs are spent|already been included/i.test(text)) {
      return ['INPUT_SPENT', 'All inputs are spent'];
    }
  }
  if (code === 3118 && isEarly(data)) return ['NOT_YET_VALID', 'It is not valid yet'];
  const [reason, said] = WORDS.find(([, , codes]) => codes.includes(code)) ?? REFUSED;
  return [reason, said];
}

function isEarly(data: unknown): boolean {
  const { currentSlot, validityInterval } = membersOf(data);
  return Number(currentSlot) < Number(membersOf(validityInterval).invalidBefore);
}

/** The object's members; empty for any other value. */
function membersOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function jsonOf(data: unknown): string {
  return JSON.stringify(data) ?? '';
}
