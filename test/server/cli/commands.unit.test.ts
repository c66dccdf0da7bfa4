/** Valid command lines, and the one-line messages for invalid ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../../src/server/cli/commands.ts';
import { helpOf, usageOf } from '../../../src/server/cli/help.ts';
import { parsed as checked } from './parsed.ts';

const TOKEN = `${'AB'.repeat(28)}.544f4b`;
const REF = `${'1'.repeat(64)}:0`;

function parsed(line: string) {
  return checked(line.split(' ').filter((word) => word !== ''));
}

function action(line: string) {
  const command = parsed(line);
  assert(typeof command !== 'string' && command.name === 'wallet command', line);
  return command.action;
}

test('serving takes a pace, or no traders', () => {
  assert.deepEqual(parsed(''), { name: 'serve', tradersPace: null, from: null, withHistory: true });
  assert.deepEqual(parsed('serve --pace 2.5'), {
    name: 'serve',
    tradersPace: 2.5,
    from: null,
    withHistory: true,
  });
  assert.deepEqual(parsed('--pace 0'), {
    name: 'serve',
    tradersPace: 0,
    from: null,
    withHistory: true,
  });
  assert.deepEqual(parsed('--no-traders'), {
    name: 'serve',
    tradersPace: 0,
    from: null,
    withHistory: true,
  });
  assert.match(String(parsed('--pace fast')), /--pace takes/);
  assert.match(String(parsed('--pace 51')), /--pace takes/);
  const empty = { name: 'serve', tradersPace: null, from: null, withHistory: false };
  assert.deepEqual(parsed('--no-history'), empty);
  assert.match(String(parsed('--pace 1 --no-traders')), /exclude/);
  assert.deepEqual(parsed('--verify'), { name: 'verify' });
  assert.deepEqual(parsed('verify'), { name: 'verify' });
  assert.deepEqual(parsed('reset'), { name: 'reset' });
  assert.match(String(parsed('reset everything')), /unexpected argument: everything/);
});

test('a cluster takes a number of nodes, and a pace', () => {
  const usual = { name: 'cluster', nodes: 3, readers: 0, onePort: false, tradersPace: null };
  assert.deepEqual(parsed('cluster'), usual);
  const five = { ...usual, nodes: 5, tradersPace: 0 };
  assert.deepEqual(parsed('cluster --nodes 5 --no-traders'), five);
  assert.deepEqual(parsed('cluster --nodes 5 --pace 0'), five);
  const many = { ...usual, nodes: 50, readers: 49, onePort: true };
  assert.deepEqual(parsed('cluster --nodes 50 --readers 49 --one-port'), many);
  for (const wrong of ['0', '51', 'many', '1.5']) {
    assert.match(String(parsed(`cluster --nodes ${wrong}`)), /--nodes takes/);
  }
  for (const wrong of ['3', 'many', '1.5']) {
    assert.match(String(parsed(`cluster --readers ${wrong}`)), /--readers takes .* 0 to 2/);
  }
  assert.match(String(parsed('cluster --pace 1 --no-traders')), /exclude/);
  assert.match(String(parsed('cluster 3')), /unexpected argument: 3/);
  assert.match(String(parsed('--nodes 3')), /--nodes goes with cluster/);
});

test('amounts are exact', () => {
  const buy = action(`buy ${TOKEN} 12.345678`);
  assert(buy.name === 'buy');
  assert.equal(buy.lovelace, 12_345_678n);
  assert.deepEqual(buy.token, { id: TOKEN.toLowerCase() });
  assert.equal(buy.slippage, '15');
  const exact = action(`buy ${TOKEN} --tokens 1_000_000 --slippage infinity`);
  assert(exact.name === 'buy');
  assert.deepEqual([exact.lovelace, exact.tokens], [null, 1_000_000n]);
  const sell = action(`sell ${TOKEN} all`);
  assert(sell.name === 'sell' && sell.tokens === 'all');
  assert.deepEqual([buy.minOutput, sell.minOutput], [null, null]);
  const least = action(`buy ${TOKEN} 5 --min-output 1_000`);
  assert(least.name === 'buy' && least.minOutput === 1_000n);
  const gross = action(`sell ${TOKEN} 5 --min-output 2.5`);
  assert(gross.name === 'sell' && gross.minOutput === 2_500_000n);
  assert.deepEqual([least.waitForSeconds, gross.waitForSeconds], [null, null]);
  for (const side of ['buy', 'sell']) {
    const later = action(`${side} ${TOKEN} 5 --min-output 2 --wait-for 7d`);
    assert((later.name === 'buy' || later.name === 'sell') && later.waitForSeconds === 604_800);
  }
});

test('server, key file and patience are options of every command', () => {
  const command = parsed('wallet balance --url https://x.example --wallet a.json --no-wait --json');
  assert(typeof command !== 'string' && command.name === 'wallet command');
  const { client } = command;
  assert.deepEqual(client, {
    url: 'https://x.example',
    walletFile: 'a.json',
    wait: false,
    json: true,
  });
});

test('launch, lock, cancel and withdraw say all that they need', () => {
  const launch = action('launch --name Tok --ticker TOK --initial 5 --hyped --website https://x.y');
  assert(launch.name === 'launch');
  assert.equal(launch.initialLovelace, 5_000_000n);
  assert.deepEqual([launch.isHyped, launch.isAi], [true, false]);
  assert.deepEqual(launch.socials, { website: 'https://x.y' });
  const lock = action(`lock ${TOKEN} 100 --for 2h --stages 3`);
  assert(lock.name === 'lock');
  assert.deepEqual([lock.forMs, lock.untilMs, lock.stages], [7_200_000, null, 3]);
  const until = action(`lock ${TOKEN} 100 --until 2030-01-31T12:00Z`);
  assert(until.name === 'lock');
  assert.equal(until.untilMs, Date.UTC(2030, 0, 31, 12));
  assert.deepEqual(action(`cancel ${REF}`), { name: 'cancel', id: REF });
  assert.deepEqual(action('withdraw'), { name: 'withdraw', id: null });
});

test('an invalid command of the market gets a message of one line', () => {
  const wrong = [
    'wallet',
    'wallet burn',
    'wallet new now',
    'wallet faucet 1',
    'wallet faucet 2.5',
    'wallet balance --url ftp://x',
    'launch --name Tok',
    'launch --name ABCDEFGHIJKLMNOPQ --ticker T',
    'launch --name Tok --ticker TOOLONG',
    'launch --name Tok --ticker T --initial 1.0000001',
    `buy ${TOKEN}`,
    `buy ${TOKEN} 1 --tokens 5`,
    `buy ${TOKEN} 0`,
    `buy ${TOKEN} 1e3`,
    `buy ${TOKEN} --tokens 1.5`,
    `buy ${TOKEN} 1 --slippage 20`,
    `buy ${TOKEN} 1 --min-output 1.5`,
    `sell ${TOKEN} 1 --min-output 0`,
    `sell ${TOKEN} 1 --wait-for 1h`,
    `sell ${TOKEN} 1 --min-output 1 --wait-for 9m`,
    `buy ${TOKEN} 1 --min-output 1 --wait-for 31d`,
    `buy ${TOKEN} 1 --min-output 1 --wait-for long`,
    `cancel ${REF} --min-output 5`,
    `buy ${TOKEN} 1 2`,
    'buy . 1',
    'buy TOKENS7 1',
    'buy T_K 1',
    `sell ${TOKEN}`,
    `sell ${TOKEN} 0`,
    `sell ${TOKEN} 5 --tokens 5`,
    `cancel ${REF.slice(1)}`,
    `lock ${TOKEN} 5`,
    `lock ${TOKEN} 5 --for 1y`,
    `lock ${TOKEN} 5 --for 1h --until 2030-01-01`,
    `lock ${TOKEN} 5 --until 2030-02-31T12:00Z`,
    `lock ${TOKEN} 5 --until tomorrow`,
    `lock ${TOKEN} 5 --for 1h --stages 11`,
    'withdraw now',
  ];
  for (const line of wrong) {
    const command = parsed(line);
    assert(typeof command === 'string', line);
    assert.match(command, /^[^\n]{5,120}$/, line);
  }
});

test('options go with their commands', () => {
  assert.equal(parsed('--speed 1'), '--speed goes with replay');
  assert.equal(parsed('replay x --pace 1'), '--pace goes with serve, cluster, devnet');
  assert.equal(parsed('constructor'), 'unknown command: constructor');
});

test('a word that is nearly another says which', () => {
  assert.match(String(parsed('serv')), /^unknown command: serv. Did you mean serve\?$/);
  assert.match(String(parsed('wacth')), /Did you mean watch\?$/);
  assert.match(String(parsed('help bui')), /Did you mean buy\?$/);
  assert.equal(parsed('replay x --sped 2'), 'unknown option: --sped. Did you mean --speed?');
  assert.equal(parsed('--nonsense'), 'unknown option: --nonsense');
  assert.equal(parsed('fly'), 'unknown command: fly');
});

test('a token is named by its id or its ticker', () => {
  const buy = action('buy RkT 5');
  assert(buy.name === 'buy');
  assert.deepEqual(buy.token, { ticker: 'RkT' });
});

test('help is of everything or of one command', () => {
  assert.deepEqual(parsed('--help'), { name: 'help', of: null });
  assert.deepEqual(parsed('help'), { name: 'help', of: null });
  assert.deepEqual(parsed('-h'), { name: 'help', of: null });
  assert.deepEqual(parsed('buy --help'), { name: 'help', of: 'buy' });
  assert.deepEqual(parsed('buy -h'), { name: 'help', of: 'buy' });
  assert.deepEqual(parsed('help buy'), { name: 'help', of: 'buy' });
  assert.match(String(parsed('help buy sell')), /unexpected argument: sell/);
  assert.deepEqual(parsed('--version'), { name: 'version' });
});

test('the help names every command, way to call it and option, in 100 columns', () => {
  const usage = usageOf(COMMANDS);
  for (const command of COMMANDS) {
    const { name, uses, options } = command;
    const help = helpOf(command);
    for (const [args] of uses) {
      const call = name === 'serve' ? 'npm start' : `npm start -- ${name} ${args}`.trimEnd();
      assert(usage.includes(call) && help.includes(call), call);
    }
    for (const option of Object.keys(options)) assert(help.includes(`--${option}`), option);
    for (const line of `${usage}${help}`.split('\n')) assert(line.length <= 100, line);
  }
});

test('a refund names the network, a key, and perhaps one order', () => {
  const usual = { name: 'refund', network: 'preprod', key: 'k', order: null, isDryRun: false };
  assert.deepEqual(parsed('refund --network preprod --key k'), usual);
  const order = { txHash: '1'.repeat(64), index: 0 };
  const one = { ...usual, order, isDryRun: true };
  assert.deepEqual(parsed(`refund ${REF} --network preprod --key k --dry-run`), one);
  const named = { ...usual, network: 'devnet', key: 'faucet' };
  assert.deepEqual(parsed('refund --network devnet --key faucet'), named);
  assert.match(String(parsed('refund --key k')), /--network preprod, preview or devnet/);
  assert.match(String(parsed('refund --network mainnet --key k')), /--network preprod, preview or/);
  assert.match(String(parsed('refund --network preview')), /needs --key FILE/);
  assert.match(String(parsed('refund abc --network preview --key k')), /an order as <tx>:<index>/);
});

test('a check of a deployment goes alone', () => {
  assert.deepEqual(parsed('deploy --check f'), { name: 'deploy check', file: 'f' });
  assert.match(String(parsed('deploy --check f --network preview')), /without other options/);
});
