/**
 * Trust data of a token (protocol.md 10.2), counted from the transactions of the chain: each one by
 * itself, with what its inputs held and its outputs hold.
 */
import assert from 'node:assert/strict';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import type { Output } from '../../../src/cardano/codec/output.ts';
import { amountOf } from '../../../src/cardano/codec/value.ts';
import { fixed, sum } from './exact.ts';
import type { ModelChain, Order } from './modelChain.ts';
import type { ModelPools } from './modelPools.ts';

const SUPPLY = 1_000_000_000n;
const SNIPED = 3;

export class ModelTrust {
  readonly #chain: ModelChain;
  readonly #pools: ModelPools;

  constructor(chain: ModelChain, pools: ModelPools) {
    this.#chain = chain;
    this.#pools = pools;
  }

  /** `reserve`: tokens in the pool's output. */
  of(token: string, reserve: bigint) {
    const { metadata, made } = this.#pools.launch(token) ?? assert.fail(token);
    const author = metadata.author.pkh;
    const outside = SUPPLY - reserve;
    const share = (amount: bigint) =>
      outside === 0n ? '0.00' : fixed({ n: amount * 100n, d: outside }, 2);
    const unspent = [...this.#chain.outputs.values()].filter(({ spent }) => spent === null);
    const held = this.#holdings(
      token,
      unspent.map(({ output }) => output),
    );
    const group = (keys: Iterable<string>) => {
      const all = new Set(keys);
      return { keys: all.size, percent: share(sum([...all].map((key) => held.get(key) ?? 0n))) };
    };
    const buys = this.#chain.orders.filter((order) => {
      const isFilled = order.closed?.kind === 'executed';
      return order.token === token && order.isBuy && isFilled && ownerOf(order) !== author;
    });
    const bundlers = buys.filter(({ placed }) => placed.height <= made.height).map(ownerOf);
    const soon = buys.filter(({ placed }) => placed.height <= made.height + SNIPED).map(ownerOf);
    const sizes = [...held.values()].sort((a, b) => Number(b - a));
    const locked = unspent.filter(
      ({ output }) => this.#chain.scriptOf(output.address) === 'vesting',
    );
    const sold = this.#chain.orders.filter((order) => {
      const isFilled = order.closed?.kind === 'executed';
      return order.token === token && !order.isBuy && isFilled && ownerOf(order) === author;
    });
    const others = this.#chain.launches.filter((launch) => {
      return launch.metadata.author.pkh === author && launch.token !== token;
    });
    const own = { percent: share(held.get(author) ?? 0n), sold: String(sum(sold.map(amountIn))) };
    return {
      holders: held.size,
      top10Percent: share(sum(sizes.slice(0, 10))),
      largestPercent: share(sizes[0] ?? 0n),
      lockedPercent: share(sum(locked.map(({ output }) => amountOf(output.value, token)))),
      author: {
        ...own,
        launches: others.length,
        graduated: others.filter((other) => this.#pools.now(other.token).venue === 'AMM').length,
      },
      bundlers: group(bundlers),
      snipers: group(soon.filter((pkh) => !bundlers.includes(pkh))),
      insiders: group(this.#insiders(token, author, made.txHash)),
    };
  }

  /** Tokens in these outputs by payment key, or by address without one, sell orders included. */
  #holdings(token: string, outputs: Iterable<Output>): Map<string, bigint> {
    const held = new Map<string, bigint>();
    const ofOrders = new Map(
      this.#chain.orders.map((order) => [order.tx.outputs[order.index], order]),
    );
    for (const output of outputs) {
      const amount = amountOf(output.value, token);
      const order = ofOrders.get(output);
      const isOurs = this.#chain.scriptOf(output.address) !== null;
      if (amount === 0n || (isOurs && order?.token !== token)) continue;
      const payment = parseAddress(output.address)?.payment;
      const key = payment?.kind === 'key' ? payment.hash : output.address;
      const holder = order === undefined ? key : ownerOf(order);
      held.set(holder, (held.get(holder) ?? 0n) + amount);
    }
    return held;
  }

  #insiders(token: string, author: string, launchTx: string): Set<string> {
    const insiders = new Set<string>();
    for (const { transactions } of this.#chain.blocks) {
      for (const tx of transactions) {
        const inputs = [...this.#chain.outputs.values()].filter(({ spent }) => {
          return spent?.txHash === tx.id;
        });
        // A transaction that spends an output of the deployment's scripts makes no insider.
        const isPaidOut = inputs.some(
          ({ output }) => this.#chain.scriptOf(output.address) !== null,
        );
        if (isPaidOut) continue;
        const before = this.#holdings(
          token,
          inputs.map(({ output }) => output),
        );
        const after = this.#holdings(token, tx.outputs);
        const gain = (key: string) => (after.get(key) ?? 0n) - (before.get(key) ?? 0n);
        if (tx.id !== launchTx && gain(author) >= 0n) continue;
        for (const key of after.keys()) {
          const isKey = /^[0-9a-f]{56}$/.test(key);
          if (isKey && key !== author && gain(key) > 0n) insiders.add(key);
        }
      }
    }
    return insiders;
  }
}

function ownerOf({ datum }: Order): string {
  return datum.redeemer.payment.hash;
}

function amountIn({ amount }: Order): bigint {
  return amount;
}
