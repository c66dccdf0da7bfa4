/** How a node handles a log and a state that do not fit, and a missing one. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MarketRecord } from '../../../src/engine/fold/marketRecord.ts';
import { LocalLog } from '../../../src/engine/log/local.ts';
import { verifyState } from '../../../src/engine/recovery/verify.ts';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import type { MarketOrigin } from '../../../src/engine/runtime/marketIdentity.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { peekCheckpoint } from '../../../src/engine/store/peek.ts';
import { checkRebuild, checkWorld } from '../../support/foldCheck.ts';
import { FoldModel } from '../../support/foldModel.ts';
import { FoldWorld, type FoldWorldOptions } from '../../support/foldWorld.ts';
import { manyLines, rollbackTo, tradeLine } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

const START_MS = Date.UTC(2024, 0, 1);
const OPTIONS: Partial<FoldWorldOptions> = { latenessMs: 30_000 };

interface Market {
  readonly world: FoldWorld;
  readonly model: FoldModel;
  /** Stops the world, lets `damage` work on its directory, and opens it again. */
  reopened(damage: (directory: string) => void): Promise<Market>;
  /** Some more trades; everything must be right after them. */
  feedAndCheck(lines?: number): Promise<void>;
}

async function openNode(scope: TestContext, directory: string, model?: FoldModel) {
  const world = await FoldWorld.open(scope, directory, OPTIONS, 1 + (model?.seq ?? 0));
  return marketOf(scope, world, model ?? new FoldModel(world.options.horizonBlocks));
}

function marketOf(scope: TestContext, world: FoldWorld, model: FoldModel): Market {
  return {
    world,
    model,
    async reopened(damage) {
      await world.stop();
      damage(world.directory);
      return openNode(scope, world.directory, model);
    },
    async feedAndCheck(lines = 8) {
      await world.feed(manyLines(lines, START_MS + world.seq * 10_000, 11_000));
      await checkWorld(world, model);
      await checkRebuild(world);
    },
  };
}

async function newMarket(scope: TestContext): Promise<Market> {
  const market = await openNode(scope, join(temporaryDirectory(scope), 'world'));
  await market.feedAndCheck(24);
  return market;
}

const remove = (name: string) => (directory: string) => {
  for (const file of readdirSync(directory)) {
    if (file.startsWith(name)) rmSync(join(directory, file));
  }
};

test('a fresh directory starts epoch 1', async (scope) => {
  const { world } = await openNode(scope, join(temporaryDirectory(scope), 'world'));
  assert.match(world.node.applied().epoch, /^1-/);
  assert.equal(world.seq, 1);
  assert.equal(world.said.epochs.length, 1);
});

test('log and state that fit go on in the same epoch', async (scope) => {
  const before = await newMarket(scope);
  const { epoch } = before.world.node.applied();
  const after = await before.reopened(() => {});
  assert.equal(after.world.node.applied().epoch, epoch);
  assert.deepEqual(after.world.said.epochs, []);
  await after.feedAndCheck();
});

const LOST_STATES: Readonly<Record<string, (directory: string) => void>> = {
  deleted: remove('state'),
  empty: (directory) => {
    remove('state')(directory);
    writeFileSync(join(directory, 'state.sqlite'), '');
  },
  garbage: (directory) => {
    remove('state')(directory);
    writeFileSync(join(directory, 'state.sqlite'), 'no database at all '.repeat(1_000));
  },
  'marked as damaged': (directory) => writeFileSync(join(directory, 'state.damaged'), 'a why\n'),
};

for (const [what, damage] of Object.entries(LOST_STATES)) {
  test(`a state that is ${what} is made again from the log, in the same epoch`, async (scope) => {
    const before = await newMarket(scope);
    const position = before.world.node.applied();
    const hash = before.world.node.stateHash();
    const after = await before.reopened(damage);
    assert.deepEqual(after.world.node.applied(), position);
    assert.equal(after.world.node.stateHash(), hash);
    assert.deepEqual(after.world.said.epochs, []);
    assert.ok(!existsSync(after.world.files.damaged));
    await after.feedAndCheck();
  });
}

