/**
 * `npm start -- mcp` as an agent's program uses it, by the SDK's own client: launch, buy, sell and
 * lock on a devnet, each after a question to the user; and what happens where the user says no.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client } from '../../../src/client/index.ts';
import { createWallet } from '../../../src/server/cli/walletFile.ts';
import { startDevnet } from '../../support/devnet.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';

const MAIN = join(import.meta.dirname, '../../../src/server/main.ts');
const FLAGS = ['--disable-warning=ExperimentalWarning', MAIN, 'mcp'];

const url = await startDevnet({ after });
const walletFile = join(temporaryDirectory({ after }), 'wallet.json');
const wallet = createWallet(walletFile);
assert(typeof wallet !== 'string', String(wallet));
const rest = new Client({ url });
await rest.devnet.faucet({ address: wallet.address, ada: 1_000 });
rest.close();

interface Said {
  readonly isError: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** `answer`: what its user says to each question; null: it cannot ask. */
async function start(answer: (() => boolean) | null, file = walletFile, at = url) {
  const capabilities = answer === null ? {} : { elicitation: {} };
  const client = new McpClient({ name: 'test', version: '1' }, { capabilities });
  const questions: string[] = [];
  if (answer !== null) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { sign: answer() } };
    });
  }
  const args = [...FLAGS, '--url', at, '--wallet', file];
  const transport = new StdioClientTransport({ command: process.execPath, args });
  const errors: Error[] = [];
  client.onerror = (error) => void errors.push(error);
  await client.connect(transport);
  after(() => client.close());
  const call = async (name: string, given: object = {}): Promise<Said> => {
    const result = await client.callTool({ name, arguments: { ...given } });
    const [first] = Array.isArray(result.content) ? result.content : [];
    const text: unknown = first?.text;
    return { isError: result.isError === true, facts: JSON.parse(String(text)) };
  };
  return { client, call, questions, errors };
}

async function holds(call: (name: string) => Promise<Said>, asset: string): Promise<bigint> {
  const { facts } = await call('walletBalance');
  return BigInt(String(Reflect.get(Object(facts.assets), asset) ?? 0));
}

test('launches, buys, sells and locks, each after a yes to what the bytes do', async () => {
  const { client, call, questions, errors } = await start(() => true);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  for (const name of ['tickers', 'trades', 'order', 'launch', 'walletOrder', 'walletLock']) {
    assert(names.includes(name), name);
  }
  await untilAsked(
    'its coins',
    () => call('walletBalance'),
    ({ facts }) => Number(facts.lovelace) > 0,
  );
  const info = { name: 'Agent', ticker: 'AGENT', description: '', assetType: 'AI' };
  const launched = await call('walletLaunch', info);
  assert.equal(launched.isError, false, JSON.stringify(launched.facts));
  const assetId = String(launched.facts.asset);
  assert.match(questions[0] ?? '', /Launches "Agent" \(AGENT\) without a first buy\?/);
  assert.match(questions[0] ?? '', new RegExp(`Transaction ${String(launched.facts.txHash)}`));
  await untilAsked(
    'the token is listed',
    () => call('pool', { asset: assetId }),
    ({ isError }) => !isError,
  );
  const terms = { assetId, side: 'BUY', amount: '50000000', slippage: '15' };
  const built = await call('order', { body: { ...terms, changeAddress: wallet.address } });
  assert.match(String(built.facts.cbor), /^84.*a0f5f6$/, 'nothing of it is signed');
  const bought = await call('walletOrder', { assetId, side: 'BUY', amount: '50000000' });
  assert.equal(bought.isError, false, JSON.stringify(bought.facts));
  assert.match(questions[1] ?? '', /BUY: pays 50\S* ADA for at least \d+ of [0-9a-f]{56}\./);
  await untilAsked(
    'the tokens',
    () => holds(call, assetId),
    (tokens) => tokens > 0n,
  );
  const tokens = await holds(call, assetId);
  const sold = await call('walletOrder', { assetId, side: 'SELL', amount: String(tokens / 2n) });
  assert.equal(sold.isError, false, JSON.stringify(sold.facts));
  await untilAsked(
    'both trades',
    () => call('trades', { asset: assetId }),
    ({ facts }) => Object.keys(facts).length === 2,
  );
  const lockEnd = Date.now() + 3_600_000;
  const lock = { assetId, amount: String(tokens / 4n), lockEnd, stages: 2 };
  const locked = await call('walletLock', lock);
  assert.equal(locked.isError, false, JSON.stringify(locked.facts));
  assert.match(questions[3] ?? '', /Locks \d+ of [0-9a-f.]+ until \S+Z, in 2 stage\(s\)\?/);
  await untilAsked(
    'its locks',
    () => call('locksByAsset', { assetId, body: {} }),
    ({ facts }) => Object(facts.vestings).length === 2,
  );
  assert.equal(questions.length, 4);
  assert.deepEqual(errors, []);
});

