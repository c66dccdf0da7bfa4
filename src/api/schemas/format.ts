/** `format`, of routes that also answer CSV. */
import Type from 'typebox';
import { OneOf } from './identifiers.ts';

export const Format = Type.Optional(
  OneOf(['json', 'csv'], {
    description: '`csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`.',
  }),
);

/** Rows of an answer that is a list. */
export function listOf(answer: unknown): readonly unknown[] {
  return Array.isArray(answer) ? answer : [];
}
