/**
 * A node's refusal of certificates, votes and proposals if nothing is registered: the devnet has no
 * stake keys, pools, representatives or committee. null: a node would accept it, or refuses it for
 * another reason. Source: Conway's rules CERTS and GOV.
 */
import { bech32 } from '@scure/base';
import {
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  numberOf,
  setElementsOf,
} from '../../cardano/codec/cbor.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import { adaJson } from '../../cardano/codec/outputJson.ts';
import type { JudgedTransaction, RuleFailure } from './judged.ts';

const KEY_DEPOSIT_LOVELACE = 2_000_000n;

const UNKNOWN_CREDENTIAL = 3146;
const UNKNOWN_STAKE_POOL = 3140;
const UNKNOWN_REPRESENTATIVE = 3153;
const UNKNOWN_MEMBER = 3154;
const WRONG_KEY_DEPOSIT = 3151;
const UNKNOWN_PROPOSALS = 3138;

/** Kinds of certificates, grouped by the registration that they need first. */
const NEEDS_CREDENTIAL = [1, 2, 8, 9, 10];
const REGISTERS_WITH_KEY_DEPOSIT = 7;
const RETIRES_STAKE_POOL = 4;
/** Registers a key and delegates to a pool: the pool stands third. */
const REGISTERS_AND_DELEGATES = [11, 13];
const NEEDS_MEMBER = [14, 15];
const NEEDS_REPRESENTATIVE = [17, 18];

export function certificateFault(judged: JudgedTransaction): RuleFailure | null {
  const { body } = judged.tx;
  const list = judged.field(4);
  for (const certificate of list === undefined ? [] : setElementsOf(list)) {
    const found = faultOf(body, elementsOf(certificate));
    if (found !== null) return found;
  }
  return null;
}

function faultOf(body: Uint8Array, [kind, first, second]: readonly Item[]): RuleFailure | null {
  if (kind === undefined || first === undefined) return null;
  const number = numberOf(body, kind);
  if (NEEDS_CREDENTIAL.includes(number)) {
    const { id, from } = credentialOf(body, first);
    return { code: UNKNOWN_CREDENTIAL, data: { unknownCredential: id, from } };
  }
  if (number === RETIRES_STAKE_POOL) return stakePoolUnknown(body, first);
  if (REGISTERS_AND_DELEGATES.includes(number) && second !== undefined) {
    return stakePoolUnknown(body, second);
  }
  if (NEEDS_MEMBER.includes(number)) {
    const member = credentialOf(body, first);
    return { code: UNKNOWN_MEMBER, data: { unknownConstitutionalCommitteeMember: { ...member } } };
  }
  if (NEEDS_REPRESENTATIVE.includes(number)) {
    const representative = { ...credentialOf(body, first), type: 'registered' };
    return {
      code: UNKNOWN_REPRESENTATIVE,
      data: { unknownDelegateRepresentative: representative },
    };
  }
  if (number !== REGISTERS_WITH_KEY_DEPOSIT || second === undefined) return null;
  const deposit = integerOf(body, second);
  if (deposit === KEY_DEPOSIT_LOVELACE) return null;
  const expectedDeposit = adaJson(KEY_DEPOSIT_LOVELACE);
  return { code: WRONG_KEY_DEPOSIT, data: { providedDeposit: adaJson(deposit), expectedDeposit } };
}

function stakePoolUnknown(body: Uint8Array, pool: Item): RuleFailure {
  const unknownStakePool = bech32.encode('pool', bech32.toWords(bytesOf(body, pool)), 200);
  return { code: UNKNOWN_STAKE_POOL, data: { unknownStakePool } };
}

function credentialOf(body: Uint8Array, item: Item): { id: string; from: string } {
  const [kind, hash] = elementsOf(item);
  if (kind === undefined || hash === undefined) return { id: '', from: 'verificationKey' };
  const from = numberOf(body, kind) === 0 ? 'verificationKey' : 'script';
  return { id: toHex(bytesOf(body, hash)), from };
}

/** Deposits of key registrations, which the transaction has to balance. */
export function keyDepositsLovelace(judged: JudgedTransaction): bigint {
  const { body } = judged.tx;
  const list = judged.field(4);
  return (list === undefined ? [] : setElementsOf(list)).reduce((sum, certificate) => {
    const [kind, , deposit] = elementsOf(certificate);
    const number = kind === undefined ? null : numberOf(body, kind);
    if (number === 0) return sum + KEY_DEPOSIT_LOVELACE;
    return number === REGISTERS_WITH_KEY_DEPOSIT && deposit ? sum + integerOf(body, deposit) : sum;
  }, 0n);
}

/** Votes name proposals, of which there is none. */
export function voteFault(judged: JudgedTransaction): RuleFailure | null {
  const { body } = judged.tx;
  const votes = judged.field(19);
  if (votes === undefined) return null;
  const unknownProposals = entriesOf(votes).flatMap(([, voted]) =>
    entriesOf(voted).flatMap(([action]) => {
      const [hash, index] = elementsOf(action);
      if (hash === undefined || index === undefined) return [];
      return { transaction: { id: toHex(bytesOf(body, hash)) }, index: numberOf(body, index) };
    }),
  );
  return { code: UNKNOWN_PROPOSALS, data: { unknownProposals } };
}

/** A proposal's deposit goes back to an account, and none is registered. */
export function proposalFault(judged: JudgedTransaction): RuleFailure | null {
  const { body } = judged.tx;
  const list = judged.field(20);
  const [proposal] = list === undefined ? [] : setElementsOf(list);
  const account = proposal && elementsOf(proposal)[1];
  if (account === undefined) return null;
  const bytes = bytesOf(body, account);
  const from = ((bytes[0] ?? 0) & 0x10) === 0 ? 'verificationKey' : 'script';
  return {
    code: UNKNOWN_CREDENTIAL,
    data: { unknownCredential: toHex(bytes.subarray(1)), from },
  };
}
