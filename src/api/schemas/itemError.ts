/** One item of a call with many that failed, while the others are answered. */
import Type from 'typebox';
import type { Failure } from '../../engine/runtime/errors.ts';

export const ItemError = Type.Object(
  {
    error: Type.Object({
      cause: Type.String({ description: 'For a machine; see the list of causes.' }),
      message: Type.String({ description: 'For a person: what happened and what to do.' }),
      path: Type.String({ description: 'Which item: `body.3`.' }),
    }),
  },
  { $id: 'ItemError' },
);

export function itemError({ cause, message }: Failure, path: string) {
  return { error: { cause, message, path } };
}
