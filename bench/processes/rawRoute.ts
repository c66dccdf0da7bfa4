/** The library alone: one route that answers the same headers and bytes to everyone. */
import { App, us_socket_local_port } from 'uWebSockets.js';
import { offer, usageOffers } from '../support/offers.ts';

export type RawRoute = typeof offers;

const app = App();
let lines = '';
let body: Uint8Array = new Uint8Array();

function ignore(): void {}

app.any('/*', (res) => {
  // A server that leaves this out is ended by a client that hangs up during a long answer.
  res.onAborted(ignore);
  // All lines by one call, the cheapest way there is, and ours as well.
  res.writeHeader('Access-Control-Allow-Origin', lines);
  res.end(body);
});

const offers = {
  ...usageOffers(),
  port: () => port,
  /** `lines`: value of the first header, and the other headers each after a line break. */
  serve(options: { readonly lines: string; readonly body: Uint8Array }): void {
    lines = options.lines;
    body = options.body;
  },
};

const port = await new Promise<number>((resolve, reject) => {
  app.listen('127.0.0.1', 0, (socket) => {
    if (socket === false) reject(new Error('cannot listen'));
    else resolve(us_socket_local_port(socket));
  });
});

offer(offers);
