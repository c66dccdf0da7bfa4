/** The servers of programs: accepts every delivery, and counts them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { offer } from '../support/offers.ts';

export type HookReceiver = typeof offers;

let deliveries = 0;
let bytes = 0;
let newest = '';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    deliveries += 1;
    bytes += body.length;
    if (deliveries % 100 === 1) newest = body.toString();
    response.writeHead(204).end();
  });
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

const offers = {
  // trust: it listens on a port
  port: () => (server.address() as AddressInfo).port,
  counted: () => ({ deliveries, bytes }),
  /** Body of one of the last deliveries. */
  body: () => newest,
};

offer(offers);
