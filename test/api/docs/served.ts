/** The documents as a running devnet serves them, and checks by judges that are not ours. */
import { createRequire } from 'node:module';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/api/docs/definitions.ts';
import { DevnetWorld } from '../../e2e/devnet/world.ts';
import type { Scope } from '../../support/server.ts';
import { DOCUMENTED_ENV } from './requests.ts';

export interface Served {
  readonly world: DevnetWorld;
  readonly openapi: JsonObject;
  readonly asyncapi: JsonObject;
  readonly text: { readonly openapi: string; readonly asyncapi: string };
}

export async function servedDocuments(scope: Scope): Promise<Served> {
  const world = await DevnetWorld.start(scope, { env: DOCUMENTED_ENV });
  const read = async (name: string) => (await fetch(`${world.url}/v1/docs/${name}`)).text();
  const text = { openapi: await read('openapi'), asyncapi: await read('asyncapi') };
  return { world, text, openapi: parse(text.openapi), asyncapi: parse(text.asyncapi) };
}

/** Rules that do not fit, with the reason. */
const RULES = {
  // Health, metrics and the page take no input, so there is no input to refuse.
  'operation-4xx-response': 'off',
  // A socket needs no key either, and AsyncAPI cannot say so but by leaving it out.
  'security-defined': 'off',
  // Rules of Redocly that `recommended-strict` does not turn on and Spectral has too.
  'info-contact': 'error',
  'operation-description': 'error',
} as const;

/** Everything that Redocly's linter reports, warnings included. */
export async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES });
  const problems = await lintFromString({ source, absoluteRef: 'document.yaml', config });
  return problems.map(({ ruleId, message, location }) => {
    return `${ruleId} at ${location[0]?.pointer ?? ''}: ${message}`;
  });
}

/** The faults that AsyncAPI's published schema finds in a document. */
export function asyncapiFaults(document: unknown): string[] {
  const require = createRequire(import.meta.url);
  const schema = require('@asyncapi/specs/schemas/3.1.0-without-$id.json');
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.validate(schema, document);
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/**
 * Returns a function that lists the faults which JSON Schema finds in a value. Schemas may refer
 * into `document`.
 */
export function judgeOf(document: JsonObject): (schema: unknown, value: unknown) => string[] {
  const options = { strict: false, allErrors: true };
  // OpenAPI 3.1 takes the dialect 2020-12, AsyncAPI 3 takes draft 7.
  const ajv = 'openapi' in document ? new Ajv2020(options) : new Ajv(options);
  addFormats.default(ajv);
  const rebased = (schema: unknown): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"whole#/components/'));
  ajv.addSchema({ $id: 'whole', components: rebased(document.components) });
  return (schema, value) => {
    ajv.validate(rebased(schema), value);
    return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}
