/** Transactions as a server might build them, honest or not, and a server of scripted answers. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Address,
  formatAddress,
  parseAddress,
  scriptAddress,
} from '../../../src/cardano/codec/address.ts';
import { toHex } from '../../../src/cardano/codec/hex.ts';
import type { Output } from '../../../src/cardano/codec/output.ts';
import { encodePlutusData, type PlutusData } from '../../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins, type Value } from '../../../src/cardano/codec/value.ts';
import { lockData, type OrderDatum, orderData } from '../../../src/cardano/datums/datums.ts';
import { KeyWallet } from '../../../src/client/trade/wallet.ts';
import { assert } from '../../../src/engine/runtime/assert.ts';

export const WALLET = new KeyWallet(
  { payment: '11'.repeat(32), stake: '22'.repeat(32) },
  'testnet',
);
export const STRANGER = new KeyWallet({ payment: '33'.repeat(32), stake: null }, 'testnet');
export const TOKEN = `${'ab'.repeat(28)}.544f4b`;
export const OTHER_TOKEN = `${'cd'.repeat(28)}.4f54`;
export const OWN: Address = parsed(WALLET.address);
/** Where orders and locks of the wallet lie: a script with its stake part. */
export const SCRIPT = scriptAddress('testnet', '77'.repeat(28), OWN.stake);
/** A script of another market. */
export const OTHER_SCRIPT = scriptAddress('testnet', '78'.repeat(28), OWN.stake);
export const ORDER_REF = { txHash: '99'.repeat(32), index: 3 };

function parsed(text: string): Address {
  const address = parseAddress(text);
  assert(address !== null, 'a wallet has an address');
  return address;
}

export function output(address: string, value: Value, data?: PlutusData): Output {
  const datum = data === undefined ? null : toHex(encodePlutusData(data));
  return { address, value, datum, scriptHash: null, cbor: '' };
}

export function change(lovelace = 100_000_000n): Output {
  return output(WALLET.address, coins(lovelace));
}

export function transaction(outputs: readonly Output[], more: Partial<Transaction> = {}) {
  const body: Transaction = {
    id: '00'.repeat(32),
    bytes: new Uint8Array(),
    body: new Uint8Array(),
    witnessSet: new Uint8Array(),
    isValid: true,
    inputs: [ORDER_REF],
    referenceInputs: [],
    collateralInputs: [],
    outputs,
    collateralReturn: null,
    totalCollateralLovelace: null,
    feeLovelace: 180_000n,
    mint: new Map(),
    validFromSlot: null,
    validToSlot: null,
    requiredSigners: [],
    hasCertificates: false,
    hasWithdrawals: false,
    redeemers: [],
    keyWitnesses: [],
  };
  return { ...body, ...more };
}

export const BUY_DATUM: OrderDatum = {
  redeemer: OWN,
  input: '.',
  output: TOKEN,
  worstPrice: { numerator: 17n, denominator: 100n },
  feeLovelace: 1_100_000n,
  depositLovelace: 1_500_000n,
  executor: '55'.repeat(28),
  refundAfterMs: 1_700_000_000_000n,
  owner: WALLET.keyHash,
  poolNft: `${'77'.repeat(28)}.${'88'.repeat(32)}`,
};

export function orderOutput(datum: Partial<OrderDatum>, value: Value, address = SCRIPT): Output {
  return output(address, value, orderData({ ...BUY_DATUM, ...datum }));
}

export function lockOutput(amount: bigint, unlockMs: number, owner = WALLET.keyHash): Output {
  const value = asValue(2_000_000n, [[TOKEN, amount]]);
  return output(SCRIPT, value, lockData({ unlockMs: BigInt(unlockMs), owner }));
}

export function stakeless(address: Address): string {
  return formatAddress({ ...address, stake: null });
}

interface Scripted {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** Answers one after the other; the last one again and again. null: no answer at all. */
export async function scriptedServer(
  scope: { after(run: () => Promise<void> | void): void },
  answers: readonly (Scripted | null)[],
) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request);
    request.resume();
    if (answer === undefined || answer === null) return;
    response.writeHead(answer.status, answer.headers);
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // trust: a TCP server has an address with a port
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, asked };
}
