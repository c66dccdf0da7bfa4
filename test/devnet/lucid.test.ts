/**
 * A foreign program as the judge: Lucid Evolution with its own provider for Ogmios and Kupo. It
 * makes a wallet, takes coins of the faucet, mints, locks at a script, and spends from there with
 * the script as a reference.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyDoubleCborEncoding,
  Data,
  generateSeedPhrase,
  Kupmios,
  Lucid,
  mintingPolicyToId,
  type Script,
  SLOT_CONFIG_NETWORK,
  validatorToAddress,
} from '@lucid-evolution/lucid';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { ALWAYS } from '../support/rawTransaction.ts';
import { until } from '../support/until.ts';
import { memberOf } from './ogmiosAsked.ts';

const PACE_MS = 50;
const CHECK_MS = 20;
const REMOTE = { localUPLCEval: false };

test('Lucid deploys a script, mints and spends over Ogmios and Kupo', async (scope) => {
  const devnet = await startDevnet(scope, { paceMs: PACE_MS });
  const provider = new Kupmios(devnet.kupoUrl, devnet.devnetUrl);
  const lucid = await Lucid(provider, 'Preprod');
  // Lucid's transactions are valid from a few slots before now, and that must not be before slot 0.
  await until('the chain is old enough', () => Number(devnet.node.chain.tip?.slot ?? 0) > 30);
  lucid.selectWallet.fromSeed(generateSeedPhrase());
  const address = await lucid.wallet().address();

  const paid = await fetch(`${devnet.devnetUrl}/devnet/v1/faucet`, {
    method: 'POST',
    body: JSON.stringify({ address, ada: 1_000 }),
  });
  assert.equal(paid.status, 200);
  // trust: the route answers so
  const { txHash: gift } = (await paid.json()) as { txHash: string };
  assert.ok(await lucid.awaitTx(gift, CHECK_MS));

  const validator: Script = { type: 'PlutusV2', script: applyDoubleCborEncoding(ALWAYS) };
  const scriptAddress = validatorToAddress('Preprod', validator);
  const unit = `${mintingPolicyToId(validator)}746f6b656e`;

  await scope.test('deploys the script as a reference, and mints a token', async () => {
    const tx = await lucid
      .newTx()
      .mintAssets({ [unit]: 42n }, Data.void())
      .attach.MintingPolicy(validator)
      .pay.ToAddressWithData(address, undefined, { lovelace: 20_000_000n }, validator)
      .pay.ToContract(scriptAddress, { kind: 'inline', value: Data.to(7n) }, { [unit]: 40n })
      .complete(REMOTE);
    const hash = await (await tx.sign.withWallet().complete()).submit();
    assert.ok(await lucid.awaitTx(hash, CHECK_MS));
    const [locked] = await lucid.utxosAtWithUnit(scriptAddress, unit);
    assert.equal(locked?.assets[unit], 40n);
    assert.equal(locked?.datum, Data.to(7n));
  });

  await scope.test('spends from the script with the reference', async () => {
    const utxos = await lucid.utxosAt(address);
    const reference = utxos.find(({ scriptRef }) => scriptRef !== null && scriptRef !== undefined);
    assert.ok(reference, 'Kupo shows the reference script');
    const locked = await lucid.utxosAtWithUnit(scriptAddress, unit);
    const tx = await lucid
      .newTx()
      .readFrom([reference])
      .collectFrom(locked, Data.void())
      .complete(REMOTE);
    const hash = await (await tx.sign.withWallet().complete()).submit();
    assert.ok(await lucid.awaitTx(hash, CHECK_MS));
    assert.deepEqual(await lucid.utxosAtWithUnit(scriptAddress, unit), []);
    const held = await lucid.utxosAtWithUnit(address, unit);
    assert.equal(
      held.reduce((sum, { assets }) => sum + (assets[unit] ?? 0n), 0n),
      42n,
    );
  });

  await scope.test('locks by the hash of a datum, which Kupo resolves', async () => {
    const datum = { kind: 'asHash', value: Data.to('c0ffee') } as const;
    const tx = await lucid
      .newTx()
      .pay.ToContract(scriptAddress, datum, { lovelace: 3_000_000n })
      .complete(REMOTE);
    const hash = await (await tx.sign.withWallet().complete()).submit();
    assert.ok(await lucid.awaitTx(hash, CHECK_MS));
    const locked = await lucid.utxosAt(scriptAddress);
    assert.equal(locked.length, 1);
    assert.equal(await lucid.datumOf(locked[0] ?? assert.fail()), 'c0ffee');
  });

  await scope.test('bounds of validity count by the slots of the devnet', async () => {
    const ask = async (method: string): Promise<unknown> => {
      const body = JSON.stringify({ jsonrpc: '2.0', method, id: null });
      const answer = await fetch(devnet.devnetUrl, { method: 'POST', body });
      return memberOf(await answer.json(), 'result');
    };
    const summaries = await ask('queryLedgerState/eraSummaries');
    SLOT_CONFIG_NETWORK.Preprod = {
      zeroTime: Date.parse(String(await ask('queryNetwork/startTime'))),
      zeroSlot: Number(memberOf(summaries, 0, 'start', 'slot')),
      slotLength: Number(memberOf(summaries, 0, 'parameters', 'slotLength', 'milliseconds')),
    };
    const nowMs = systemClock.nowMs();
    const tx = await lucid
      .newTx()
      .pay.ToAddress(address, { lovelace: 2_000_000n })
      .validFrom(nowMs - 1_000)
      .validTo(nowMs + 60_000)
      .complete(REMOTE);
    const hash = await (await tx.sign.withWallet().complete()).submit();
    assert.ok(await lucid.awaitTx(hash, CHECK_MS));
  });

  await scope.test('a refusal reaches the caller', async () => {
    const [first] = await lucid.wallet().getUtxos();
    assert.ok(first);
    const one = await lucid.newTx().collectFrom([first]).complete();
    const two = await lucid
      .newTx()
      .collectFrom([first])
      .pay.ToAddress(address, { lovelace: 2_000_000n })
      .complete();
    await (await one.sign.withWallet().complete()).submit();
    const late = await two.sign.withWallet().complete();
    await assert.rejects(late.submit(), /spent|unknown/i);
  });
});
