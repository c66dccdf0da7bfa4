/**
 * A server of the Model Context Protocol over any transport, with the official SDK: it lists tools
 * and calls them. A refused call is a result with `isError` and the error of the API, so that a
 * model can read the reason; only an unknown tool is an error of the protocol.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import * as http from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Answer } from '../gateway/port.ts';
import { type RouteTool, requestOf, type Tool, type ToolRequest } from './tools.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** The body of an answer, and whether it is an error. */
export interface Called {
  readonly isError: boolean;
  readonly text: string;
}

/** Asks the user of the program that called; a Failure: it cannot ask. */
export type Ask = (question: string) => Promise<boolean | Failure>;

/** A tool that is no route of the API. */
export interface OwnTool {
  readonly tool: Tool;
  call(given: Arguments, ask: Ask): Promise<Called | Failure>;
}

interface McpDeps {
  readonly version: string;
  readonly instructions: string;
  routes(): Promise<readonly RouteTool[] | Failure>;
  send(request: ToolRequest, tool: RouteTool): Promise<Called | Failure>;
  readonly own?: readonly OwnTool[];
}

export function mcpServer(deps: McpDeps): Server {
  const { version, instructions, own = [] } = deps;
  const server = new Server(
    { name: 'upcurve', version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const routes = await deps.routes();
    if (routes instanceof Failure) throw new McpError(ErrorCode.InternalError, routes.message);
    return { tools: [...own, ...routes].map(({ tool }) => ({ ...tool })) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const { name, arguments: given = {} } = params;
    return resultOf(await called(deps, name, given, (question) => ask(server, question)));
  });
  return server;
}

const ANSWER_MS = 600_000;

async function ask(server: Server, message: string): Promise<boolean | Failure> {
  if (server.getClientCapabilities()?.elicitation === undefined) {
    const remedy = 'use one that can, or the commands: npm start -- help';
    return new Failure('FORBIDDEN', `this program cannot ask its user (elicitation): ${remedy}`);
  }
  const sign = { type: 'boolean' as const, title: 'Sign and send' };
  const requestedSchema = { type: 'object' as const, properties: { sign }, required: ['sign'] };
  const asked = { mode: 'form' as const, message, requestedSchema };
  const { action, content } = await server.elicitInput(asked, { timeout: ANSWER_MS });
  return action === 'accept' && content?.sign === true;
}

async function called(
  deps: McpDeps,
  name: string,
  given: Arguments,
  ask: Ask,
): Promise<Called | Failure> {
  const own = deps.own?.find(({ tool }) => tool.name === name);
  if (own !== undefined) return own.call(given, ask);
  const routes = await deps.routes();
  if (routes instanceof Failure) return routes;
  const found = routes.find(({ tool }) => tool.name === name);
  if (found === undefined) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${name}`);
  const request = await requestOf(found, given);
  return request instanceof Failure ? request : deps.send(request, found);
}

function resultOf(called: Called | Failure): CallToolResult {
  if (!(called instanceof Failure)) {
    return { content: [{ type: 'text', text: called.text }], isError: called.isError };
  }
  const { cause, message, details, reason } = called;
  const text = JSON.stringify({ cause, message, details, reason });
  return { content: [{ type: 'text', text }], isError: true };
}

/** One message of Streamable HTTP and its answer, without a session. */
export async function answerMessage(message: unknown, deps: McpDeps): Promise<Answer> {
  const server = mcpServer(deps);
  const transport = new http.WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
  });
  await server.connect(transport);
  try {
    return await answerOf(await transport.handleRequest(requestWith(message)));
  } finally {
    await server.close();
  }
}

/** The gateway has checked the headers of the real one. */
function requestWith(message: unknown): Request {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const body = JSON.stringify(message);
  return new Request('http://localhost/mcp', { method: 'POST', headers, body });
}

async function answerOf(response: Response): Promise<Answer> {
  const type = response.headers.get('content-type');
  const body = await response.text();
  return { status: response.status, body, ...(type === null ? {} : { type }) };
}
