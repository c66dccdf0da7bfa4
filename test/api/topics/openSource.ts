/** Opens a source as a subscription with this data does. */
import assert from 'node:assert/strict';
import type { Source, Topic } from '../../../src/api/topics/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';

export function openSource(topic: Topic | undefined, data: unknown): Source {
  const open = topic?.accept(data);
  assert(open !== undefined && !(open instanceof Failure), `${topic?.name}: the data is accepted`);
  const source = open();
  assert(!(source instanceof Failure), `${topic?.name}: a source opens`);
  return source;
}