test('a state behind its log folds on', async (scope) => {
  const before = await newMarket(scope);
  const copy = join(temporaryDirectory(scope), 'copy');
  const later = await before.reopened((directory) => cpSync(directory, copy, { recursive: true }));
  await later.feedAndCheck();
  const position = later.world.node.applied();
  const after = await later.reopened((directory) => {
    remove('state')(directory);
    cpSync(join(copy, 'state.sqlite'), join(directory, 'state.sqlite'));
  });
  assert.deepEqual(after.world.node.applied(), position);
  await after.feedAndCheck();
});

const LOST_LOGS: Readonly<Record<string, (directory: string, copy: string) => void>> = {
  deleted: remove('log'),
  'an older copy': (directory, copy) => {
    remove('log')(directory);
    cpSync(join(copy, 'log.sqlite'), join(directory, 'log.sqlite'));
  },
};

for (const [what, damage] of Object.entries(LOST_LOGS)) {
  test(`with a log that is ${what} the state continues in a new epoch`, async (scope) => {
    const before = await newMarket(scope);
    const copy = join(temporaryDirectory(scope), 'copy');
    const later = await before.reopened((place) => cpSync(place, copy, { recursive: true }));
    await later.feedAndCheck();
    const { seq } = later.world;
    const lost = await later.reopened((directory) => damage(directory, copy));
    assert.match(lost.world.node.applied().epoch, /^2-/);
    assert.equal(lost.world.seq, seq + 1);
    assert.equal(await lost.world.log.first(), seq + 1);
    await lost.feedAndCheck();

    const rebuilt = await lost.reopened(remove('state'));
    assert.match(rebuilt.world.node.applied().epoch, /^2-/);
    await rebuilt.feedAndCheck();
    const again = await rebuilt.reopened(remove('log'));
    assert.match(again.world.node.applied().epoch, /^3-/);
    await again.feedAndCheck();
  });
}

test('a rollback to before a lost log puts bars and market time back', async (scope) => {
  const before = await newMarket(scope);
  const target = before.model.now.blocks.at(-20);
  assert.ok(target !== undefined);
  const lost = await before.reopened(remove('log'));
  await lost.feedAndCheck();
  const { seq } = lost.world;
  await lost.world.feed([rollbackTo(target.atMs)]);
  await checkWorld(lost.world, lost.model);
  assert.equal(lost.model.kinds.get(seq + 1), 'rollback');
  const marketMs = (at: number) => lost.model.snapshots.get(at)?.marketMs;
  assert.equal(marketMs(seq + 1), marketMs(target.seq));
  await lost.feedAndCheck();
});

test('a restarted log keeps its epoch when the node dies at once', async (scope) => {
  const before = await newMarket(scope);
  const lost = await before.reopened(remove('log'));
  const { epoch } = lost.world.node.applied();
  const crashed = await lost.world.crashed();
  assert.equal(crashed.node.applied().epoch, epoch);
  await marketOf(scope, crashed, lost.model).feedAndCheck();
});

test('the state of another log starts a new epoch from that state', async (scope) => {
  const mine = await newMarket(scope);
  const other = await openNode(scope, join(temporaryDirectory(scope), 'other'));
  await other.world.feed([tradeLine({ id: '1', timeMs: START_MS })]);
  const otherFile = other.world.files.state;
  await other.world.stop();
  const { seq } = mine.world;
  const mixed = await mine.reopened((directory) => {
    remove('state')(directory);
    cpSync(otherFile, join(directory, 'state.sqlite'));
  });
  assert.ok(mixed.world.seq < seq);
  assert.match(mixed.world.node.applied().epoch, /^2-/);
  await checkRebuild(mixed.world);
});

const ORIGIN = { network: 'devnet', deployment: 'a' };

async function opened(
  scope: TestContext,
  directory: string,
  origin: MarketOrigin | null,
  seed = 1,
) {
  return FoldWorld.open(scope, directory, { ...OPTIONS, origin }, seed);
}

