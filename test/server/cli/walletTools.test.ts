/** Limits that several programs check are the same everywhere, and are the documented ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LaunchInfo } from '../../../src/api/builder/schema.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { walletTools } from '../../../src/server/cli/mcp/walletTools.ts';

const TOOLS = walletTools(() => new Failure('NOT_READY', 'this test opens no wallet'));

function inputOf(name: string): unknown {
  return TOOLS.find(({ tool }) => tool.name === name)?.tool.inputSchema;
}

test('a launch has the limits of the contract, over HTTP and as a tool', () => {
  for (const schema of [LaunchInfo, inputOf('walletLaunch')]) {
    const { name, ticker, description } = Reflect.get(Object(schema), 'properties');
    assert.equal(name.maxLength, 200);
    assert.equal(ticker.pattern, '^[A-Za-z0-9]{1,6}$');
    assert.equal(description.maxLength, 500);
  }
});

test('a tool locks tokens in at most ten stages', () => {
  const { stages } = Reflect.get(Object(inputOf('walletLock')), 'properties');
  assert.equal(stages.minimum, 1);
  assert.equal(stages.maximum, 10);
});
