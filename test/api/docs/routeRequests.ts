/** The sample request of each route of the OpenAPI document, as bytes. */
import type { JsonObject } from '../../../src/api/docs/definitions.ts';
import { pictureOf } from '../../../src/client/trade/picture.ts';
import { DOCUMENTED_KEY, REQUESTS, type Sample } from './requests.ts';
import { at, keysAt } from './sample.ts';
import type { Stage } from './stage.ts';

const BOUNDARY = 'x-form';
const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly target: string;
  /** Needed by the route: its key, the type of its body. */
  readonly lines: readonly string[];
  /** As latin1; '': none. */
  readonly body: string;
  readonly isStream: boolean;
  /** Names of the path's parameters, sorted. */
  readonly methods: readonly string[];
}

/** In the order of the samples: the last ones change the chain. */
export function samplesOf(openapi: JsonObject, stage: Stage): Asked[] {
  const names = keysAt(openapi, 'paths').flatMap((path) =>
    keysAt(openapi, `paths ${path}`).map((method) => [method, path] as const),
  );
  const order = Object.keys(REQUESTS);
  const nameOf = ([method, path]: readonly [string, string]) =>
    `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
  return names
    .sort((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b)))
    .map(([method, path]) => {
      const sample = REQUESTS[nameOf([method, path])];
      if (sample === undefined) throw new Error(`no sample request for ${method} ${path}`);
      const types = keysAt(openapi, `paths ${path} ${method} responses 200 content`);
      return {
        ...requestOf(path, sample(stage)),
        method: method.toUpperCase(),
        isStream: types.includes('text/event-stream'),
        methods: allowed(keysAt(openapi, `paths ${path}`)),
      };
    });
}

function allowed(documented: readonly string[]): string[] {
  const methods = documented.map((method) => method.toUpperCase());
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
}

function requestOf(path: string, { params = {}, query = {}, body, form, needsKey }: Sample) {
  const inPath = path.replaceAll(/\{(\w+)\}/g, (_whole, name) =>
    encodeURIComponent(String(at(params, name))),
  );
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const key = needsKey === true ? [`Authorization: Bearer ${DOCUMENTED_KEY}`] : [];
  const type = form === undefined ? 'application/json' : FORM_TYPE;
  const text = form === undefined ? jsonOf(body) : formOf(form);
  return {
    target: search.size === 0 ? inPath : `${inPath}?${search}`,
    lines: text === '' ? key : [...key, `Content-Type: ${type}`],
    body: text,
  };
}

function jsonOf(body: Sample['body']): string {
  return body === undefined ? '' : Buffer.from(JSON.stringify(body)).toString('latin1');
}

function formOf(info: JsonObject): string {
  const picture = Buffer.from(pictureOf('Second')).toString('latin1');
  return [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="image"; filename="logo.png"',
    'Content-Type: image/png',
    '',
    picture,
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="info"',
    '',
    JSON.stringify(info),
    `--${BOUNDARY}--`,
    '',
  ].join('\r\n');
}
