/** A person's day on a devnet, by commands alone. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { runWalletCommand } from '../../../src/server/cli/walletCommands.ts';
import { startDevnet } from '../../support/devnet.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { parsed } from './parsed.ts';

/** One devnet for all; each test is another person on it. */
let url = '';
const ends: (() => void | Promise<void>)[] = [];

before(async () => {
  url = await startDevnet({ after: (end) => void ends.unshift(end) });
});

after(async () => {
  for (const end of ends) await end();
});

interface Said {
  readonly code: number;
  readonly lines: readonly string[];
  readonly complaints: readonly string[];
}

function person(at = url, file = join(temporaryDirectory(), 'wallet.json')) {
  return async (...args: readonly string[]): Promise<Said> => {
    const command = parsed([...args, '--url', at, '--wallet', file]);
    assert(typeof command !== 'string' && command.name === 'wallet command', args.join(' '));
    const lines: string[] = [];
    const complaints: string[] = [];
    const code = await runWalletCommand(command, {
      clock: systemClock,
      fetch,
      say: (line) => lines.push(line),
      complain: (line) => complaints.push(line),
      confirm: null,
    });
    return { code, lines, complaints };
  };
}

function done({ code, lines, complaints }: Said): readonly string[] {
  assert.equal(code, 0, [...lines, ...complaints].join('\n'));
  return lines;
}

function word(lines: readonly string[], before: string): string {
  const line = lines.find((text) => text.startsWith(`${before} `)) ?? '';
  return (line.split(' ')[1] ?? '').replace(',', '');
}

async function adaOf(act: (...args: readonly string[]) => Promise<Said>): Promise<number> {
  const lines = done(await act('wallet', 'balance'));
  return Number(lines[1]?.split(' ')[0]);
}

test('wallet, faucet, launch, buy, sell, lock, withdraw', async () => {
  const act = person();
  done(await act('wallet', 'new'));
  assert.equal((await act('wallet', 'new')).code, 1);
  done(await act('wallet', 'faucet', '300'));
  assert.equal(await adaOf(act), 300);

  const launched = done(
    await act('launch', '--name', 'My Coin', '--ticker', 'MYC', '--initial', '12.5'),
  );
  assert.match(launched[0] ?? '', /^Signed: launch My Coin \(MYC\) .* 12.5 ADA for 4909341 tokens/);
  const token = word(launched, 'Token');

  const bought = done(await act('buy', token, '25.5'));
  assert.match(bought[0] ?? '', /^Quote: 25.5 ADA for 9868848 My Coin on the curve/);
  assert.match(bought.at(-1) ?? '', /^Filled .*received 9868848 My Coin and 1.5 ADA$/);
  const exact = done(await act('buy', token, '--tokens', '1_000_000'));
  assert.match(exact.at(-1) ?? '', /received 1000000 My Coin and 1.5 ADA$/);
  const sold = done(await act('sell', token, '5000000'));
  assert.match(sold.at(-1) ?? '', /^Filled .*received \d+\.\d+ ADA$/);

  const locked = done(await act('lock', token, '1001', '--for', '1h', '--stages', '2'));
  assert.match(locked[0] ?? '', /^Signed: lock 1001 My Coin in 2 stages until /);
  assert.deepEqual(
    locked.filter((line) => line.startsWith('Lock ')).map((line) => line.split('  ')[1]),
    ['500 My Coin', '501 My Coin'],
  );
  const early = await act('withdraw', `${word(locked, 'Transaction')}:1`);
  assert.equal(early.code, 1);
  assert.match(early.complaints[0] ?? '', /LOCK_NOT_EXPIRED: Lock is still active/);
  const soon = done(await act('lock', token, '5', '--for', '5s'));
  const made = soon.filter((line) => line.startsWith(`Lock ${word(soon, 'Transaction')}:`));
  assert.equal(made.length, 1, 'it is listed at once');
  const taken = () => act('withdraw', word(made, 'Lock'));
  const { lines: withdrawn } = await untilAsked('it is due', taken, ({ code }) => code === 0);
  assert.match(withdrawn[0] ?? '', /^Signed: take lock .* back/);
});

test('an order taken back returns all but the network fees', async () => {
  const act = person();
  done(await act('wallet', 'new'));
  done(await act('wallet', 'faucet', '100'));
  const token = word(done(await act('launch', '--name', 'Tok', '--ticker', 'T')), 'Token');
  const before = await adaOf(act);
  const placed = done(await act('buy', token, '30', '--no-wait'));
  const taken = await act('cancel', word(placed, 'Order'));
  // The executor may have been faster, and then the order is filled.
  if (taken.code === 0) assert((await adaOf(act)) > before - 1);
  else assert.match(taken.complaints[0] ?? '', /spent|INPUT_SPENT/);
});

