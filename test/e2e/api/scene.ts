/**
 * A crowd at work by script: everything that a market can show, in some thirty blocks. At the end
 * nothing waits in the mempool, and the orders that are open cannot be filled.
 */
import assert from 'node:assert/strict';
import type { OrderRequest, TradingClient } from '../../../src/client/trade/tradingClient.ts';
import { ADA, type DevnetWorld, launchOf } from '../devnet/world.ts';
import { settle } from './rest.ts';

export const REFUND_AFTER_MS = 60_000;

type Side = OrderRequest['side'];

export class Scene {
  readonly world: DevnetWorld;
  readonly traders: readonly TradingClient[];
  /** Orders that cannot be filled. */
  readonly stranded = new Set<string>();

  private constructor(world: DevnetWorld, traders: readonly TradingClient[]) {
    this.world = world;
    this.traders = traders;
  }

  /** Ann and Ben launch and trade, Cid trades, Dan is given things, Eve is rich. */
  static async play(world: DevnetWorld): Promise<Scene> {
    const ann = await world.funded('ann', 900, 6);
    const ben = await world.funded('ben', 900, 6, false);
    const cid = await world.funded('cid', 900, 4);
    const dan = await world.funded('dan', 50, 2);
    const eve = await world.funded('eve', 9_999, 4);
    const scene = new Scene(world, [ann, ben, cid, dan, eve]);
    const socials = { twitter: 'https://x.example/alpha', website: 'https://alpha.example' };
    const first = { name: 'Alpha', ticker: 'ALF', initialLovelace: 80n * ADA, ...socials };
    const { asset: alpha } = await world.launch(ann, first);
    const hyped = { name: 'Beta', ticker: 'ALPHA', launchType: 'HYPED', assetType: 'AI' } as const;
    const { asset: beta } = await world.launch(ben, hyped);
    // Two in one block: one is on top for a while, the other never traded.
    const whole = { name: 'Alphabet', ticker: 'abc', initialLovelace: 250n * ADA };
    const { asset: gamma } = await cid.launch(launchOf(whole));
    await ben.launch(launchOf({ name: 'über ’90%_', ticker: 'U' }));
    await world.mine();
    await scene.rounds([ann, ben, cid], [alpha, beta, gamma]);
    await scene.cancelAndExpire([ann, ben, eve], alpha);
    await scene.lockAndSend([ann, ben, dan], alpha, beta);
    await scene.graduate(eve, ann, alpha);
    await scene.tradeOnAmm([ann, ben, eve], alpha);
    await scene.strand([ann, ben, cid, eve], beta);
    await settle(world);
    return scene;
  }

  get pkhs(): string[] {
    return this.traders.map(({ wallet }) => wallet.keyHash);
  }

