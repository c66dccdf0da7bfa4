/** Asks paths in turn over some connections, each waiting for its answer, and counts bytes only. */
import { connect } from 'node:net';
import { offer } from '../support/offers.ts';

export type Asker = typeof offers;

interface Asked {
  readonly port: number;
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  readonly connections: number;
  /** Until then, or until each was asked once. */
  readonly seconds: number | null;
}

const HEAD_END = '\r\n\r\n';

async function ask({ port, requests, connections, seconds }: Asked) {
  const startMs = performance.now();
  const endMs = seconds === null ? Number.POSITIVE_INFINITY : startMs + seconds * 1000;
  let next = 0;
  let bytes = 0;
  const take = (): string | null => {
    if (performance.now() >= endMs || (seconds === null && next >= requests.length)) return null;
    const found = requests[next % requests.length];
    next += 1;
    return found === undefined ? null : textOf(found);
  };
  const each = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let missing = -1;
      const go = () => {
        const text = take();
        missing = -1;
        if (text === null) socket.end(resolve);
        else socket.write(text);
      };
      socket.on('connect', go);
      socket.on('error', reject);
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (missing < 0) {
          const head = chunk.subarray(0, 2_048).toString('latin1');
          const end = head.indexOf(HEAD_END);
          const [, status] = /^HTTP\/1.1 (\d+)/.exec(head) ?? [];
          const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
          if (status !== '200' || end < 0 || length === undefined) reject(new Error(head));
          missing = Number(length) - (chunk.length - end - HEAD_END.length);
        } else missing -= chunk.length;
        if (missing === 0) go();
      });
    });
  await Promise.all(Array.from({ length: connections }, each));
  return { requests: next, seconds: (performance.now() - startMs) / 1000, bytes };
}

function textOf({ path, body }: { readonly path: string; readonly body?: string }): string {
  if (body === undefined) return `GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`;
  const lines = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\n${lines}\r\n\r\n${body}`;
}

const offers = { ask };

offer(offers);
