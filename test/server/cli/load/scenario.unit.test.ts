/** Scenarios and options of `load`: their meaning, and the messages for invalid ones. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  readScenario,
  type Scenario,
  scenarioOf,
  variantsOf,
  withTokens,
} from '../../../../src/server/cli/load/scenario.ts';
import { generatorLimits, Totals } from '../../../../src/server/cli/load/totals.ts';
import { parsed } from '../parsed.ts';

const URL = 'http://127.0.0.1:8080';

function scenario(line: string): Scenario {
  const command = parsed(`load ${URL} ${line}`.trim().split(' '));
  assert(typeof command === 'object' && command.name === 'load', String(command));
  const found = scenarioOf(command.fields);
  assert(typeof found === 'object', String(found));
  return found;
}

test('options make a scenario: sockets in equal shares, the rate split over the routes', () => {
  const usual = scenario('');
  assert.deepEqual([usual.durationSeconds, usual.rampSeconds, usual.threads], [30, 5, 2]);
  assert.deepEqual(
    usual.sockets.map(({ transport, count, topics }) => [transport, count, topics.length]),
    [['websocket', 100, 3]],
  );
  const mixed = scenario('--sockets 5 --transport sse,msgpack --topics KOTH,Trades --ramp 0');
  assert.deepEqual(
    mixed.sockets.map(({ transport, count }) => [transport, count]),
    [
      ['sse', 3],
      ['msgpack', 2],
    ],
  );
  assert.deepEqual(mixed.sockets[0]?.topics, [
    { topic: 'KOTH', data: {} },
    { topic: 'Trades', data: { asset: '{hot}' } },
  ]);
  const asked = scenario('--routes /a,/b?c=d --rate 10');
  assert.deepEqual(asked.sockets, []);
  assert.deepEqual(
    asked.requests.map(({ path, perSecond, method }) => [method, path, perSecond]),
    [
      ['GET', '/a', 5],
      ['GET', '/b?c=d', 5],
    ],
  );
});

test('options that mean nothing get one line with what to do', () => {
  for (const [line, said] of [
    ['load', /takes the URL of a server/],
    ['load ftp://x', /no http\(s\) URL/],
    [`load ${URL}/?a=b`, /no http\(s\) URL/],
    [`load ${URL} more`, /unexpected argument: more/],
    [`load ${URL} --sockets many`, /--sockets takes a whole number/],
    [`load ${URL} --transport tcp`, /--transport takes websocket, msgpack, sse/],
    [`load ${URL} --duration soon`, /--duration takes a duration/],
    [`load ${URL} --threads 1.5`, /--threads takes/],
    [`load ${URL} --rate 5`, /--rate goes with --routes/],
    [`load ${URL} --routes /a --rate 0`, /--rate takes requests a second/],
    [`load ${URL} --scenario a.yaml --sockets 5`, /exclude each other/],
    [`load ${URL} --metrics nowhere`, /--metrics takes an http/],
    ['serve --sockets 5', /--sockets goes with load/],
  ] as const) {
    assert.match(String(parsed(line.split(' '))), said, line);
  }
});

test('each fault of a scenario file is named by its path', () => {
  for (const [text, said] of [
    ['a: [', /no YAML/],
    ['', /scenario/],
    ['5', /scenario/],
    ['name: x', /neither sockets nor requests/],
    ['socket: []', /scenario\.socket|scenario/],
    ['sockets: [{name: a, count: 0, topics: [{topic: KOTH}]}]', /sockets\.0\.count/],
    ['sockets: [{name: a, count: 1, topics: []}]', /sockets\.0\.topics/],
    [
      'sockets: [{name: a, count: 1, transport: udp, topics: [{topic: K}]}]',
      /sockets\.0\.transport/,
    ],
    [
      'sockets: [{name: a, count: 1, transport: sse, readKibPerSecond: 1, topics: [{topic: K}]}]',
      /readKibPerSecond goes with websocket/,
    ],
    ['requests: [{path: nowhere, perSecond: 1}]', /requests\.0\.path/],
    ['requests: [{path: /a, perSecond: -1}]', /requests\.0\.perSecond/],
    [`sockets: [${'{name: a, count: 90000, topics: [{topic: K}]},'.repeat(2)}]`, /100000 sockets/],
    [`a: &a [${'x,'.repeat(9)}]\n${'b: *a\n'.repeat(2)}`, /no YAML|scenario/],
  ] as const) {
    const found = readScenario(text);
    assert(typeof found === 'string', `${text} is refused`);
    assert.match(found, said, text);
  }
});

test('tokens take their places in turns; without a tail the hot ones do', () => {
  const tokens = { hot: ['h0', 'h1'], tail: ['t0', 't1', 't2'] };
  assert.deepEqual(withTokens({ a: '{hot}', b: ['{tail}'] }, tokens, 3), { a: 'h1', b: ['t0'] });
  assert.deepEqual(withTokens('{tail}', { ...tokens, tail: [] }, 1), 'h1');
  assert.equal(variantsOf('/a?b={hot}&c={tail}', tokens), 3);
  assert.equal(variantsOf('/a', tokens), 1);
});

test('the scenario of a market in examples/ is one', () => {
  const found = readScenario(readFileSync('examples/load/market.yaml', 'utf8'));
  assert(typeof found === 'object', String(found));
  assert.equal(found.hotTokens, 5);
  assert(found.sockets.some(({ reconnectEverySeconds }) => reconnectEverySeconds !== undefined));
  assert(found.sockets.some(({ readKibPerSecond }) => readKibPerSecond !== undefined));
  assert(JSON.stringify(found.sockets).includes('{tail}'));
});

test('the generator is the limit where it is busy, late or refused, and otherwise not', () => {
  const wanted = scenario('--routes /a --rate 100');
  const totals = (busy: number[], more: Partial<Totals> = {}) => {
    const made = Object.assign(new Totals(), more);
    made.busy.push(...busy);
    return made;
  };
  const answered = (count: number) => {
    const { routes } = new Totals();
    const { frameLatency: latency } = new Totals();
    return { routes: routes.set('/a', { statuses: { 200: count }, bytes: 0, latency }) };
  };
  const limits = (of: Totals) => generatorLimits(of, wanted, 10);
  assert.deepEqual(limits(totals([0.5, 0.9, 0.5, 0.5, 0.5], answered(1_000))), []);
  assert.match(limits(totals([0.9, 0.99, 0.5], answered(1_000))).join(), /85 % busy in 2 of 3/);
  assert.match(limits(totals([0.1], { ...answered(1_000), lateMs: 80 })).join(), /80 ms late/);
  assert.match(limits(totals([0.1], answered(500))).join(), /50 of 100 requests a second/);
  const lost = { lost: { 'code 1006: connect EMFILE': 3 } };
  assert.match(limits(totals([0.1], { ...answered(1_000), ...lost })).join(), /ulimit -n/);
});
