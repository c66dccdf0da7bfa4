/** node:http alone: signs a body and POSTs it, so many at a time, over kept connections. */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { offer, usageOffers } from '../support/offers.ts';

export type BareHooks = typeof offers;

const agent = new Agent({ keepAlive: true });
let isSending = false;

function post(port: number, body: string): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', 'a secret').update(`${seconds}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'upcurve-signature': `t=${seconds},v1=${mac}`,
  };
  const options = { method: 'POST', host: '127.0.0.1', port, path: '/', agent, headers };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => response.resume().on('end', resolve));
    sent.on('error', reject).end(body);
  });
}

const offers = {
  ...usageOffers(),
  /** Until `rest`. */
  send(options: { readonly port: number; readonly body: string; readonly loops: number }): void {
    isSending = true;
    for (let loop = 0; loop < options.loops; loop += 1) {
      void (async () => {
        while (isSending) await post(options.port, options.body);
      })();
    }
  },
  rest(): void {
    isSending = false;
  },
};

offer(offers);
