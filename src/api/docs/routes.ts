/**
 * Serves the API documents and their page. Each is rendered once: they change only with the
 * program.
 */

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import Type from 'typebox';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import type { Topic } from '../topics/port.ts';
import { asyncapi } from './asyncapi.ts';
import type { JsonObject } from './definitions.ts';
import { type Examples, readExamples } from './examples.ts';
import { llmsFullText, llmsText } from './llms.ts';
import { type About, openapi } from './openapi.ts';
import { page, SCRIPT_PATH, STYLE_PATH } from './page/page.ts';

const YAML = 'application/yaml';
const MARKDOWN = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';
const DOCUMENT = Type.Object({}, { additionalProperties: true });

/** Only content of this server, and no inline content. */
const HTML_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** `routes` and `topics` are all others of the process; the document lists its own routes too. */
export function docsRoutes(
  about: About,
  routes: readonly Route[],
  topics: readonly Topic[],
): readonly Route[] {
  const examples = once(readExamples);
  const streams = once(() => asyncapi(about, topics, examples()));
  const calls: () => JsonObject = once(() => openapi(about, all, examples()));
  const html = () => page(calls(), streams(), idsOf(examples()));
  const own = [
    served('/v1/docs/openapi', 'openapi', 'OpenAPI 3.1 of every route of the API', YAML, () =>
      yaml(calls()),
    ),
    served('/v1/docs/asyncapi', 'asyncapi', 'AsyncAPI 3 of every topic', YAML, () =>
      yaml(streams()),
    ),
    served(
      '/v1/docs/openapi.json',
      'openapiJson',
      'OpenAPI 3.1 of every route, as JSON',
      JSON_TYPE,
      () => JSON.stringify(calls()),
    ),
    served(
      '/v1/docs/asyncapi.json',
      'asyncapiJson',
      'AsyncAPI 3 of every topic, as JSON',
      JSON_TYPE,
      () => JSON.stringify(streams()),
    ),
    served('/llms.txt', 'llms', 'Contents of the documents, for language models', MARKDOWN, () =>
      llmsText(calls(), streams()),
    ),
    served('/llms-full.txt', 'llmsFull', 'All documents in one text', MARKDOWN, () =>
      llmsFullText(calls(), streams()),
    ),
    served('/docs', 'reference', 'This reference, as a page', 'text/html; charset=utf-8', html),
    served(STYLE_PATH, 'referenceStyle', 'Style of the page', 'text/css; charset=utf-8', styleText),
    served(
      SCRIPT_PATH,
      'referenceScript',
      'Script of the page',
      'text/javascript; charset=utf-8',
      scriptText,
    ),
  ];
  const all: readonly Route[] = [...routes, ...own];
  return own;
}

/** Makes them before the first request: some 0.3 s, in which nothing else is answered. */
export async function prepareDocuments(documents: readonly Route[]): Promise<void> {
  for (const each of documents) await each.handle({ query: {}, params: {}, body: undefined });
}

function served(
  path: string,
  operationId: string,
  summary: string,
  type: string,
  build: () => string | Promise<string>,
): Route {
  const body = once(build);
  const headers = type.startsWith('text/html') ? HTML_HEADERS : {};
  return route({
    method: 'GET',
    path,
    operationId,
    summary,
    tag: 'Documents',
    answers: {
      200: { description: summary, type, ...(type === JSON_TYPE ? { schema: DOCUMENT } : {}) },
    },
    rate: 'read',
    needsSync: false,
    positioned: false,
    etag: true,
    gzip: true,
    handle: async () => ({ body: await body(), type, headers }),
  });
}

async function yaml(document: JsonObject): Promise<string> {
  // Loaded when needed: few ask for the document as YAML.
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function idsOf({ ids }: Examples): JsonObject {
  return { ...ids };
}

function once<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}

function styleText(): string {
  return readFileSync(new URL('./page/style.css', import.meta.url), 'utf8');
}

/** Types become blanks: no build, and lines stay where they are. */
function scriptText(): string {
  return stripTypeScriptTypes(readFileSync(new URL('./browser/page.ts', import.meta.url), 'utf8'));
}
