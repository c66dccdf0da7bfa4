/**
 * The books of a chain, from its file alone: every transaction decoded again, its inputs looked up,
 * sums compared. The market's arithmetic repeats the executor's work, order by order.
 */
import assert from 'node:assert/strict';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { datumOf, type Output, refText } from '../../../src/cardano/codec/output.ts';
import { Constr } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import {
  addValues,
  amountOf,
  asValue,
  coins,
  equalValues,
} from '../../../src/cardano/codec/value.ts';
import { readAmmData, readOrderData, readPoolData } from '../../../src/cardano/datums/datums.ts';
import {
  capLovelace,
  type Deployment,
  settingsNft,
} from '../../../src/cardano/datums/deployment.ts';
import { FUNDING } from '../../../src/cardano/validators/genesis.ts';
import { LedgerFile } from '../../../src/devnet/ledgerFile.ts';
import { buy, sell } from '../../../src/engine/market/exchange.ts';
import { fillIncomeLovelace } from '../../../src/engine/market/fees.ts';
import { graduated, type PoolState, poolLovelace } from '../../../src/engine/market/pool.ts';

const ADA = 1_000_000n;

export interface Books {
  readonly transactions: number;
  readonly networkFees: bigint;
  /** The platform's income by the fee table, before the executor's network fees. */
  readonly earned: bigint;
  /** Network fees that the fee address paid. */
  readonly paid: bigint;
  readonly counts: Readonly<Record<string, number>>;
}

interface Step {
  readonly tx: Transaction;
  readonly slot: number;
  readonly txIndex: number;
  readonly inputs: readonly Output[];
}

class Auditor {
  readonly #deployment: Deployment;
  readonly #placedAt = new Map<string, [number, number, number]>();
  readonly counts: Record<string, number> = {};
  earned = 0n;
  paid = 0n;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** Takes one transaction in, in chain order. */
  take(step: Step): void {
    const { tx, slot, txIndex } = step;
    for (const [index, output] of tx.outputs.entries()) {
      if (this.#scriptOf(output) === 'order') {
        this.#placedAt.set(refText({ txHash: tx.id, index }), [slot, txIndex, index]);
      }
    }
    const { executorKeyHash, feeKeyHash } = this.#deployment;
    if (tx.requiredSigners.includes(executorKeyHash)) this.#executed(step);
    else if (this.#isConsolidation(step)) {
      this.earned -= tx.feeLovelace;
      this.#count('consolidation');
    } else {
      const got = this.#atFeeAddress(tx.outputs);
      assert.equal(
        this.#atFeeAddress(step.inputs),
        0n,
        `no other transaction spends of ${feeKeyHash}`,
      );
      const isLaunch = tx.mint.size > 0;
      assert.equal(got, isLaunch ? this.#launchFee(step) : 0n);
      if (isLaunch) this.#count('launch');
      this.earned += got;
    }
  }

  /** The fee address pays itself, and the network for it. */
  #isConsolidation({ tx, inputs }: Step): boolean {
    const { feeAddress } = this.#deployment;
    return [...inputs, ...tx.outputs].every(({ address }) => address === feeAddress);
  }

  #launchFee({ tx }: Step): bigint {
    const { fees, curve } = this.#deployment;
    const pool = tx.outputs.find((output) => this.#scriptOf(output) === 'curvePool');
    assert(pool !== undefined && [...tx.mint.values()].includes(curve.supply));
    // Written again: the table's own words.
    const share = 500_000n + (pool.value.lovelace - fees.poolKeepLovelace) / 100n;
    return share > ADA ? share : ADA;
  }