  /** Orders of several people on several tokens, filled in batches. */
  async rounds(traders: readonly TradingClient[], tokens: readonly string[]): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      const placed: string[] = [];
      for (const [index, token] of tokens.entries()) {
        const [some] = traders;
        // First: it offers the present price of the tokens, so after a buy it would wait.
        if (some !== undefined && round === 1) {
          placed.push(await this.ask(some, token, 'BUY_WITH_OUTPUT', 543_210n));
        }
        for (const [who, trader] of traders.entries()) {
          const amount = BigInt(7 + 3 * round + 2 * who + index) * ADA + BigInt(round);
          if (round === 2 && who === index) continue;
          placed.push(await this.ask(trader, token, 'BUY', amount));
        }
        const seller = traders[(index + round) % traders.length];
        if (seller !== undefined && round > 0) {
          placed.push(await this.ask(seller, token, 'SELL', 1_234_567n + BigInt(round)));
        }
      }
      await this.fill(placed);
    }
  }

  /** Orders whose price is gone: one cancelled, one given back when it is due. */
  async cancelAndExpire([ann, ben, eve]: readonly TradingClient[], token: string): Promise<void> {
    assert(ann !== undefined && ben !== undefined && eve !== undefined);
    const { world } = this;
    const early = await this.ask(ann, token, 'BUY', 4n * ADA);
    await world.mine();
    await world.wanted(early);
    const big = await this.ask(eve, token, 'BUY', 3_000n * ADA);
    const one = await this.ask(ann, token, 'BUY', 5n * ADA, '15');
    const two = await this.ask(ben, token, 'BUY', 6n * ADA, '30');
    await this.fill([big]);
    await ann.cancel(one);
    await world.mine();
    const { refundAfterMs } = world.order(two);
    await world.mine(Math.ceil((refundAfterMs - world.nowMs) / 1000));
    await world.spent(two);
  }

  async lockAndSend(
    [ann, ben, dan]: readonly TradingClient[],
    alpha: string,
    beta: string,
  ): Promise<void> {
    assert(ann !== undefined && ben !== undefined && dan !== undefined);
    const { world } = this;
    const soon = { amount: 1001n, stages: 3, lockEndMs: world.nowMs + 6_000 };
    await ann.lock({ assetId: alpha, ...soon });
    await ben.lock({ assetId: beta, ...soon, stages: 1, lockEndMs: world.nowMs + 9e9 });
    await world.mine(4);
    const [lock] = (await ann.locks()).toSorted((a, b) => {
      return Number(a.lockUntil) - Number(b.lockUntil);
    });
    await ann.withdraw(lock?.id ?? assert.fail('there is a lock'));
    await world.mine();
    // To another person, to the same key at another address, and from there on to be sold.
    const enterprise = world.trader('ann', false).wallet.address;
    for (const [to, tokens] of [
      [dan.wallet.address, 800_000n],
      [enterprise, 77n],
    ] as const) {
      const assets = new Map([[alpha, tokens]]);
      await ann.transfer({ to, lovelace: 2n * ADA, assets });
      await world.mine();
    }
    await this.fill([await this.ask(dan, alpha, 'BUY', 2n * ADA)]);
    await this.fill([await this.ask(dan, alpha, 'SELL', 799_999n)]);
  }

  /** The cap is reached while an order arrives, which fills on the AMM. */
  async graduate(eve: TradingClient, ann: TradingClient, token: string): Promise<void> {
    const { world } = this;
    const { reserves, thresholdLovelace } = world.pool(token);
    const missing = BigInt(thresholdLovelace) - BigInt(reserves.x);
    const last = await this.ask(eve, token, 'BUY', (missing * 100n) / 99n + 2n, '15');
    const late = await this.ask(ann, token, 'SELL', 345_678n);
    await this.fill([last]);
    await this.fill([late]);
    assert.equal(world.pool(token).reserves.venue, 'AMM');
    assert.equal(world.order(late).venue, 'AMM');
  }

  async tradeOnAmm(traders: readonly TradingClient[], token: string): Promise<void> {
    const { world } = this;
    const placed: string[] = [];
    for (const [index, trader] of traders.entries()) {
      placed.push(await this.ask(trader, token, 'BUY', BigInt(11 + index) * ADA));
      placed.push(await this.ask(trader, token, 'SELL', 200_000n + BigInt(index)));
    }
    await this.fill(placed);
    const [ann, , eve] = traders;
    assert(ann !== undefined && eve !== undefined);
    const big = await this.ask(eve, token, 'BUY', 3_000n * ADA);
    const late = await this.ask(ann, token, 'BUY', 5n * ADA, '15');
    await this.fill([big]);
    await ann.cancel(late);
    await world.mine();
    assert.equal(world.order(late).state, 'cancelled');
    // The creator is paid the whole amount owed.
    if (BigInt(world.pool(token).reserves.owed) > 0n) await world.spent(world.pool(token).ref);
    assert.equal(world.pool(token).reserves.owed, '0');
  }

  /** Bids and asks that stay: two bids at one price. */
  async strand([ann, ben, cid, eve]: readonly TradingClient[], token: string): Promise<void> {
    assert(ann !== undefined && ben !== undefined && cid !== undefined && eve !== undefined);
    const up = await this.ask(eve, token, 'BUY', 5_000n * ADA);
    for (const trader of [ann, ben, cid]) {
      const amount = trader === cid ? 9n * ADA : 5n * ADA;
      this.stranded.add(await this.ask(trader, token, 'BUY', amount, '15'));
    }
    await this.fill([up]);
    const held = await eve.utxos();
    const tokens = held.reduce((sum, { value }) => sum + (value.assets.get(token) ?? 0n), 0n);
    const down = await this.ask(eve, token, 'SELL', tokens / 2n);
    this.stranded.add(await this.ask(ann, token, 'SELL', 500_000n, '15'));
    this.stranded.add(await this.ask(ben, token, 'SELL', 400_000n, '30'));
    await this.fill([down]);
  }

  /** Places an order that waits in the mempool. */
  async ask(
    trader: TradingClient,
    assetId: string,
    side: Side,
    amount: bigint,
    slippage: OrderRequest['slippage'] = 'infinity',
  ): Promise<string> {
    const atAnyPrice = side === 'BUY_WITH_OUTPUT' && slippage === 'infinity';
    const most = atAnyPrice ? { maxInputLovelace: 100_000n * ADA } : {};
    return (await trader.order({ assetId, side, amount, slippage, ...most })).id;
  }

  /** Mines a block with the mempool, and one with the fills. */
  async fill(ids: readonly string[]): Promise<void> {
    await this.world.mine();
    for (const id of ids) await this.world.wanted(id);
    await this.world.mine();
  }
}
