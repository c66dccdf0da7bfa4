/**
 * Keeps the order book of a token through cuts, restarts and forks, with what README and /docs say
 * and nothing of this repository: `node examples/orderBook.ts [url] [asset id]`. After each frame
 * it asks GET /v1/order-book, and compares if the answer is of the frame's position.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

type Level = { price: string; amount: string };
type Book = { asks: Level[]; bids: Level[]; checksum: string };

const [url = 'http://127.0.0.1:8080', asset = ''] = process.argv.slice(2);
const counts = { whole: 0, changes: 0, resumed: 0, compared: 0, different: 0, wrong: 0 };
let book: Book | null = null;
let own = { epoch: '', seq: 0 };

function textOf(of: Book | null, levels: number): string {
  const sides = [...(of?.asks.slice(0, levels) ?? []), ...(of?.bids.slice(0, levels) ?? [])];
  return sides.map(({ price, amount }) => `${price}:${amount}`).join('|');
}

function merged(side: Level[], changes: Level[], sign: 1 | -1): Level[] {
  const levels = new Map([...side, ...changes].map((level) => [level.price, level]));
  const left = [...levels.values()].filter(({ amount }) => amount !== '0');
  return left.sort((a, b) => sign * (Number(a.price) - Number(b.price)));
}

function subscribe(socket: WebSocket): void {
  const data = { asset, mode: 'changes' };
  const params = { topic: 'OrderBook', data, since: own.epoch === '' ? undefined : own };
  socket.send(JSON.stringify({ messageType: 'subscribe', requestId: 'book', ...params }));
}

function receive(socket: WebSocket, text: string): void {
  const { event, epoch, seq, prev, snapshot, data } = JSON.parse(text);
  if (event === 'Ping') socket.send('{"messageType":"pong","requestId":null}');
  if (event === 'Subscribed' && data.recovered) counts.resumed += 1;
  if (event === 'Error' && !data.retry) throw new Error(`${data.cause}: ${data.message}`);
  if (event === 'Error') setTimeout(subscribe, 500, socket);
  if (event !== 'OrderBookUpdate') return;
  if (snapshot) book = data;
  else if (seq <= own.seq) return;
  else if (book === null || prev > own.seq) return void subscribe(socket);
  else {
    const asks = merged(book.asks, data.asks, 1);
    book = { ...book, ...data, asks, bids: merged(book.bids, data.bids, -1) };
  }
  own = { epoch, seq };
  counts[snapshot ? 'whole' : 'changes'] += 1;
  const sum = crc32(textOf(book, 10)).toString(16).padStart(8, '0');
  if (book !== null && sum !== book.checksum) counts.wrong += 1;
  void compare(epoch, seq, textOf(book, 100));
}

async function compare(epoch: string, seq: number, text: string): Promise<void> {
  const answer = await fetch(`${url}/v1/order-book?asset=${asset}&levels=100`).catch(() => null);
  const found = JSON.parse((await answer?.text().catch(() => '')) || '{}');
  if (found.epoch !== epoch || found.seq !== seq) return;
  counts.compared += 1;
  if (textOf(found, 100) !== text) counts.different += 1;
}

setInterval(() => console.log(JSON.stringify(counts)), 1000);
for (;;) {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`);
  await new Promise((end) => {
    const silence = setTimeout(end, 15_000, 'silent');
    socket.onopen = () => subscribe(socket);
    socket.onmessage = ({ data }) => {
      silence.refresh();
      receive(socket, String(data));
    };
    socket.onclose = socket.onerror = end;
  });
  socket.onmessage = null;
  socket.close();
  await sleep(200);
}
