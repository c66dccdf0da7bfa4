/**
 * Examples from real answers: what `scripts/recordExamples.ts` recorded from a running devnet.
 * A route or topic that was not recorded has none, and the documents are whole without it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../engine/runtime/json.ts';
import type { JsonObject } from './definitions.ts';

export interface RouteExample {
  readonly request: {
    readonly params?: JsonObject;
    readonly query?: JsonObject;
    readonly body?: Json;
  };
  readonly status: number;
  /** JSON, or an excerpt of a text; absent where the answer is an image. */
  readonly body?: Json;
}

/** Frames by the name of their message: `subscribe`, `LastBarUpdate`. */
export type FrameExamples = Readonly<Record<string, JsonObject>>;

export interface Examples {
  /** Ids in the samples that a reader may replace by ids of the running market. */
  readonly ids: Readonly<Record<string, string>>;
  /** By `<method> <path>` as the route has them. */
  readonly routes: Readonly<Record<string, RouteExample>>;
  /** By topic; `socket` for frames of none. */
  readonly topics: Readonly<Record<string, FrameExamples>>;
  /** Bodies by cause. */
  readonly errors: Readonly<Record<string, JsonObject>>;
}

export const NO_EXAMPLES: Examples = {
  ids: {},
  routes: {},
  topics: {},
  errors: {},
};

export function readExamples(): Examples {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(import.meta.dirname, 'examples', `${name}.json`), 'utf8'));
  const files = { ids: read('ids'), routes: read('routes'), topics: read('topics') };
  // trust: our own committed files; test/api/docs/examples.ts checks each by its schema
  return { ...files, errors: read('errors') } as Examples;
}
