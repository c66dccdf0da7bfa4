/** `fetch` of a client of simulated nodes: each is `http://NAME.sim`, and answers in memory. */
import type { Fetch } from '../../../src/client/platform.ts';

interface NodeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** As much of a simulated node as a client uses. */
export interface AskedNode {
  readonly name: string;
  /** null: nothing answered. */
  request(
    method: string,
    path: string,
    body?: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<NodeAnswer | null>;
}

export function nodeUrl(name: string): string {
  return `http://${name}.sim`;
}

/** `nodeOf` finds a node by its name. */
export function nodeFetch(nodeOf: (name: string) => AskedNode | undefined): Fetch {
  return async (url, { method = 'GET', headers, body, signal }) => {
    const { hostname, pathname, search } = new URL(url);
    const node = nodeOf(hostname.replace(/\.sim$/, ''));
    if (node === undefined) throw unreachable('ENOTFOUND');
    const sent =
      body instanceof FormData ? await multipart(body) : { headers: {}, body: textOf(body) };
    // trust: the client passes a plain object
    const all = { ...(headers as Record<string, string> | undefined), ...sent.headers };
    const answer = await unlessAborted(
      node.request(method, pathname + search, sent.body, all),
      signal,
    );
    if (answer === null) throw unreachable('ECONNREFUSED');
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
}

function textOf(body: unknown): string | undefined {
  return typeof body === 'string' ? body : undefined;
}

function unreachable(code: string): TypeError {
  const cause = Object.assign(new Error(code), { code });
  return new TypeError('fetch failed', { cause });
}

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (signal === null || signal === undefined) return answer;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([answer, aborted.promise]).finally(() => {
    signal.removeEventListener('abort', abort);
  });
}

/** Node's own would draw the boundary from chance. */
const BOUNDARY = 'upcurve-simulated-form';

async function multipart(form: FormData) {
  const parts: Uint8Array[] = [];
  for (const [name, value] of form) {
    const isFile = typeof value !== 'string';
    const file = isFile ? `; filename="${value.name}"` : '';
    const type = isFile ? `content-type: ${value.type}\r\n` : '';
    const head = `content-disposition: form-data; name="${name}"${file}\r\n${type}`;
    parts.push(Buffer.from(`--${BOUNDARY}\r\n${head}\r\n`));
    parts.push(isFile ? new Uint8Array(await value.arrayBuffer()) : Buffer.from(value));
    parts.push(Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${BOUNDARY}--\r\n`));
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  return { headers, body: new Uint8Array(Buffer.concat(parts)) };
}
