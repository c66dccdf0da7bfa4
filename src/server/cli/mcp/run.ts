/**
 * `npm start -- mcp`: the Model Context Protocol on standard input and output. It reads a server by
 * HTTP, and signs with the wallet's file on this machine, each time after its user has said yes.
 * Standard output carries only messages of the protocol.
 */
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { INSTRUCTIONS } from '../../../api/mcp/routes.ts';
import { type Called, mcpServer } from '../../../api/mcp/server.ts';
import { type RouteTool, routeTools, type ToolRequest } from '../../../api/mcp/tools.ts';
import { Client, type Fetch } from '../../../client/index.ts';
import { TradingClient } from '../../../client/trade/tradingClient.ts';
import type { Clock } from '../../../engine/runtime/clock.ts';
import { Failure, messageOf } from '../../../engine/runtime/errors.ts';
import type { Json } from '../../../engine/runtime/json.ts';
import type { McpCommand } from '../commands/mcp.ts';
import { openWallet } from '../walletFile.ts';
import { walletTools } from './walletTools.ts';

interface McpCommandDeps {
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  /** To standard error. */
  complain(line: string): void;
}

const MAX_ATTEMPTS = 4;
const TIMEOUT_MS = 30_000;

const WALLET_INSTRUCTIONS =
  ' Tools that begin with "wallet" use the wallet of this machine. Each that moves something ' +
  'asks its user first, and shows what the bytes to be signed do.';

export async function runMcp(
  { url, walletFile }: McpCommand,
  { clock, fetch, signal, input, output, version, complain }: McpCommandDeps,
): Promise<number> {
  const client = new Client({ url, fetch, clock, maxAttempts: MAX_ATTEMPTS });
  const ofServer = new ServerTools(url, fetch);
  const server = mcpServer({
    version,
    instructions: INSTRUCTIONS + WALLET_INSTRUCTIONS,
    routes: () => ofServer.tools(),
    send: (request) => ofServer.send(request),
    own: walletTools(() => {
      // Read at each call, so that one made meanwhile counts.
      const opened = openWallet(walletFile);
      if (typeof opened === 'string') return new Failure('INVALID_PARAMS', opened);
      if (opened.warning !== null) complain(opened.warning);
      return new TradingClient(client, opened.wallet);
    }),
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    input.once('end', resolve);
    input.once('close', resolve);
    signal.addEventListener('abort', () => resolve());
  });
  server.onerror = (error) => complain(`mcp: ${error.message}`);
  await server.connect(new StdioServerTransport(input, output));
  await closed;
  await server.close();
  client.close();
  return 0;
}

/** The routes of a running server. Its document is asked for once it answers. */
class ServerTools {
  readonly #url: string;
  readonly #fetch: Fetch;
  #tools: readonly RouteTool[] | null = null;

  constructor(url: string, fetch: Fetch) {
    this.#url = url.replace(/\/+$/, '');
    this.#fetch = fetch;
  }

  async tools(): Promise<readonly RouteTool[] | Failure> {
    if (this.#tools !== null) return this.#tools;
    const target = '/v1/docs/openapi.json';
    const document = await this.send({ method: 'GET', target, body: null });
    if (document instanceof Failure) return document;
    try {
      // trust: the text was parsed as JSON; `routeTools` skips routes with missing parts
      this.#tools = routeTools(JSON.parse(document.text) as Json);
      return this.#tools;
    } catch {
      return new Failure('NOT_READY', `${this.#url} is no server of upcurve: give another --url`);
    }
  }

  async send({ method, target, body }: ToolRequest): Promise<Called | Failure> {
    try {
      const response = await this.#fetch(this.#url + target, {
        method,
        headers: { accept: 'application/json', ...(body && { 'content-type': body.type }) },
        ...(body && { body: new Uint8Array(body.bytes) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { isError: !response.ok, text: await response.text() };
    } catch (error) {
      const remedy = 'start one with npm start, or give another --url';
      return new Failure(
        'NOT_READY',
        `${this.#url} does not answer (${messageOf(error)}): ${remedy}`,
      );
    }
  }
}
