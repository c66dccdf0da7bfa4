/** Requests without end from a document and a seed: valid, mutated and hostile ones. */
import fc from 'fast-check';
import type { Operation, Served } from './document.ts';
import { type Ask, askOf, type Draft, Drafts } from './draft.ts';
import { hostile } from './hostile.ts';
import { mutated } from './mutations.ts';
import { type Finds, Values } from './values.ts';

/** Operations on the whole chain are rare and concern only a few blocks. */
const RARE_TAG = 'Devnet';
const MAX_BLOCKS = 3;
const LIMITED = ['blocks', 'depth'];
const WEIGHTS = { rare: 2, build: 6, other: 12, form: 24 };

export function generator(openapi: Served, finds: Finds): fc.Arbitrary<Ask> {
  const drafts = new Drafts(openapi, new Values(openapi, finds), finds);
  const perOperation = openapi.operations.map((operation) => {
    const valid = drafts.valid(operation).map(tamed);
    const arbitrary = fc.oneof(
      { weight: 3, arbitrary: valid.map((draft) => askOf('valid', draft)) },
      { weight: 4, arbitrary: mutated(valid).map((draft) => askOf('mutated', tamed(draft))) },
      { weight: 3, arbitrary: hostile(valid) },
    );
    return { weight: weightOf(operation), arbitrary };
  });
  return fc.oneof(...perOperation);
}

/** Valid ones, by route. */
export function validAsks(openapi: Served, finds: Finds): ReadonlyMap<string, fc.Arbitrary<Ask>> {
  const drafts = new Drafts(openapi, new Values(openapi, finds), finds);
  // This server has no API keys: test/api/webhooks asks those routes.
  const open = openapi.operations.filter(({ needsKey }) => !needsKey);
  const asks = open.map((operation): [string, fc.Arbitrary<Ask>] => [
    operation.route,
    drafts.valid(operation).map((draft) => askOf('valid', tamed(draft))),
  ]);
  return new Map(asks);
}

function weightOf({ tag, method, path, body }: Operation): number {
  if (tag === RARE_TAG) return WEIGHTS.rare;
  if (body?.type === 'multipart/form-data') return WEIGHTS.form;
  return method === 'POST' && !/^\/(v1|balances)\//.test(path) ? WEIGHTS.build : WEIGHTS.other;
}

function tamed(draft: Draft): Draft {
  if (!draft.path.startsWith('/devnet/')) return draft;
  const { body } = draft;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return draft;
  const fields = Object.entries(body).map(([name, value]) => {
    const isTooMuch = LIMITED.includes(name) && typeof value === 'number' && value <= 2_160;
    return [name, isTooMuch ? Math.min(value, MAX_BLOCKS) : value];
  });
  return { ...draft, body: Object.fromEntries(fields) };
}
