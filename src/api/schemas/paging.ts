/** Paging parameters (protocol.md section 0): out of range is an error, never clamped. */
import Type from 'typebox';
import { OutputId } from './identifiers.ts';

export const Offset = Type.Optional({
  ...Type.Integer({ minimum: 0 }),
  default: 0,
  description: 'Rows to skip.',
});

export function Limit(usual: number, most: number) {
  return Type.Optional({ ...Type.Integer({ minimum: 1, maximum: most }), default: usual });
}

/** A cursor: for exact walks, where rows come and go between two pages. */
export function Before(what: string) {
  return Type.Optional({
    ...OutputId,
    description: `Only rows older than this ${what} (\`entityId\`), for an exact walk.`,
  });
}
