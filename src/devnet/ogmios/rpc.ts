/** JSON-RPC 2.0 as Ogmios speaks it. Source: its specification, version 6.14. */
import { type JsonValue, jsonText, parseExactJson } from '../../engine/runtime/exactJson.ts';

export interface Request {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** As the client sent it; null without one. The answer repeats it. */
  readonly id: JsonValue;
}

export type RpcError = {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
};

export type Answer = { readonly result: JsonValue } | { readonly error: RpcError };

export const CODES = {
  /** This and below: of JSON-RPC, not of a method. */
  serverFault: -32000,
  notJson: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internalError: -32603,
  intersectionNotFound: 1000,
  intersectionInterleaved: 1001,
  ledgerStateUnavailable: 2000,
  genesisUnavailable: 2004,
  mustAcquireMempool: 4000,
} as const;

export function invalidParams(what: string): Answer & { readonly error: RpcError } {
  return { error: { code: CODES.invalidParams, message: `Invalid request: ${what}.` } };
}

/** Writing the id back recurses: a deeper one would exhaust the stack. */
const MAX_ID_DEPTH = 32;

/** Faults of the protocol itself name no method; their data, if any, is the method's own. */
export function answerText({ method, id }: Request, answer: Answer): string {
  if ('error' in answer && answer.error.code <= CODES.serverFault && !('data' in answer.error)) {
    return jsonText({ jsonrpc: '2.0', ...answer, id });
  }
  return jsonText({ jsonrpc: '2.0', method, ...answer, id });
}

/** Around JSON that is text already. */
export function resultText({ method, id }: Request, result: string): string {
  const head = `"jsonrpc":"2.0","method":${JSON.stringify(method)}`;
  return `{${head},"result":${result},"id":${jsonText(id)}}`;
}

/** Whether an answer's text is an error; it begins as the functions here write it. */
export function isError(answer: string): boolean {
  return /^\{"jsonrpc":"2\.0",(?:"method":"[^"]*",)?"error":/.test(answer);
}

/** To a request that is none; it names no method. */
export function faultText(code: number, details: string, id: JsonValue = null): string {
  const message = `Invalid request: ${details}.`;
  return jsonText({ jsonrpc: '2.0', error: { code, message }, id });
}

/** A request; for a text that is not a request, the error to answer. */
export function readRequest(text: string): Request | string {
  const value = parsed(text);
  if (value instanceof RangeError) {
    return faultText(CODES.invalidRequest, 'the request is nested too deeply');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return faultText(CODES.notJson, 'must be a well-formed JSON object');
  }
  // trust: an object
  const { jsonrpc, method, params, id } = value as Record<string, unknown>;
  // trust: it was read from JSON
  const reflected = (id ?? null) as JsonValue;
  if (!isShallow(id, MAX_ID_DEPTH)) {
    return faultText(CODES.invalidRequest, "field 'id' is nested too deeply");
  }
  if (jsonrpc !== '2.0') {
    return faultText(CODES.invalidRequest, "field 'jsonrpc' must be '2.0'", reflected);
  }
  if (typeof method !== 'string') {
    const details = "field 'method' must be present and be a string";
    return faultText(CODES.invalidRequest, details, reflected);
  }
  const isMap = typeof params === 'object' && params !== null && !Array.isArray(params);
  // trust: an object
  return { method, params: isMap ? (params as Record<string, unknown>) : {}, id: reflected };
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    // The reader of integers recurses: a stack that is exhausted is no fault of the JSON.
    return error instanceof RangeError ? error : undefined;
  }
}