for (const [what, origin] of [
  ['of another market', ORIGIN],
  ['of another market, from before there were identities,', null],
] as const) {
  test(`a log ${what} is neither followed nor replaced`, async (scope) => {
    const places = ['mine', 'other'].map((name) => join(temporaryDirectory(scope), name));
    for (const [seed, directory] of places.entries()) {
      const world = await opened(scope, directory, origin, seed + 1);
      await world.feed([tradeLine({ id: '1', timeMs: START_MS })]);
      await world.stop();
    }
    const [mine = '', other = ''] = places;
    const own = peekCheckpoint(join(mine, 'state.sqlite'));
    const theirs = peekCheckpoint(join(other, 'state.sqlite'));
    const names = [own, theirs].map((found) => found?.market?.id.slice(0, 12) ?? found?.epoch);
    remove('log')(mine);
    cpSync(join(other, 'log.sqlite'), join(mine, 'log.sqlite'));
    const files = ['log.sqlite', 'state.sqlite'].map((name) => join(mine, name));
    const before = files.map((file) => readFileSync(file));
    await assert.rejects(opened(scope, mine, ORIGIN), (error) => {
      assert.ok(isFault(error, 'otherMarket'), String(error));
      return names.every((name) => error.message.includes(name ?? '-'));
    });
    const after = files.map((file) => readFileSync(file));
    assert.deepEqual(after, before);
  });
}

test('a directory from before there were identities still works', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  for (const origin of [null, ORIGIN, ORIGIN]) {
    const world = await opened(scope, directory, origin);
    await world.feed([tradeLine({ id: `${world.seq}`, timeMs: START_MS + world.seq * 1_000 })]);
    assert.match(world.node.applied().epoch, /^1-/);
    await world.stop();
  }
});

test('a directory of another network or deployment is refused', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  const world = await opened(scope, directory, ORIGIN);
  await world.feed([tradeLine({ id: '1', timeMs: START_MS })]);
  await world.stop();
  const { market } = peekCheckpoint(join(directory, 'state.sqlite')) ?? {};
  assert.ok(market !== undefined);
  new MarketRecord(directory, ORIGIN).write(market);
  const preprod = { ...ORIGIN, network: 'preprod' };
  await assert.rejects(opened(scope, directory, preprod), /devnet.*preprod.*NETWORK/s);
  const deployed = { ...ORIGIN, deployment: 'b' };
  await assert.rejects(opened(scope, directory, deployed), /KEYS_FILE/);
});

test('a replaced log stays beside the new one', async (scope) => {
  const before = await newMarket(scope);
  const copy = join(temporaryDirectory(scope), 'copy');
  const later = await before.reopened((place) => cpSync(place, copy, { recursive: true }));
  await later.feedAndCheck();
  const lost = await later.reopened((place) => {
    remove('log')(place);
    cpSync(join(copy, 'log.sqlite'), join(place, 'log.sqlite'));
  });
  assert.match(lost.world.node.applied().epoch, /^2-/);
  const kept = await LocalLog.open({
    file: join(lost.world.directory, 'log.sqlite.replaced'),
    maxMb: 0,
  });
  scope.after(() => kept.close());
  assert.match((await kept.epoch()) ?? '', /^1-/);
});

test('a rollback beyond the horizon survives a crash right after it', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  const world = await FoldWorld.open(scope, directory, { ...OPTIONS, horizonBlocks: 3 });
  const model = new FoldModel(3);
  await world.feed(manyLines(40, START_MS, 7_000));
  const { seq } = world;
  await world.feed([rollbackTo(START_MS + 10 * 7_000)]);
  await checkWorld(world, model);
  assert.equal(model.kinds.get(seq + 1), 'epoch');
  assert.equal(world.said.epochChanges, 1);
  const crashed = await world.crashed();
  await checkWorld(crashed, model);
  assert.match(crashed.node.applied().epoch, /^2-/);
  await marketOf(scope, crashed, model).feedAndCheck();
});

test('verify finds a right state right, and names the tables of a wrong one', async (scope) => {
  const { world } = await newMarket(scope);
  await world.stop();
  const log = await LocalLog.open({ file: world.files.log, maxMb: 0 });
  scope.after(() => log.close());
  const options = { ...world.options, clock: systemClock, quarantined: () => {} };
  const right = await verifyState(log, world.files, options);
  assert.equal(right?.stateHash, right?.rebuiltHash);
  assert.deepEqual(right?.differing, []);
  const database = openDatabase(world.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  database.exec('UPDATE bars SET seq = seq + 1 WHERE resolution = 5');
  database.close();
  await assert.rejects(verifyState(log, world.files, options), (error: Error) => {
    return error.message.startsWith(world.files.state) && /remove it/.test(error.message);
  });
  rmSync(`${world.files.state}-sums`);
  const wrong = await verifyState(log, world.files, options);
  assert.deepEqual(wrong?.differing, ['bars']);
});
