/** A DNS server over UDP whose answers the test sets and may change at any time. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;
const POINTER_TO_NAME = 0xc00c;

export class NameServer {
  /** Addresses of a name; a name that is missing does not exist. */
  readonly names = new Map<string, readonly string[]>();
  /** Each A question. */
  readonly asked: string[] = [];
  /** Runs after each answer. */
  onAnswer: (name: string) => void = () => {};
  readonly #socket = createSocket('udp4');

  static async start(scope: { after(run: () => void): void }): Promise<NameServer> {
    const server = new NameServer();
    server.#socket.on('message', (query, { port, address }) => {
      const answer = server.#answer(query);
      server.#socket.send(answer, port, address);
    });
    await new Promise<void>((bound) => server.#socket.bind(0, '127.0.0.1', bound));
    scope.after(() => server.#socket.close());
    return server;
  }

  resolver(): Resolver {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    resolver.setServers([`127.0.0.1:${this.#socket.address().port}`]);
    return resolver;
  }

  #answer(query: Buffer): Buffer {
    const { name, end } = nameIn(query);
    const type = query.readUInt16BE(end);
    const family = type === TYPE_A ? 4 : 6;
    const known = this.names.get(name);
    const found = (known ?? []).filter((address) => isIP(address) === family);
    const isKnownType = type === TYPE_A || type === TYPE_AAAA;
    const rows = isKnownType ? found.map((address) => record(type, address)) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (known === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(rows.length, 6);
    if (type === TYPE_A) this.asked.push(name);
    this.onAnswer(name);
    return Buffer.concat([header, query.subarray(12, end + 4), ...rows]);
  }
}

function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0 && at < query.length) {
    const length = query[at] ?? 0;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function record(type: number, address: string): Buffer {
  const data =
    type === TYPE_A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(groupsOf(address).flatMap((group) => [group >> 8, group & 255]));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(POINTER_TO_NAME, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function groupsOf(address: string): number[] {
  const [left = '', right = ''] = address.split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((text) => Number.parseInt(text, 16));
  const [head, tail] = [read(left), read(right)];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}
