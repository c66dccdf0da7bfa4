/** A node is killed in the middle of its blocks and continues with the same chain. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { refText, type Utxo } from '../../src/cardano/codec/output.ts';
import { LedgerStream } from '../support/ledgerStream.ts';
import { ledgerOptions, openTestLedger } from '../support/ledgerWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { openLedger } from '../support/testChain.ts';
import { NaiveChain } from './naiveChain.ts';

interface Seen {
  readonly slot: number;
  readonly hash: string;
  readonly height: number;
  readonly ids: readonly string[];
}

/** Runs until `blocks` blocks were seen, and is killed between two of them or in one. */
async function runAndKill(directory: string, blocks: number): Promise<Seen[]> {
  const script = join(import.meta.dirname, 'paced.ts');
  const child: ChildProcess = spawn(process.execPath, [script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const seen: Seen[] = [];
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) {
    // trust: what paced.ts prints
    seen.push(JSON.parse(line) as Seen);
    if (seen.length >= blocks) child.kill('SIGKILL');
  }
  const [, signal] = await exit;
  assert.equal(signal, 'SIGKILL');
  return seen;
}

test('continues with the same chain after kill -9', { timeout: 240_000 }, async () => {
  const directory = temporaryDirectory();
  const genesis = [...openTestLedger(ledgerOptions(temporaryDirectory())).ledger.chain.all()];
  let told: Seen[] = [];
  for (const blocks of [5, 25, 60]) {
    const seen = await runAndKill(directory, blocks);
    assert.deepEqual(seen.slice(0, told.length), told.slice(0, seen.length), 'the same blocks');
    if (seen.length > told.length) told = seen;
  }
  assert.ok(
    told.some(({ ids }) => ids.length > 0),
    'something was paid',
  );
  checkFile(directory, told, genesis);
});

function checkFile(directory: string, told: readonly Seen[], genesis: Iterable<Utxo>): void {
  const { ledger, file } = openLedger(ledgerOptions(directory), 50);
  const model = new NaiveChain([...genesis]);
  const stream = new LedgerStream(ledger, file, null);
  for (let events = stream.read(); events.length > 0; events = stream.read()) {
    for (const event of events) model.apply(event);
  }
  const { hashes } = model;
  assert.deepEqual(
    hashes.slice(0, told.length),
    told.map(({ hash }) => hash),
  );
  const names = [...ledger.chain.all()].map(({ ref }) => refText(ref));
  assert.deepEqual(names.sort(), [...model.confirmed().keys()].sort(), 'no output more or less');
  const slots = hashes.map((_, at) => file.head(at + 1)?.slot ?? 0);
  assert.ok(
    slots.every((slot, at) => slot > (slots[at - 1] ?? 0)),
    'slots only grow',
  );
  assert.ok(ledger.slot >= (slots.at(-1) ?? 0));
  file.close();
}
