/**
 * Records the examples of the documents from a running devnet: `node scripts/recordExamples.ts`.
 * Everything comes from the public API; what there is to record, from the documents themselves.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '../src/api/docs/definitions.ts';
import type { RouteExample } from '../src/api/docs/examples.ts';
import { pictureOf } from '../src/client/trade/picture.ts';
import type { Json } from '../src/engine/runtime/json.ts';
import {
  DOCUMENTED_ENV,
  DOCUMENTED_KEY,
  REQUESTS,
  type Sample,
} from '../test/api/docs/requests.ts';
import { keysAt } from '../test/api/docs/sample.ts';
import { type Stage, setStage } from '../test/api/docs/stage.ts';
import { DevnetWorld } from '../test/e2e/devnet/world.ts';
import { temporaryDirectory } from '../test/support/server.ts';
import { recordErrors } from './recordErrors.ts';
import { SocketRecorder } from './recordFrames.ts';

const HOME = join(import.meta.dirname, '../src/api/docs/examples');
const ROOT = join(import.meta.dirname, '..');
/** Rows of a list and lines of a text that an example shows. */
const MAX_ROWS = 3;
const MAX_TEXT_LINES = 8;

/** `GET /v1/trades` for every route of the process, in the order in which they are asked. */
async function routesOf(url: string): Promise<string[]> {
  const document = await documentOf(url, 'openapi');
  const names = keysAt(document, 'paths').flatMap((path) =>
    keysAt(document, `paths ${path}`).map(
      (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  const order = Object.keys(REQUESTS);
  return names.sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

async function documentOf(url: string, name: string): Promise<Json> {
  return parse(await (await fetch(`${url}/v1/docs/${name}`)).text());
}

async function ask(url: string, route: string, sample: Sample): Promise<RouteExample> {
  const [method = '', pattern = ''] = route.split(' ');
  const { params = {}, query = {}, body, form, needsKey } = sample;
  const path = pattern.replaceAll(/:(\w+)/g, (_whole, name) =>
    encodeURIComponent(String(params[name])),
  );
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const headers: Record<string, string> = {};
  if (needsKey === true) headers.authorization = `Bearer ${DOCUMENTED_KEY}`;
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  if (form !== undefined) init.body = formOf(form);
  const response = await fetch(`${url}${path}?${search}`, init);
  const sent = form === undefined ? body : { image: '@logo.png', info: form };
  const { params: inPath, query: inQuery } = sample;
  const request = {
    ...(inPath === undefined ? {} : { params: inPath }),
    ...(inQuery === undefined ? {} : { query: inQuery }),
    ...(sent === undefined ? {} : { body: sent }),
  };
  return { request, status: response.status, ...(await shown(response)) };
}

function formOf(info: JsonObject): FormData {
  const form = new FormData();
  form.set('image', new Blob([pictureOf('Second')], { type: 'image/png' }), 'logo.png');
  form.set('info', JSON.stringify(info));
  return form;
}

async function shown(response: Response): Promise<{ body?: Json }> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('image/')) return {};
  if (type === 'text/event-stream') return { body: await firstLines(response) };
  const text = await response.text();
  if (/^\/v1\/docs\/\w+\.json$/.test(new URL(response.url).pathname))
    return { body: beginning(JSON.parse(text)) };
  if (type.startsWith('application/json')) return { body: cut(JSON.parse(text)) };
  return { body: `${text.split('\n').slice(0, MAX_TEXT_LINES).join('\n')}\n` };
}

/** The first lines of an answer that does not end. */
async function firstLines({ body }: Response): Promise<string> {
  let text = '';
  for await (const bytes of body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.split('\n').length > MAX_TEXT_LINES) break;
  }
  return `${text.split('\n').slice(0, MAX_TEXT_LINES).join('\n')}\n`;
}

/** A document would hold itself: its first field, with title and version. */
function beginning({
  info: { title, version },
  ...rest
}: Record<string, Json> & { info: JsonObject }) {
  const [first] = Object.entries(rest);
  return {
    ...(first === undefined ? {} : { [first[0]]: first[1] }),
    info: { title, version },
  } as Json;
}

/** Long lists by their first rows. */
function cut(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, MAX_ROWS).map((item) => cut(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, cut(child)]));
}

function write(name: string, value: object): void {
  writeFileSync(join(HOME, `${name}.json`), JSON.stringify(value, null, 2));
}

function withKey() {
  const file = join(temporaryDirectory(), 'api-keys.json');
  const keys = [{ name: 'example', sha256: hash('sha256', DOCUMENTED_KEY) }];
  writeFileSync(file, JSON.stringify({ keys }));
  return { API_KEYS_FILE: file };
}

async function record(): Promise<void> {
  const endings: (() => void | Promise<void>)[] = [];
  const world = await DevnetWorld.start(
    { after: (run) => void endings.unshift(run) },
    { env: { ...DOCUMENTED_ENV, ...withKey(), WEBHOOK_PRIVATE_RANGES: '127.0.0.1' } },
  );
  let stage: Stage = await setStage(world);
  const socket = await SocketRecorder.open(`ws://127.0.0.1:${world.port}/ws`);
  const channels = keysAt(await documentOf(world.url, 'asyncapi'), 'channels');
  await socket.subscribeAll(
    channels.filter((name) => name !== 'socket'),
    stage,
  );
  const errors = await recordErrors(world.url, stage);
  const routes: Record<string, RouteExample> = {};
  for (const name of await routesOf(world.url)) {
    const sample = REQUESTS[name];
    if (sample === undefined) console.log(`no sample request for ${name}`);
    else routes[name] = await ask(world.url, name, sample(stage));
    const status = routes[name]?.status ?? 200;
    if (name === 'POST /v1/webhooks') {
      stage = { ...stage, webhook: String(Reflect.get(Object(routes[name]?.body), 'id')) };
    }
    if (status !== 200) console.log(`${name}: ${status} ${JSON.stringify(routes[name]?.body)}`);
  }
  await socket.converse();
  for (const end of endings) await end();
  const topics = socket.frames();
  const { asset, pkh, from, to } = stage;
  for (const [name, value] of Object.entries({
    ids: { asset, pkh, from: String(from), to: String(to) },
    routes,
    topics,
    errors,
  })) {
    write(name, value);
  }
  execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['format', '--write', HOME]);
}

await record();
