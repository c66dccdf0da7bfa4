/** Asks for paths in turn over some connections, each waiting for its answer; counts bytes only. */
import { connect } from 'node:net';
import { offer } from '../support/offers.ts';

export type Asker = typeof offers;

interface Asked {
  readonly port: number;
  readonly paths: readonly string[];
  readonly connections: number;
  /** Until then; null: until each was asked for once. */
  readonly seconds: number | null;
}

const HEAD_END = '\r\n\r\n';
/** More than the headers of an answer take. */
const MAX_HEAD_BYTES = 2_048;

async function ask({ port, paths, connections, seconds }: Asked) {
  const startMs = performance.now();
  const endMs = seconds === null ? Number.POSITIVE_INFINITY : startMs + seconds * 1000;
  let next = 0;
  const take = (): string | null => {
    if (performance.now() >= endMs || (seconds === null && next >= paths.length)) return null;
    next += 1;
    return `GET ${paths[(next - 1) % paths.length]} HTTP/1.1\r\nHost: bench\r\n\r\n`;
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
        if (missing < 0) {
          const head = chunk.subarray(0, MAX_HEAD_BYTES).toString('latin1');
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
  return { requests: next, seconds: (performance.now() - startMs) / 1000 };
}

const offers = { ask };

offer(offers);