test('a limit order waits for its price, and can be taken back', async () => {
  const act = person();
  done(await act('wallet', 'new'));
  done(await act('wallet', 'faucet', '100'));
  const token = word(
    done(await act('launch', '--name', 'Later', '--ticker', 'L', '--initial', '20')),
    'Token',
  );
  const sale = ['sell', token, '2_000_000', '--min-output', '50'];
  const refused = await act(...sale);
  assert.equal(refused.code, 1);
  assert.match(refused.complaints[0] ?? '', /or let it wait/);
  const placed = done(await act(...sale, '--wait-for', '1h'));
  assert.match(placed.at(-1) ?? '', /^It waits for its price. To take it back: cancel /);
  assert.match(done(await act('cancel', word(placed, 'Order')))[0] ?? '', /^Signed: take order/);
});

test('refusals, an unknown server and a missing wallet are one line and a code', async () => {
  const act = person();
  const missing = await act('wallet', 'balance');
  assert.equal(missing.code, 2);
  assert.match(missing.complaints[0] ?? '', /There is no wallet/);
  done(await act('wallet', 'new'));
  const unknown = await act('buy', `${'ab'.repeat(28)}.00`, '5');
  assert.equal(unknown.code, 1);
  assert.match(unknown.complaints[0] ?? '', /ASSET_NOT_FOUND/);
  const poor = await act('launch', '--name', 'Tok', '--ticker', 'T');
  assert.equal(poor.code, 1);
  assert.match(poor.complaints[0] ?? '', /^launch: SERVER_ERROR/);
  const file = join(temporaryDirectory(), 'wallet.json');
  const nowhere = person('http://127.0.0.1:1', file);
  done(await nowhere('wallet', 'new'));
  const gone = await nowhere('wallet', 'balance');
  assert.equal(gone.code, 1);
  assert.match(gone.complaints[0] ?? '', /cannot be reached/);
  for (const said of [missing, unknown, poor, gone]) assert.equal(said.complaints.length, 1);
});

test('--json says the same in one object, amounts as texts', async () => {
  const act = person();
  const json = async (...args: readonly string[]) => {
    const said = await act(...args, '--json');
    assert.equal(said.lines.length, 1);
    assert.deepEqual(said.complaints, []);
    const told: unknown = JSON.parse(said.lines[0] ?? '');
    // trust: the tests below compare the fields
    return { code: said.code, told: told as Record<string, unknown> };
  };
  const wallet = await json('wallet', 'new');
  assert.match(String(wallet.told.address), /^addr_test1/);
  await json('wallet', 'faucet', '300');
  const { told: launched } = await json('launch', '--name', 'Jay Son', '--ticker', 'JSON');
  assert.match(String(launched.asset), /^[0-9a-f]{56}\./);
  const { code, told: bought } = await json('buy', 'json', '25');
  assert.equal(code, 0);
  assert.deepEqual([bought.outcome, bought.input], ['filled', '.']);
  assert.equal(bought.output, launched.asset);
  const { told: held } = await json('wallet', 'balance');
  assert.deepEqual(held.assets, { [String(launched.asset)]: bought.tokensReceived });
  assert.match(String(held.lovelace), /^\d{9}$/);
  const refused = await json('sell', 'JSON', '99_999_999_999');
  assert.equal(refused.code, 1);
  assert.match(String(refused.told.error), /^sell: /);
});

test('a ticker names a token while it is the only one that has it', async () => {
  const act = person();
  done(await act('wallet', 'new'));
  done(await act('wallet', 'faucet', '600'));
  const first = word(done(await act('launch', '--name', 'One', '--ticker', 'TWIN')), 'Token');
  assert.match(done(await act('buy', 'twin', '10')).at(-1) ?? '', /^Filled/);
  const second = word(done(await act('launch', '--name', 'Two', '--ticker', 'Twin')), 'Token');
  const either = await act('buy', 'TWIN', '10');
  assert.equal(either.code, 1);
  const [complaint = ''] = either.complaints;
  assert(complaint.includes(first) && complaint.includes(second), complaint);
  const none = await act('sell', 'NOSUCH', 'all');
  assert.deepEqual(none.complaints, ['No token has the ticker NOSUCH. Name it by its id.']);
});
