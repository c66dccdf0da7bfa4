/**
 * A whole market in one process, driven by commands: a server, clients that follow the client rule
 * and nothing else, and the truth. At every check the bars over HTTP are the model's and every
 * client holds what HTTP says, or was told; at every stop the state is what its log says.
 */
import assert from 'node:assert/strict';
import { assertSame, untilSame } from '../e2e/market.ts';
import { assertSound, startTestApp, type TestApp, verifyDirectory } from '../support/app.ts';
import { readHistory } from '../support/chart.ts';
import { barsOf, INTERVALS } from '../support/model.ts';
import { temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import { until } from '../support/until.ts';
import { CLIENT_COUNT, type Command, PAIR_COUNT } from './commands.ts';
import { pairAt, Truth } from './truth.ts';

const CATCH_UP_MS = 20_000;
const COMMAND_MS = 60_000;
const HORIZON_BLOCKS = 12;
const GATEWAY = { heartbeatMs: 40, sweepMs: 10, positionWaitMs: 200 };
const ENV = {
  HORIZON_BLOCKS: String(HORIZON_BLOCKS),
  COMMIT_EVERY_MS: '20',
  MAX_LOADED_POOLS: '2',
};

/** Runs after the scenario, last first. */
class Cleanup {
  readonly #runs: (() => void | Promise<void>)[] = [];

  after(run: () => void | Promise<void>): void {
    this.#runs.push(run);
  }

  async run(): Promise<void> {
    for (const run of this.#runs.toReversed()) await run();
  }
}

export interface Tally {
  scenarios: number;
  commands: number;
  trades: number;
  checks: number;
  told: number;
  revisions: number;
  recovered: number;
}

export function newTally(): Tally {
  return {
    scenarios: 0,
    commands: 0,
    trades: 0,
    checks: 0,
    told: 0,
    revisions: 0,
    recovered: 0,
  };
}

export class Market {
  readonly #scope: Cleanup;
  readonly #directory: string;
  readonly #truth = new Truth();
  readonly #tally: Tally;
  readonly #clients: StrictClient[] = [];
  #app: TestApp;

  private constructor(scope: Cleanup, tally: Tally, app: TestApp, directory: string) {
    this.#scope = scope;
    this.#tally = tally;
    this.#app = app;
    this.#directory = directory;
  }

  static async open(scope: Cleanup, tally: Tally): Promise<Market> {
    const directory = temporaryDirectory();
    const app = await startTestApp(scope, { directory, env: ENV, gateway: GATEWAY });
    const market = new Market(scope, tally, app, directory);
    for (let n = 0; n < CLIENT_COUNT; n += 1) {
      const encoding = n % 2 === 0 ? 'json' : 'msgpack';
      market.#clients.push(await StrictClient.connect(scope, app.app.port, encoding));
    }
    return market;
  }

  async obey(command: Command): Promise<void> {
    this.#tally.commands += 1;
    switch (command.kind) {
      case 'feed':
        await this.#feed(this.#truth.feed(command.lines, command.latenessMs), command.latenessMs);
        this.#tally.trades += command.lines.length;
        break;
      case 'rollback':
        await this.#feed(this.#truth.rollBack(command.backMs), 0);
        break;
      case 'restart':
        await this.#restart();
        break;
      case 'subscribe':
        await this.#subscribe(command);
        break;
      case 'unsubscribe': {
        const client = this.#client(command.client);
        const subscription = [...client.subscriptions.values()][command.which];
        if (subscription !== undefined) client.unsubscribe(subscription);
        break;
      }
      case 'reconnect':
        await this.#client(command.client).reconnect();
        break;
      case 'check':
        await this.check();
        break;
    }
  }

  /**
   * HTTP = model, clients = HTTP; clients that got an update load again, and then have everything.
   */
  async check(): Promise<void> {
    this.#tally.checks += 1;
    const { url } = this.#app;
    for (let pair = 0; pair < PAIR_COUNT; pair += 1) {
      const trades = this.#truth.of(pair);
      for (const interval of INTERVALS) {
        const history = await readHistory(url, { ...pairAt(pair), interval });
        const bars = (history?.bars ?? []).map(({ final: _, ...bar }) => bar);
        assert.deepEqual(bars, barsOf(trades, interval), `${interval} of pair ${pair}`);
      }
    }
    for (const client of this.#clients) {
      for (const subscription of client.subscriptions.values()) {
        await until('answered', () => !subscription.asking);
        client.check();
        await untilSame(url, subscription, CATCH_UP_MS);
        assert.equal(subscription.losses, 0, 'nothing is lost on a socket that reads');
        assert.deepEqual(subscription.refusals, []);
        if (subscription.whole || subscription.told === 0) continue;
        await client.reload(subscription);
        await until('answered', () => !subscription.asking);
        await assertSame(url, subscription);
      }
      client.check();
    }
  }

  /** Stops the server and compares its state with a rebuild from its log. */
  async close(): Promise<void> {
    for (const { subscriptions } of this.#clients) {
      for (const { told, revisions, recovered } of subscriptions.values()) {
        this.#tally.told += told;
        this.#tally.revisions += revisions;
        this.#tally.recovered += recovered.filter(Boolean).length;
      }
    }
    await this.#stop();
  }

  async #stop(): Promise<void> {
    await this.#app.stop();
    for (const client of this.#clients) assert.equal(await client.closed(), 4001);
    assertSound(await verifyDirectory(this.#directory, HORIZON_BLOCKS));
  }

  async #restart(): Promise<void> {
    await this.#stop();
    const options = { directory: this.#directory, env: ENV, gateway: GATEWAY };
    this.#app = await startTestApp(this.#scope, options);
    for (const client of this.#clients) await client.reconnect(this.#app.app.port);
  }

  async #feed(text: string, latenessMs: number): Promise<void> {
    const counts = await this.#app.feed(text, latenessMs);
    assert.equal(counts.rejected, 0);
  }

  async #subscribe(command: Extract<Command, { kind: 'subscribe' }>): Promise<void> {
    const { base, quote } = pairAt(command.pair);
    const interval = INTERVALS[command.interval] ?? 'min1';
    const params = {
      ...(command.reversed ? { base: quote, quote: base } : { base, quote }),
      interval,
      ...(command.filled ? { fill: 'previous' as const } : {}),
      ...(command.maxHz === null ? {} : { maxHz: command.maxHz }),
    };
    const client = this.#client(command.client);
    if (command.fromHttp) await client.chart(params);
    else client.subscribe(params);
  }

  #client(n: number): StrictClient {
    const client = this.#clients[n];
    assert(client !== undefined);
    return client;
  }
}

/** One market from its first command to its last check. */
export async function play(commands: readonly Command[], tally: Tally): Promise<void> {
  const scope = new Cleanup();
  try {
    const market = await Market.open(scope, tally);
    for (const command of commands) await inTime(command, market.obey(command));
    await market.check();
    await market.close();
    tally.scenarios += 1;
  } finally {
    await scope.run();
  }
}

/** Fails a command that never ends, so that a failure has its seed. */
async function inTime(command: Command, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const expire = () => reject(new Error(`${command.kind} never ended`));
    timer = setTimeout(expire, COMMAND_MS);
  });
  try {
    await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}
