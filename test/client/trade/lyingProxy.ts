/**
 * Between a client and a server: it passes everything on, except for the requests and answers that
 * it falsifies.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Lie {
  /** Replaces the request to the server. */
  readonly ask?: (body: string) => string;
  /** Replaces the answer to the client. */
  readonly answer?: (body: string) => string;
}

export interface LyingProxy {
  readonly url: string;
  /** Lies by path; all other requests pass. */
  lies: ReadonlyMap<string, Lie>;
  /** Paths that were asked. */
  readonly asked: string[];
}

export async function lyingProxy(
  scope: { after(run: () => Promise<void> | void): void },
  target: string,
): Promise<LyingProxy> {
  const state: { lies: LyingProxy['lies']; asked: string[]; url: string } = {
    ...{ lies: new Map(), asked: [], url: '' },
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const lie = state.lies.get(path.replace(/\?.*/, '')) ?? {};
    state.asked.push(path);
    const passed = async () => {
      const sent = lie.ask?.(await bodyOf(request));
      const body = sent === undefined ? await bodyOf(request) : sent;
      const type = request.headers['content-type'];
      const answer = await fetch(target + path, {
        method: request.method ?? 'GET',
        headers: type === undefined ? {} : { 'content-type': type },
        body: body === '' ? null : Buffer.from(body, 'latin1'),
      });
      const text = await answer.text();
      const isLie = answer.ok && lie.answer !== undefined;
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(isLie ? lie.answer?.(text) : text);
    };
    passed().catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  // trust: a TCP server has a port
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

const bodies = new WeakMap<IncomingMessage, Promise<string>>();

/** Bytes as characters, so that a form with a picture passes as it is. */
function bodyOf(request: IncomingMessage): Promise<string> {
  const read =
    bodies.get(request) ??
    request
      .setEncoding('latin1')
      .toArray()
      .then((all) => all.join(''));
  bodies.set(request, read);
  return read;
}
