/** The key file: private, never written over, checked when it is read. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createWallet, openWallet } from '../../../src/server/cli/walletFile.ts';
import { temporaryDirectory } from '../../support/server.ts';

function newFile(): string {
  return join(temporaryDirectory(), 'wallet.json');
}

test('a new wallet is readable by its owner only and opens again', () => {
  const file = newFile();
  const made = createWallet(file);
  assert(typeof made !== 'string');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const opened = openWallet(file);
  assert(typeof opened !== 'string');
  assert.equal(opened.wallet.address, made.address);
  assert.equal(opened.warning, null);
  const other = createWallet(newFile());
  assert(typeof other !== 'string');
  assert.notEqual(other.address, made.address);
});

test('an existing file is left as it is', () => {
  const file = newFile();
  writeFileSync(file, 'precious');
  assert.match(String(createWallet(file)), /never written over/);
  assert.equal(readFileSync(file, 'utf8'), 'precious');
});

test('a file that others can read is used with a warning', () => {
  const file = newFile();
  createWallet(file);
  chmodSync(file, 0o644);
  const opened = openWallet(file);
  assert(typeof opened !== 'string');
  assert.match(opened.warning ?? '', /chmod 600/);
});

test('no file, another file and a damaged file are distinguished', () => {
  const file = newFile();
  assert.match(String(openWallet(file)), /wallet new/);
  for (const text of ['', '{}', '[1]', 'x']) {
    writeFileSync(file, text);
    assert.match(String(openWallet(file)), /no wallet of this program/);
  }
  const sound = newFile();
  createWallet(sound);
  const content = JSON.parse(readFileSync(sound, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...content, paymentSecret: '0'.repeat(64) }));
  assert.match(String(openWallet(file)), /damaged/);
});
