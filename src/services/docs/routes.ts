/** The two documents as YAML, rendered once: they change with the program only. */
import { stringify } from 'yaml';
import type { Route } from '../../gateway/port.ts';
import type { Topic } from '../../topics/port.ts';
import { asyncapi } from './asyncapi.ts';
import type { JsonObject } from './definitions.ts';
import { readExamples } from './examples.ts';
import { type About, openapi } from './openapi.ts';

const TYPE = 'application/yaml';

/** `routes` and `topics` are all others of the process; the document lists its own routes too. */
export function docsRoutes(
  about: About,
  routes: readonly Route[],
  topics: readonly Topic[],
): readonly Route[] {
  const streams = document('asyncapi', 'AsyncAPI 3 of every topic', () =>
    asyncapi(about, topics, readExamples()),
  );
  const calls = document('openapi', 'OpenAPI 3.1 of every route', () =>
    openapi(about, all, readExamples()),
  );
  const own = [calls, streams];
  const all = [...routes, ...own];
  return own;
}

function document(name: string, summary: string, build: () => JsonObject): Route {
  let rendered: string | undefined;
  return {
    method: 'GET',
    path: `/v1/docs/${name}`,
    operationId: name,
    summary,
    tag: 'Documents',
    answers: { 200: { description: 'The document.', type: TYPE } },
    rate: 'read',
    needsSync: false,
    positioned: false,
    etag: true,
    gzip: true,
    handle() {
      rendered ??= stringify(build(), { aliasDuplicateObjects: false, lineWidth: 0 });
      return { body: rendered, type: TYPE };
    },
  };
}
