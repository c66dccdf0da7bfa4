/** An HTTP server that behaves as Kubo's `/api/v0/add` and `/cat` do, or as a broken one. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { cidOf } from '../../../src/api/images/cid.ts';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

interface FakeNode {
  readonly url: string;
  /** Path and query of each request. */
  readonly asked: string[];
  readonly authorizations: (string | undefined)[];
  readonly held: Map<string, Buffer>;
  /** Instead of what Kubo does, until it is null again. */
  respond: Respond | null;
}

export async function startNode(scope: TestContext): Promise<FakeNode> {
  const held = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    node.asked.push(`${request.method} ${request.url}`);
    node.authorizations.push(request.headers.authorization);
    if (node.respond !== null) node.respond(request, response);
    else answer(request, response, held).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const node: FakeNode = { url, asked: [], authorizations: [], held, respond: null };
  return node;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  held: Map<string, Buffer>,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://node');
  const json = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(body)}\n`);
  };
  if (request.method !== 'POST') {
    json(405, { Message: 'only POST' });
  } else if (pathname === '/api/v0/add') {
    const type = request.headers['content-type'] ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    const file = form.get('file');
    if (!(file instanceof File)) return json(400, { Message: 'no file' });
    const bytes = Buffer.from(await file.arrayBuffer());
    const cid = await cidOf(bytes);
    held.set(cid, bytes);
    json(200, { Name: file.name, Hash: cid, Size: String(bytes.length) });
  } else {
    const cid = searchParams.get('arg') ?? '';
    const bytes = held.get(cid);
    const Message = `block was not found locally (offline): ipld: could not find ${cid}`;
    if (bytes === undefined) return json(500, { Message, Code: 0, Type: 'error' });
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(bytes.subarray(0, Number(searchParams.get('length'))));
  }
}
