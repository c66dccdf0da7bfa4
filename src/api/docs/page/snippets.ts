/**
 * Code for a reader to copy. The page's script replaces `ORIGIN` by its own address; without the
 * script it is the address of `npm start`.
 */
import type { Json } from '../../../engine/runtime/json.ts';
import { type Html, html } from './html.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';

export const ORIGIN = 'http://localhost:8080';

/** Code with a button; `live`: addresses and ids in it are replaced by ones of this market. */
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

/** The request of the examples as a line for a shell. */
export function curl(method: string, path: string, operation: Json): string {
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
  const url = `'${ORIGIN}${filled}${query === '' ? '' : `?${query}`}'`;
  return [method === 'POST' ? `curl -X POST ${url}` : `curl ${url}`, ...bodyOf(operation)].join(
    ' \\\n  ',
  );
}

function bodyOf(operation: Json): readonly string[] {
  const [form, json] = ['multipart/form-data', 'application/json'].map((type) =>
    at(operation, 'requestBody', 'content', type, 'example'),
  );
  if (form !== undefined) {
    return entriesAt(form).map(([name, value]) =>
      typeof value === 'string'
        ? `-F '${name}=${value};type=image/png'`
        : `-F ${quoted(`${name}=${JSON.stringify(value)}`)}`,
    );
  }
  if (json === undefined) return [];
  return [`-H 'content-type: application/json'`, `-d ${quoted(JSON.stringify(json))}`];
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
