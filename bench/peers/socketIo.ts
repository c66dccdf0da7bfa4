/** Socket.IO over WebSocket: its own rooms. Arguments: port of the feed, folder of its package. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { follow } from './tradeFeed.ts';

interface IoSocket {
  on(event: string, run: (base: string) => void): void;
  join(room: string): void;
  emit(event: string, value: string): void;
}

interface Io {
  on(event: 'connection', run: (socket: IoSocket) => void): void;
  to(room: string): { emit(event: string, value: object): void };
}

const [feedPort = '', installed = ''] = process.argv.slice(2);
// trust: Socket.IO's own type is not installed here; these members are used
const { Server } = createRequire(join(installed, 'index.js'))('socket.io') as {
  Server: new (server: object, options: object) => Io;
};
const PING_MS = 600_000;
const http = createServer();
const io = new Server(http, { transports: ['websocket'], pingInterval: PING_MS });
io.on('connection', (socket) => {
  socket.on('subscribe', (base) => {
    socket.join(base);
    socket.emit('subscribed', base);
  });
});
follow(Number(feedPort), (base, message) => io.to(base).emit('bar', message));
http.listen(0, '127.0.0.1', () => {
  // trust: it listens on TCP
  process.stdout.write(`port ${(http.address() as AddressInfo).port}\n`);
});
