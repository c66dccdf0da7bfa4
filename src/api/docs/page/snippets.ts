/**
 * Code for a reader to copy. The page's script replaces `ORIGIN` by its own address; without the
 * script it is the address of `npm start`.
 */
import type { Json } from '../../../engine/runtime/json.ts';
import { type Html, html } from './html.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';

export const ORIGIN = 'http://localhost:8080';

/** Code with a button; `live`: its addresses and ids are replaced by this market's. */
export function code(text: string, id?: string): Html {
  const name = id === undefined ? null : html` id="${id}"`;
  const button = html`<button type="button" class="copy" hidden>Copy</button>`;
  const box = html`<pre tabindex="0"><code class="live"${name}>${text}</code></pre>`;
  return html`<div class="code">${box}${button}</div>`;
}

export function pretty(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** A recorded answer, folded away. */
export function example(title: string, value: Json | undefined): Html | null {
  if (value === undefined) return null;
  const box = html`<pre tabindex="0"><code>${pretty(value)}</code></pre>`;
  return html`<details class="example"><summary>${title}</summary>${box}</details>`;
}

/** The request of the examples, as each language writes it. */
interface SampleRequest {
  readonly method: string;
  readonly url: string;
  /** JSON; undefined: none. */
  readonly body: Json | undefined;
  /** Fields of a form, with texts for files; undefined: none. */
  readonly form: readonly (readonly [string, Json])[] | undefined;
  readonly needsKey: boolean;
}

/** Header for a route that needs an API key; the reader has one from the operator of the server. */
const AUTHORIZATION = ['authorization', 'Bearer upc_YOUR_KEY'] as const;

/** The same request in three languages; the page shows the chosen one. */
export function samples(method: string, path: string, operation: Json): Html {
  const request = requestOf(method, path, operation);
  return inLanguages([
    ['curl', curl(request)],
    ['TypeScript', typescript(request)],
    ['Python', python(request)],
  ]);
}

/** A subscription in two languages, without any client library but a WebSocket. */
export function listenSamples(frame: Json): Html {
  const [text, socket] = [JSON.stringify(frame), `${ORIGIN.replace('http', 'ws')}/ws`];
  const typescript = `const socket = new WebSocket('${socket}');
const send = (frame: object) => socket.send(JSON.stringify(frame));
socket.onopen = () => send(${text});
socket.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.event === 'Ping') send({ messageType: 'pong', requestId: null });
  else console.log(frame);
};`;
  const python = `import json
from websockets.sync.client import connect

with connect("${socket}") as socket:
    socket.send(json.dumps(${pythonValue(frame)}))
    for text in socket:
        frame = json.loads(text)
        if frame["event"] == "Ping":
            socket.send('{"messageType":"pong","requestId":null}')
        else:
            print(frame)`;
  return inLanguages([
    ['frame', text],
    ['TypeScript', typescript],
    ['Python', python],
  ]);
}

function inLanguages(all: readonly (readonly [language: string, text: string])[]): Html {
  const choices = all.map(
    ([name]) => html`<button type="button" data-language="${name}">${name}</button>`,
  );
  const boxes = all.map(([name, text]) => html`<div data-language="${name}">${code(text)}</div>`);
  return html`<div class="samples"><div class="languages" role="group" aria-label="Language" hidden>
${choices}</div>${boxes}</div>`;
}

function requestOf(method: string, path: string, operation: Json): SampleRequest {
  const parameters = listAt(operation, 'parameters');
  const named = (where: string): [string, string][] =>
    parameters.flatMap((each): [string, string][] => {
      const value = at(each, 'example');
      const isMeant = textAt(each, 'in') === where && value !== undefined;
      return isMeant ? [[textAt(each, 'name'), String(value)]] : [];
    });
  const filled = named('path').reduce(
    (whole, [name, value]) => whole.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = named('query')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const exampleOf = (type: string) => at(operation, 'requestBody', 'content', type, 'example');
  const form = exampleOf('multipart/form-data');
  return {
    method,
    url: `${ORIGIN}${filled}${query === '' ? '' : `?${query}`}`,
    body: form === undefined ? exampleOf('application/json') : undefined,
    form: form === undefined ? undefined : entriesAt(form),
    needsKey: needsKey(operation),
  };
}

/**
 * Whether each listed way to call the route has a key; most routes can also be called without one.
 */
function needsKey(operation: Json): boolean {
  const ways = listAt(operation, 'security');
  return ways.length > 0 && ways.every((way) => at(way, 'apiKey') !== undefined);
}

const IMAGE = 'image/png';

/** A line for a shell. */
function curl({ method, url, body, form = [], needsKey: isKeyed }: SampleRequest): string {
  const key = isKeyed ? [`-H '${AUTHORIZATION.join(': ')}'`] : [];
  const fields = form.map(([name, value]) =>
    typeof value === 'string'
      ? `-F '${name}=${value};type=${IMAGE}'`
      : `-F ${quoted(`${name}=${JSON.stringify(value)}`)}`,
  );
  const json =
    body === undefined
      ? []
      : [`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(body))}`];
  const verb = method === 'GET' ? 'curl' : `curl -X ${method}`;
  return [`${verb} '${url}'`, ...key, ...fields, ...json].join(' \\\n  ');
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Runs in Node 22 and in a browser; a form reads its file as Node does. */
function typescript({ method, url, body, form, needsKey: isKeyed }: SampleRequest): string {
  const before: string[] = [];
  const options = method === 'GET' ? [] : [`  method: '${method}',`];
  const isJson = form === undefined && body !== undefined;
  const headers = [
    ...(isKeyed ? [`${AUTHORIZATION[0]}: '${AUTHORIZATION[1]}'`] : []),
    ...(isJson ? [`'content-type': 'application/json'`] : []),
  ];
  if (headers.length > 0) options.push(`  headers: { ${headers.join(', ')} },`);
  if (form !== undefined) {
    before.push(`import { openAsBlob } from 'node:fs';`, '', 'const form = new FormData();');
    for (const [name, value] of form) {
      const text =
        typeof value === 'string'
          ? `await openAsBlob(${JSON.stringify(value.replace(/^@/, ''))}, { type: '${IMAGE}' })`
          : `JSON.stringify(${JSON.stringify(value)})`;
      before.push(`form.set('${name}', ${text});`);
    }
    options.push('  body: form,');
  } else if (body !== undefined) {
    options.push(`  body: JSON.stringify(${JSON.stringify(body)}),`);
  }
  const end = options.length === 0 ? ');' : `, {\n${options.join('\n')}\n});`;
  return [
    ...before,
    `const answer = await fetch('${url}'${end}`,
    'if (!answer.ok) throw new Error(await answer.text());',
    'console.log(await answer.json());',
  ].join('\n');
}

function python({ method, url, body, form = [], needsKey: isKeyed }: SampleRequest): string {
  const [path = '', query = ''] = url.split('?');
  const parameters = [...new URLSearchParams(query)];
  const lines = [`    "${path}",`];
  if (parameters.length > 0) {
    lines.push(`    params=${pythonValue(Object.fromEntries(parameters))},`);
  }
  if (isKeyed) lines.push(`    headers=${pythonValue(Object.fromEntries([AUTHORIZATION]))},`);
  if (body !== undefined) lines.push(`    json=${pythonValue(body)},`);
  const files = form.map(([name, value]) => {
    const part =
      typeof value === 'string'
        ? `("logo.png", open(${JSON.stringify(value.replace(/^@/, ''))}, "rb"), "${IMAGE}")`
        : `(None, json.dumps(${pythonValue(value)}))`;
    return `"${name}": ${part}`;
  });
  if (files.length > 0) lines.push(`    files={${files.join(', ')}},`);
  return [
    ...(files.length > 0 ? ['import json', ''] : []),
    'import httpx',
    '',
    `answer = httpx.${method.toLowerCase()}(`,
    ...lines,
    ')',
    'answer.raise_for_status()',
    'print(answer.json())',
  ].join('\n');
}

/** A literal: JSON's texts and numbers are Python's. */
function pythonValue(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = entriesAt(value).map(([name, each]) => `"${name}": ${pythonValue(each)}`);
  return `{${fields.join(', ')}}`;
}