test('signs nothing where the user says no, or cannot be asked', async () => {
  const lovelace = '5000000';
  const refusing = await start(() => false);
  const refused = await refusing.call('walletTransfer', { to: wallet.address, lovelace });
  assert.deepEqual([refused.isError, refused.facts.cause], [true, 'FORBIDDEN']);
  assert.equal(refusing.questions.length, 1);
  const silent = await start(null);
  const unasked = await silent.call('walletTransfer', { to: wallet.address, lovelace });
  assert.match(String(unasked.facts.message), /cannot ask its user/);
});

test('bad input is an error of the tool with its cause, place and remedy', async () => {
  const { client, call, questions } = await start(() => true);
  const cases: [string, object, RegExp][] = [
    ['walletOrder', { assetId: 'AGENT', side: 'BUY', amount: '1' }, /arguments.assetId/],
    ['walletOrder', { side: 'BUY', amount: '1' }, /arguments.assetId/],
    ['walletOrder', { assetId: `${'0'.repeat(56)}.00`, side: 'BUY', amount: '-1' }, /amount/],
    [
      'walletOrder',
      { assetId: `${'0'.repeat(56)}.00`, side: 'BUY', amount: '1', x: 1 },
      /it takes/,
    ],
    ['walletCancel', { id: 'abc' }, /arguments.id/],
    ['trades', { asset: 'abc' }, /query.asset/],
    ['trades', {}, /query.asset is required/],
    ['trades', { assets: 'abc' }, /it takes asset/],
    ['order', { body: { assetId: 'x' } }, /body\./],
    ['launch', { body: { image: 'no picture', info: {} } }, /PNG, JPEG or GIF/],
  ];
  for (const [name, given, expected] of cases) {
    const { isError, facts } = await call(name, given);
    assert(isError, name);
    assert.match(JSON.stringify(facts), expected);
  }
  await assert.rejects(client.callTool({ name: 'nothing' }), /no tool nothing/);
  assert.deepEqual(questions, []);
  const missing = await start(() => true, '/nowhere/wallet.json');
  assert.match(String((await missing.call('walletBalance')).facts.message), /wallet new/);
  const away = await start(() => true, walletFile, 'http://127.0.0.1:9');
  assert.match(String((await away.call('serverTime')).facts.message), /does not answer.*npm start/);
});

test('standard output carries nothing but messages, also after a line that is none', async () => {
  const child = spawn(process.execPath, [...FLAGS, '--url', url, '--wallet', walletFile]);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const message = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const clientInfo = { name: 'raw', version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  child.stdin.write('what?\n{"jsonrpc":"2.0"}\n');
  child.stdin.write(message(1, 'initialize', hello));
  child.stdin.write(message(2, 'tools/list', {}));
  await untilAsked(
    'two answers',
    async () => out.split('\n').length,
    (lines) => lines >= 3,
  );
  child.stdin.end();
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  const ids = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.deepEqual(
    ids.filter((id) => id !== null && id !== undefined),
    [1, 2],
  );
});
