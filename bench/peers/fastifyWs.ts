/** Fastify with `ws`: rooms as sets, a message encoded once. Arguments: feed, installed folder. */

import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { follow } from './tradeFeed.ts';

interface Fastify {
  readonly server: Server;
  listen(options: { host: string; port: number }): Promise<string>;
}

const [feedPort = '', installed = ''] = process.argv.slice(2);
// trust: Fastify's own type is not installed here; these two members are used
const fastify = createRequire(join(installed, 'index.js'))('fastify') as () => Fastify;
const app = fastify();
const rooms = new Map<string, Set<WebSocket>>();

new WebSocketServer({ server: app.server, perMessageDeflate: false }).on('connection', (socket) => {
  socket.on('message', (bytes) => {
    const base = String(bytes);
    const room = rooms.get(base) ?? new Set();
    rooms.set(base, room.add(socket));
    socket.on('close', () => room.delete(socket));
    socket.send('"subscribed"');
  });
});
follow(Number(feedPort), (base, message) => {
  const text = JSON.stringify(message);
  for (const socket of rooms.get(base) ?? []) socket.send(text);
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`port ${new URL(url).port}\n`);
