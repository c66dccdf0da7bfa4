/** Checks a problem document against the JSON schema of RFC 9457. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { RawAnswer } from '../gateway/raw.ts';

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../data/rfc9457.json'), 'utf8'),
);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const validate = ajv.compile(schema);

/** The problem of an answer with that status. */
export function isProblem(answer: RawAnswer, status: number): Record<string, unknown> {
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.match(answer.headers.vary ?? '', /\bAccept\b(?!-)/);
  const problem: unknown = JSON.parse(answer.body);
  assert(validate(problem), JSON.stringify(validate.errors));
  // trust: the schema says that it is an object
  const fields = problem as Record<string, unknown>;
  assert.equal(fields.status, status);
  for (const name of ['type', 'title']) assert(String(fields[name] ?? '') !== '', name);
  return fields;
}
