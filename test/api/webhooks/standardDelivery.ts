/** Deliveries of the real sender, as a receiver of Standard Webhooks gets them. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { Sender } from '../../../src/api/webhooks/sender.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';

export interface Delivered {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
/** As the server makes them: `whsec_` and 64 hexadecimal digits, which is also base64. */
export const OWN_SECRET = `whsec_${'0123456789abcdef'.repeat(4)}`;
export const BODY = '[{"event":"TradesUpdate","data":"ä"}]';

export async function delivered(
  t: TestContext,
  secret: string,
  digest = 'abc',
): Promise<Delivered> {
  const got = Promise.withResolvers<Delivered>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.writeHead(204).end();
    got.resolve({ headers: named(request.headers), body });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const sender = new Sender({
    destinations: new Destinations(rangesOf(['127.0.0.1'])),
    clock: systemClock,
  });
  t.after(() => {
    sender.close();
    server.close();
  });
  // trust: it listens on a port
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook`;
  const webhook = { id: 'wh_1', owner: 'bot', url, secret, topics: [], createdMs: 0 };
  await sender.send(webhook, { body: BODY, position: '1-a:1', digest, attempt: 0 });
  return got.promise;
}

function named(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [name, String(headers[name])]));
}
