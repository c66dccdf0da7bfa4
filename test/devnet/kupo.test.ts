/** Matches of the devnet's Kupo: patterns, filters, order, pages, spendings and datums. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOutput } from '../../src/cardano/codec/encode.ts';
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { decodeOutput, refText } from '../../src/cardano/codec/output.ts';
import { asValue, coins } from '../../src/cardano/codec/value.ts';
import { genesisUtxosOf } from '../../src/cardano/validators/genesis.ts';
import { KupoIndex } from '../../src/devnet/kupo/kupoIndex.ts';
import { matchJson, writeJson } from '../../src/devnet/kupo/matchJson.ts';
import { readPattern } from '../../src/devnet/kupo/matchQuery.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { K, LedgerFile } from '../../src/devnet/ledgerFile.ts';
import type { OutputPosition, Page, PageRequest } from '../../src/devnet/outputSearch.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import { startDevnet } from '../support/devnetNode.ts';
import {
  addressOf,
  GENESIS_TIME_MS,
  keyNamed,
  ledgerOptions,
  payment,
} from '../support/ledgerWorld.ts';
import { type Match, paidOn } from './kupoWorld.ts';

const SLOTS = { zeroTimeMs: GENESIS_TIME_MS, zeroSlot: 0, slotLengthMs: 1000 };

test('matches by address, credentials, reference and everything', async (scope) => {
  const { matches, first } = await paidOn(scope);
  const { hash } = keyNamed('bob');
  for (const pattern of [addressOf('bob'), `${hash}/*`]) {
    const found = await matches(pattern);
    assert.equal(found.length, 7, pattern);
  }
  assert.equal((await matches(`${hash}/*?unspent`)).length, 6);
  const [spent, ...others] = await matches(`${hash}/*?spent`);
  assert.equal(others.length, 0);
  assert.equal(spent?.transaction_id, first.id);
  assert.equal((await matches(`*@${first.id}`)).length, 2);
  const [exact] = await matches(`1@${first.id}`);
  assert.equal(exact?.output_index, 1);
  assert.equal((await matches(`*/${hash}`)).length, 0);
  assert.ok((await matches('*')).length > 30);
});

test('a spending names its block, transaction and input', async (scope) => {
  const { matches, first, second } = await paidOn(scope);
  const [spent] = await matches(`0@${first.id}`);
  assert.equal(spent?.spent_at?.transaction_id, second.id);
  assert.equal(spent?.spent_at?.input_index, 0);
  assert.equal(spent?.spent_at?.slot_no, 2);
});

test('filters by slots, newest first unless asked, and undoes a rollback', async (scope) => {
  const { devnet, matches, first, second } = await paidOn(scope);
  const slots = async (query: string) =>
    (await matches(`*?${query}`)).map(({ created_at: { slot_no } }) => slot_no);
  assert.deepEqual(await slots('created_after=1'), [2, 2, 1, 1]);
  assert.deepEqual(await slots('created_after=1&order=oldest_first'), [1, 1, 2, 2]);
  assert.deepEqual(await slots('created_after=1&created_before=1'), [1, 1]);
  assert.deepEqual(await slots('created_after=2&created_before=9'), [2, 2]);
  assert.deepEqual(await slots('created_after=3'), []);
  assert.equal((await matches('*?spent_after=2')).length, 1);
  assert.equal((await matches('*?spent_after=3')).length, 0);
  assert.equal((await matches('*?created_after=1&spent_before=2')).length, 1);
  assert.equal(await devnet.node.fork(1, 'none'), 1);
  assert.equal((await matches(`*@${second.id}`)).length, 0);
  const [revived] = await matches(`0@${first.id}`);
  assert.equal(revived?.spent_at, null);
});

test('answers longer than a page are whole', async (scope) => {
  const devnet = await startDevnet(scope, {
    genesis: Array.from({ length: 1_700 }, () => {
      return { address: addressOf('alice'), value: { lovelace: 2_000_000n, assets: new Map() } };
    }),
  });
  const response = await fetch(
    `${devnet.kupoUrl}/matches/${addressOf('alice')}?order=oldest_first`,
  );
  // trust: what Kupo answers to matches
  const found = (await response.json()) as Match[];
  assert.deepEqual(
    found.map(({ output_index }) => output_index),
    Array.from({ length: 1_700 }, (_, at) => at),
  );
});

test('pages fit together while blocks are made and spent outputs are forgotten', async (scope) => {
  const { file: path } = ledgerOptions();
  const file = new LedgerFile(path);
  scope.after(() => file.close());
  const plan = { address: addressOf('alice'), value: coins(10_000_000n) };
  const funds = genesisUtxosOf(Array.from({ length: 30 }, () => plan));
  file.begin('{}', funds);
  const ledger = new Ledger(file, SLOTS, () => 0);
  // The oldest outputs are spent here and soon forgotten.
  for (const source of funds.slice(0, 10)) {
    const { bytes } = payment(source, 'alice', 'bob', 5_000_000n);
    assert.equal(ledger.submit(bytes).outcome, 'accepted');
  }
  assert.equal(ledger.forge(), null);
  const pages = (oldestFirst: boolean, payment: string | undefined, between: () => void) => {
    const found: string[] = [];
    let after: OutputPosition | null = null;
    for (;;) {
      const request: PageRequest = { height: 1, limit: 7, after };
      const page: Page = file.search.page({ oldestFirst, payment }, request);
      found.push(...page.found.map(({ utxo: { ref } }) => `${ref.txHash} ${ref.index}`));
      after = page.last;
      if (after === null) return found;
      between();
    }
  };
  for (const owner of [undefined, keyNamed('alice').hash]) {
    const whole = pages(true, owner, () => {});
    assert.deepEqual(whole, pages(false, owner, () => {}).reverse());
    assert.equal(new Set(whole).size, owner === undefined ? 50 : 40);
  }
  let isForgotten = false;
  const found = pages(true, undefined, () => {
    if (!isForgotten) assert.equal(ledger.forge(K + 1), null);
    isForgotten = true;
  });
  const unspent = Array.from(file.unspent(), ({ ref }) => `${ref.txHash} ${ref.index}`);
  assert.equal(unspent.length, 40);
  assert.deepEqual(
    unspent.filter((ref) => !found.includes(ref)),
    [],
  );
});

test('what a key can spend is read alone, as of the block of the question', async (scope) => {
  const { file: path } = ledgerOptions();
  const plan = { address: addressOf('alice'), value: coins(10_000_000n) };
  const funds = genesisUtxosOf(Array.from({ length: 30 }, () => plan));
  const first = new LedgerFile(path);
  first.begin('{}', funds);
  first.close();
  // As a file from before this index was.
  const database = openDatabase(path, { synchronous: 'NORMAL', maxMb: 0 });
  database.exec('DROP INDEX outputs_unspent');
  database.close();
  const file = new LedgerFile(path);
  scope.after(() => file.close());
  const ledger = new Ledger(file, SLOTS, () => 0);
  const spend = (from: number, to: number) => {
    for (const source of funds.slice(from, to)) {
      const { bytes } = payment(source, 'alice', 'bob', 5_000_000n);
      assert.equal(ledger.submit(bytes).outcome, 'accepted');
    }
    assert.equal(ledger.forge(), null);
  };
  spend(0, 20);
  const owned = Array.from(ledger.chain.ofCredential(keyNamed('alice').hash), ({ ref }) =>
    refText(ref),
  );
  assert.equal(owned.length, 30);
  const query = { payment: keyNamed('alice').hash, status: 'unspent' } as const;
  const page = (limit: number, after: OutputPosition | null, oldestFirst = false): Page =>
    file.search.page({ ...query, oldestFirst }, { height: 1, limit, after });
  assert.equal(page(31, null).last, null, '20 that were spent are not read');
  for (const oldestFirst of [true, false]) {
    const found: string[] = [];
    let read = page(7, null, oldestFirst);
    for (;;) {
      found.push(...read.found.map(({ utxo: { ref } }) => refText(ref)));
      if (read.last === null) break;
      if (ledger.height === 1) spend(20, 30);
      read = page(7, read.last, oldestFirst);
    }
    assert.deepEqual(found.sort(), owned.sort());
  }
});

test('resolves a datum that an output names by its hash', (scope) => {
  const file = new LedgerFile(ledgerOptions().file);
  scope.after(() => file.close());
  const plan = { address: addressOf('alice'), value: coins(10_000_000n) };
  const plain = Buffer.from(encodeOutput(plan)).toString('hex');
  assert.match(plain, /^a2/);
  const hash = blake2b256(fromHex('07'));
  const byHash = decodeOutput(fromHex(`a3${plain.slice(2)}0282005820${hash}`));
  const inline = decodeOutput(encodeOutput({ ...plan, datum: '07' }));
  const outputs = [byHash, inline].map((output, index) => {
    return { ref: { txHash: '00'.repeat(32), index }, output };
  });
  file.begin('{}', outputs);
  const reader = new KupoIndex(file);
  const wanted = { height: 0, limit: 10, after: null, isResolved: true };
  const { matches } = reader.page({ oldestFirst: true }, wanted);
  assert.deepEqual(
    matches.map((match) => matchJson(match, { isResolved: true }).datum),
    ['07', '07'],
  );
});

test('filters beside a pattern hold too', async (scope) => {
  const { matches, first, second } = await paidOn(scope);
  const found = async (path: string) => (await matches(path)).length;
  const bob = addressOf('bob');
  assert.equal(await found(`${bob}?transaction_id=${first.id}`), 1);
  assert.equal(await found(`${bob}?transaction_id=${first.id}&output_index=0`), 1);
  assert.equal(await found(`${bob}?transaction_id=${first.id}&output_index=1`), 0);
  assert.equal(await found(`*@${first.id}?transaction_id=${second.id}`), 0);
  assert.equal(await found(`0@${first.id}?transaction_id=${first.id}&output_index=1`), 0);
});

test('finds outputs by policy and asset, alone and beside others, in order', async (scope) => {
  const [one, two] = ['ab', 'cd'].map((byte) => byte.repeat(28));
  const held = (names: readonly string[]) => {
    return {
      address: addressOf('alice'),
      value: asValue(
        2_000_000n,
        names.map((id) => [id, 1n]),
      ),
    };
  };
  const genesis = [
    held([`${one}.01`]),
    held([`${one}.01`, `${one}.02`]),
    held([`${two}.`]),
    held([`${one}.02`, `${two}.`]),
    ...Array.from({ length: 450 }, () => held([`${two}.03`])),
  ];
  const devnet = await startDevnet(scope, { genesis });
  const found = async (path: string) => {
    const response = await fetch(`${devnet.kupoUrl}/matches/${path}`);
    // trust: what Kupo answers to matches
    return ((await response.json()) as Match[]).map(({ output_index }) => output_index);
  };
  assert.deepEqual(await found(`${one}.*`), [3, 1, 0]);
  assert.deepEqual(await found(`${one}.*?order=oldest_first`), [0, 1, 3]);
  assert.deepEqual(await found(`${one}.02`), [3, 1]);
  assert.deepEqual(await found(`${two}.?order=oldest_first`), [2, 3]);
  assert.deepEqual(await found(`${one}.*?policy_id=${two}`), [3]);
  assert.deepEqual(await found(`${one}.01?policy_id=${one}&asset_name=02`), [1]);
  assert.deepEqual(await found(`${addressOf('alice')}?policy_id=${one}`), [3, 1, 0]);
  assert.deepEqual(await found(`${addressOf('bob')}?policy_id=${one}&asset_name=01`), []);
  const all = Array.from({ length: 452 }, (_, at) => 453 - at);
  assert.deepEqual(await found(`${two}.*`), all, 'more than two pages');
  assert.deepEqual(await found(`${two}.*?unspent&order=oldest_first`), all.toReversed());
  assert.deepEqual(await found(`${two}.*?spent`), []);
});

test('writes integers of any size, and texts as they are', () => {
  assert.equal(
    writeJson({ a: 2n ** 64n, b: '\u00015\u0001' }),
    `{"a":${2n ** 64n},"b":"\\u00015\\u0001"}`,
  );
});

test('reads every form of a pattern', () => {
  const hash = 'ab'.repeat(28);
  const id = 'cd'.repeat(32);
  assert.deepEqual(readPattern('*'), {});
  assert.deepEqual(readPattern(`${hash}/*`), { payment: hash });
  assert.deepEqual(readPattern(`*/${hash}`), { stake: hash });
  assert.deepEqual(readPattern(`${hash}.*`), { policy: hash });
  assert.deepEqual(readPattern(`${hash}.00ff`), { policy: hash, assetName: '00ff' });
  assert.deepEqual(readPattern(`3@${id}`), { txHash: id, index: 3 });
  assert.deepEqual(readPattern(`*@${id}`), { txHash: id });
  for (const text of ['', 'abc', `${hash}/`, `${hash}.0`, 'addr1qqqq', '*@12']) {
    assert.equal(readPattern(text), null, text);
  }
});