  #executed(step: Step): void {
    const { tx, inputs } = step;
    const { fees } = this.#deployment;
    const at = inputs.findIndex((input) => /Pool$/.test(this.#scriptOf(input) ?? ''));
    const before = inputs[at];
    const after = tx.outputs[at];
    const orders = this.#orders(step);
    let income = 0n;
    let state = before === undefined ? null : this.#poolOf(before);
    for (const { isRefund, data, input, payment } of orders) {
      if (isRefund) {
        const back = addValues(payment.value, coins(fees.refundFeeLovelace));
        assert(equalValues(back, input.value), 'a refund is all but its fee');
        income += fees.refundFeeLovelace;
        this.#count('refund');
        continue;
      }
      assert(state !== null, 'fills have a pool');
      const token = data.input === '.' ? data.output : data.input;
      const onTop = data.feeLovelace + data.depositLovelace;
      const filled =
        data.input === '.'
          ? buy(state, fees, input.value.lovelace - onTop)
          : sell(state, fees, amountOf(input.value, token));
      assert(filled.outcome === 'exchange', 'the market’s arithmetic fills it too');
      const { outputAmount, next } = filled;
      const due =
        data.input === '.'
          ? asValue(data.depositLovelace, [[token, outputAmount]])
          : coins(data.depositLovelace + outputAmount);
      assert(equalValues(payment.value, due), 'the payment is the quote’s');
      income += fillIncomeLovelace(data.feeLovelace, filled.shares);
      state = next;
      this.#count(`fill ${state.venue}`);
    }
    if (state !== null && after !== undefined) this.#succeeds(state, before, after, orders.length);
    const [got, put] = [this.#atFeeAddress(tx.outputs), this.#atFeeAddress(inputs)];
    assert.equal(got - put, income - tx.feeLovelace, `fees of ${tx.id}`);
    this.earned += income;
    this.paid += tx.feeLovelace;
  }

  /** The pool's next output is right by the arithmetic: trades, graduation or Collect. */
  #succeeds(state: PoolState, before: Output | undefined, after: Output, orders: number): void {
    const { fees } = this.#deployment;
    const found = this.#poolOf(after);
    if (orders > 0) {
      assert.deepEqual(found, state);
    } else if (state.venue === 'CURVE') {
      assert.deepEqual(found, graduated(state));
      assert(before !== undefined && equalValues(before.value, after.value), 'to the lovelace');
      this.#count('graduation');
    } else {
      assert.deepEqual(found, { ...state, owed: 0n });
      this.#count('collect');
    }
    assert.equal(after.value.lovelace, poolLovelace(found, fees));
  }

  /** Orders that it spends, in the order of their placement. */
  #orders({ tx, inputs }: Step) {
    const orders = inputs.flatMap((input, index) => {
      if (this.#scriptOf(input) !== 'order') return [];
      const data = readOrderData(datumOf(input), 'testnet');
      const payment = tx.outputs[index];
      const redeemer = tx.redeemers.find((one) => one.purpose === 'spend' && one.index === index);
      const placed = this.#placedAt.get(refText(tx.inputs[index] ?? assert.fail()));
      assert(data !== null && payment !== undefined && placed !== undefined);
      assert(redeemer?.data instanceof Constr);
      return [{ data, input, payment, placed, isRefund: redeemer.data.index === 2 }];
    });
    const key = ([slot, txIndex, index]: [number, number, number]) =>
      slot * 1e8 + txIndex * 1e4 + index;
    return orders.sort((a, b) => key(a.placed) - key(b.placed));
  }

  #poolOf(output: Output): PoolState {
    const { fees, curve, thresholdLovelace } = this.#deployment;
    const x = output.value.lovelace - fees.poolKeepLovelace;
    const data = readPoolData(datumOf(output));
    if (data !== null) {
      assert.equal(data.capLovelace, capLovelace(this.#deployment));
      const y = amountOf(output.value, data.token);
      return { venue: 'CURVE', x, y, curve, thresholdLovelace };
    }
    const amm = readAmmData(datumOf(output));
    assert(amm !== null, 'a pool has the datum of one');
    const { owedLovelace: owed, token } = amm;
    return {
      venue: 'AMM',
      x: x - owed,
      y: amountOf(output.value, token),
      owed,
      supply: curve.supply,
    };
  }

  #scriptOf({ address }: Output): string | null {
    const hash = parseAddress(address)?.payment.hash;
    const { scripts } = this.#deployment;
    return Object.entries(scripts).find(([, script]) => script.hash === hash)?.[0] ?? null;
  }

  #atFeeAddress(outputs: readonly Output[]): bigint {
    const { feeAddress } = this.#deployment;
    const own = outputs.filter(({ address }) => address === feeAddress);
    return own.reduce((sum, { value }) => sum + value.lovelace, 0n);
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** Fails where a lovelace or a token appears or vanishes, or a fee is not the table's. */
export function audit(ledgerFile: string, deployment: Deployment): Books {
  const file = new LedgerFile(ledgerFile);
  try {
    return auditFile(file, deployment);
  } finally {
    file.close();
  }
}

function auditFile(file: LedgerFile, deployment: Deployment): Books {
  const auditor = new Auditor(deployment);
  const known = new Set<string>();
  /** Outputs that no transaction made. */
  const genesis = new Map<string, Output>();
  let networkFees = 0n;
  const minted = new Map<string, bigint>();
  for (let height = 1; height <= (file.tip()?.height ?? 0); height += 1) {
    const { slot } = file.head(height) ?? assert.fail(`block ${height}`);
    for (const [txIndex, { bytes }] of file.transactionsOf(height).entries()) {
      const tx = decodeTransaction(bytes);
      const inputs = tx.inputs.map((ref) => {
        const output = file.output(ref)?.utxo.output ?? assert.fail(`${refText(ref)} is known`);
        if (!known.has(ref.txHash)) genesis.set(refText(ref), output);
        return output;
      });
      known.add(tx.id);
      assert(tx.isValid, 'no script failed');
      const put = addValues(...inputs.map(({ value }) => value), asValue(0n, tx.mint));
      const got = addValues(...tx.outputs.map(({ value }) => value), coins(tx.feeLovelace));
      assert(equalValues(put, got), `${tx.id} conserves value`);
      auditor.take({ tx, slot, txIndex, inputs });
      for (const [asset, amount] of tx.mint) {
        minted.set(asset, (minted.get(asset) ?? 0n) + amount);
      }
      networkFees += tx.feeLovelace;
    }
  }
  const unspent = [...file.unspent()];
  for (const { ref, output } of unspent) {
    if (!known.has(ref.txHash)) genesis.set(refText(ref), output);
  }
  const initial = file.genesisOutputs().map(({ ref }) => refText(ref));
  assert.deepEqual(
    [...genesis.keys()].sort(),
    initial.sort(),
    'all else was there at the beginning',
  );
  const began = addValues(...[...genesis.values()].map(({ value }) => value));
  const settings = settingsNft(deployment.settings);
  assert.deepEqual([...began.assets], [[settings, 1n]]);
  const held = addValues(...unspent.map(({ output }) => output.value));
  assert.equal(held.lovelace + networkFees, began.lovelace, 'no lovelace came or went');
  const made = [...minted, ...began.assets].sort();
  assert.deepEqual(new Map([...held.assets].sort()), new Map(made));
  const launches = auditor.counts.launch ?? 0;
  assert.equal(minted.size, 2 * launches, 'a token and an NFT for each launch, nothing else');
  const fee = unspent.filter(({ output }) => output.address === deployment.feeAddress);
  const kept = fee.reduce((sum, { output }) => sum + output.value.lovelace, 0n);
  const funding = BigInt(FUNDING.outputs) * FUNDING.lovelace;
  assert.equal(kept - funding, auditor.earned - auditor.paid, 'the fee address has what is due');
  const { earned, paid, counts } = auditor;
  return { transactions: known.size, networkFees, earned, paid, counts };
}
