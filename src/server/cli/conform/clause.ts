/** A promise of the README or the documents that can be tried from outside. */
import { isRecord } from '../../../client/socket/frame.ts';
import { type Answer, expect, type Target } from './target.ts';

export interface Clause {
  /** `group.name`; stable, for tables and tests. */
  readonly id: string;
  /** The promise, as a sentence. */
  readonly promise: string;
  /** Throws `Broken` where it is not kept and `Skipped` where it cannot be tried. */
  check(target: Target): Promise<void>;
}

/** A refusal with this status and cause, and a message for a person. */
export function expectRefusal({ status, json, text }: Answer, wanted: number, cause: string): void {
  const body = isRecord(json) ? json : {};
  const said = `${status} ${text.slice(0, 120)}`;
  expect(status === wanted && body.cause === cause, `${wanted} ${cause} was promised: ${said}`);
  expect(
    typeof body.message === 'string' && body.message !== '',
    `a refusal has a message: ${said}`,
  );
}

/** Equal as JSON; the order of fields does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (!isRecord(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
