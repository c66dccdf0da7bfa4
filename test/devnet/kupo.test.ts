/** The devnet's Kupo: patterns, filters, order, spendings, datums, checkpoints and who may ask. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { encodeOutput } from '../../src/cardano/codec/encode.ts';
import { blake2b256 } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { decodeOutput } from '../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { placed } from '../../src/cardano/validators/genesis.ts';
import { KupoReader } from '../../src/devnet/kupo/kupoReader.ts';
import { matchJson, writeJson } from '../../src/devnet/kupo/matchJson.ts';
import { readPattern } from '../../src/devnet/kupo/pattern.ts';
import { Ledger } from '../../src/devnet/ledger.ts';
import { K, LedgerFile } from '../../src/devnet/ledgerFile.ts';
import type { OutputPlace, Page, PageRequest } from '../../src/devnet/outputSearch.ts';
import { genesisOutputs, startDevnet } from '../support/devnetNode.ts';
import {
  addressOf,
  FEE_LOVELACE,
  GENESIS_TIME_MS,
  keyNamed,
  ledgerOptions,
  payment,
} from '../support/ledgerWorld.ts';

const SLOTS = { zeroTimeMs: GENESIS_TIME_MS, zeroSlot: 0, slotLengthMs: 1000 };

interface Match {
  readonly transaction_id: string;
  readonly output_index: number;
  readonly value: { readonly coins: number };
  readonly created_at: { readonly slot_no: number };
  readonly spent_at: null | {
    readonly slot_no: number;
    readonly transaction_id: string;
    readonly input_index: number;
  };
}

/** Alice pays Bob 10 ADA in block 1, Bob pays it on to Carol in block 2. */
async function paidOn(scope: Parameters<typeof startDevnet>[0]) {
  const devnet = await startDevnet(scope);
  const { node, kupoUrl } = devnet;
  const ask = async (path: string) => {
    const response = await fetch(`${kupoUrl}${path}`);
    // trust: members are looked at one by one
    const body = (await response.json()) as Readonly<Record<string, unknown>>;
    return { status: response.status, body, headers: response.headers };
  };
  // trust: what Kupo answers to matches
  const matches = async (path: string) =>
    (await ask(`/matches/${path}`)).body as unknown as Match[];
  const source = genesisOutputs().find(({ output }) => output.address === addressOf('alice'));
  assert.ok(source);
  const first = payment(source, 'alice', 'bob', 10_000_000n);
  assert.equal(await node.submit(hexOf(first.bytes)), first.id);
  assert.equal(await node.mine(1), 1);
  const [output] = decodeTransaction(first.bytes).outputs;
  assert.ok(output);
  const received = { ref: { txHash: first.id, index: 0 }, output };
  const second = payment(received, 'bob', 'carol', 10_000_000n - FEE_LOVELACE - 2_000_000n);
  assert.equal(await node.submit(hexOf(second.bytes)), second.id);
  assert.equal(await node.mine(1), 2);
  return { devnet, ask, matches, first, second };
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

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
  assert.deepEqual(await slots('created_after=0'), [2, 2, 1, 1]);
  assert.deepEqual(await slots('created_after=0&order=oldest_first'), [1, 1, 2, 2]);
  assert.deepEqual(await slots('created_after=0&created_before=2'), [1, 1]);
  assert.equal((await matches('*?spent_after=1')).length, 1);
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
  const funds = placed(Array.from({ length: 30 }, () => plan));
  file.begin('{}', funds);
  const ledger = new Ledger(file, SLOTS, () => 0);
  // The oldest outputs are those that are spent, and soon forgotten.
  for (const source of funds.slice(0, 10)) {
    const { bytes } = payment(source, 'alice', 'bob', 5_000_000n);
    assert.equal(ledger.submit(bytes).outcome, 'accepted');
  }
  assert.equal(ledger.forge(), null);
  const pages = (oldestFirst: boolean, payment: string | undefined, between: () => void) => {
    const found: string[] = [];
    let after: OutputPlace | null = null;
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
  const reader = new KupoReader(file);
  const wanted = { height: 0, limit: 10, after: null, isResolved: true };
  const { matches } = reader.page({ oldestFirst: true }, wanted);
  assert.deepEqual(
    matches.map((match) => matchJson(match, true).datum),
    ['07', '07'],
  );
});

test('checkpoints, health and headers name the newest block', async (scope) => {
  const { ask, devnet } = await paidOn(scope);
  const { tip } = devnet.node.chain;
  const { body, headers } = await ask('/checkpoints');
  assert.deepEqual(body[0], { slot_no: tip?.slot, header_hash: tip?.id });
  assert.equal(headers.get('x-most-recent-checkpoint'), String(tip?.slot));
  assert.equal(headers.get('etag'), tip?.id);
  assert.deepEqual((await ask('/checkpoints/99')).body.slot_no, 2);
  assert.equal((await ask('/checkpoints/99?strict')).body, null);
  assert.equal((await ask('/health')).body.most_recent_checkpoint, 2);
  assert.deepEqual((await ask('/patterns')).body, ['*']);
  assert.deepEqual((await ask('/metadata/2')).body, []);
  assert.equal((await ask(`/datums/${'0'.repeat(64)}`)).body, null);
});

test('says what is wrong with a question', async (scope) => {
  const { ask } = await paidOn(scope);
  const wrong = [
    '/matches/nonsense',
    '/matches/*?spent&unspent',
    '/matches/*?order=sideways',
    '/matches/*?created_after=tomorrow',
    '/matches/*?asset_name=00',
    '/checkpoints/x',
    '/datums/12',
    '/scripts/12',
    '/metadata/x',
  ];
  for (const path of wrong) {
    const { status, body } = await ask(path);
    assert.equal(status, 400, path);
    assert.equal(typeof body.hint, 'string', path);
  }
  assert.equal((await ask('/nothing')).status, 404);
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

test('refuses a foreign Host and a foreign Origin on every port', async (scope) => {
  const { kupoUrl, devnetUrl } = await startDevnet(scope);
  const status = (url: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      request(`${url}/health`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  for (const url of [kupoUrl, devnetUrl]) {
    assert.equal(await status(url, {}), 200);
    assert.equal(await status(url, { Origin: 'http://localhost:3000' }), 200);
    assert.equal(await status(url, { Origin: 'https://evil.example' }), 403);
    assert.equal(await status(url, { Host: 'rebound.example:1337' }), 403);
  }
});
