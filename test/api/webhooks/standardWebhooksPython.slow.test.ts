/** The same by the official library for Python. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { hasFramework, howToGet, pythonPathOf } from '../../clients/frameworks.ts';
import { findPython } from '../../clients/python.ts';
import { delivered, OWN_SECRET } from './standardDelivery.ts';

const VERIFY = `
import json, sys
from standardwebhooks import Webhook, WebhookVerificationError
said = json.load(sys.stdin)
webhook = Webhook(said["secret"])
print(json.dumps(webhook.verify(said["body"], said["headers"])))
try:
    webhook.verify(said["body"] + " ", said["headers"])
    print("accepted")
except WebhookVerificationError:
    print("refused")
`;

const python = findPython();
const isThere = python !== null && hasFramework(python, 'standardwebhooks');
const skip = isThere ? false : `not tested without ${howToGet('standardwebhooks')}`;

test('the official Python library accepts a delivery, and no other body', { skip }, async (t) => {
  const { headers, body } = await delivered(t, OWN_SECRET);
  const input = JSON.stringify({ secret: OWN_SECRET, headers, body });
  const env = { ...process.env, PYTHONPATH: pythonPathOf('') };
  const { stdout, stderr } = spawnSync(python ?? '', ['-c', VERIFY], { input, env });
  const [read = '', other] = stdout.toString().trim().split('\n');
  assert.deepEqual([JSON.parse(read || 'null'), other], [JSON.parse(body), 'refused'], `${stderr}`);
});
