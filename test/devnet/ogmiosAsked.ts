/** Asks a devnet's Ogmios; the published schema judges every message that it sends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { checkedMessages } from '../support/ogmios/scene.ts';
import type { Scope } from '../support/server.ts';

export interface Told {
  readonly id: unknown;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The value at this path of a message; undefined where it is not there. */
export function memberOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, name) => {
    return typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined;
  }, value);
}

export interface Asked {
  readonly socket: WebSocket;
  /** In the order of its answer, however many are under way. */
  ask(method: string, params?: object): Promise<Told>;
  /** Sends text and answers the next message. */
  say(text: string): Promise<Told>;
}

export async function asked(scope: Scope, url: string): Promise<Asked> {
  const check = checkedMessages(scope);
  const socket = new WebSocket(url);
  scope.after(() => socket.terminate());
  await once(socket, 'open');
  const waiting = new Map<unknown, (told: Told) => void>();
  let next: ((told: Told) => void) | null = null;
  let count = 0;
  socket.on('message', (data) => {
    check(String(data));
    // trust: the schema has judged it
    const told = JSON.parse(String(data)) as Told;
    const resolve = waiting.get(told.id) ?? next;
    waiting.delete(told.id);
    resolve?.(told);
  });
  return {
    socket,
    ask(method, params = {}) {
      count += 1;
      const id = count;
      const answered = new Promise<Told>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params, id }));
      return answered;
    },
    say(text) {
      const answered = new Promise<Told>((resolve) => {
        next = resolve;
      });
      socket.send(text);
      return answered;
    },
  };
}

/** The same over HTTP, with the status. */
export async function posted(scope: Scope, url: string, method: string, params: object = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', method, params, id: null });
  const response = await fetch(url, { method: 'POST', body });
  const text = await response.text();
  checkedMessages(scope)(text);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  // trust: the schema has judged it
  return { status: response.status, told: JSON.parse(text) as Told };
}
