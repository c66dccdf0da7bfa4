/**
 * Keeps the order book of a token through cuts, restarts and forks, with what the documents say and
 * nothing of this repository: `node examples/orderBook.ts [url] [asset id]`. Ctrl+C ends it: then it
 * says how often the book was compared with GET /v1/order-book at one position.
 */
import { crc32 } from 'node:zlib';

interface Level {
  price: string;
  amount: string;
}
interface Book {
  asks: Level[];
  bids: Level[];
  checksum: string;
}

const [url = 'http://127.0.0.1:8080', asset = ''] = process.argv.slice(2);
let book: Book | null = null;
let own = { epoch: '', seq: 0 };
let [frames, resumed, compared, different, wrong] = [0, 0, 0, 0, 0];
/** Books by the position at which they began, and answers of HTTP that wait for the socket. */
let known: { epoch: string; seq: number; text: string }[] = [];
let answers: typeof known = [];

const textOf = (of: Book | null) =>
  [...(of?.asks ?? []), ...(of?.bids ?? [])].map((level) => level.price + level.amount).join();

function merged(side: Level[], changes: Level[], sign: number): Level[] {
  const levels = new Map([...side, ...changes].map((level) => [level.price, level]));
  const left = [...levels.values()].filter(({ amount }) => amount !== '0');
  return left.sort((a, b) => sign * (Number(a.price) - Number(b.price)));
}

function connect(): void {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`);
  socket.onopen = () => {
    const since = own.epoch === '' ? {} : { since: own };
    const data = { asset, mode: 'changes' };
    const params = { topic: 'OrderBook', data, ...since };
    socket.send(JSON.stringify({ messageType: 'subscribe', requestId: 1, ...params }));
  };
  socket.onmessage = (message) => {
    const { event, epoch, seq, data, snapshot } = JSON.parse(String(message.data));
    if (event === 'Error') throw new Error(String(message.data));
    if (event === 'Subscribed' && data.recovered) resumed += 1;
    if (event === 'Ping') socket.send(JSON.stringify({ messageType: 'pong', requestId: null }));
    if (event === 'OrderBookUpdate') {
      frames += 1;
      // null: a fork undid the launch.
      if (snapshot || book === null) book = data;
      else {
        const asks = merged(book.asks, data.asks, 1);
        book = { ...data, asks, bids: merged(book.bids, data.bids, -1) };
      }
      if (book !== null) {
        const best = [...book.asks.slice(0, 10), ...book.bids.slice(0, 10)];
        const text = best.map(({ price, amount }) => `${price}:${amount}`).join('|');
        if (crc32(text) !== Number.parseInt(book.checksum, 16)) wrong += 1;
      }
      known = [...known.slice(-500), { epoch, seq, text: textOf(book) }];
    }
    if (event === 'OrderBookUpdate' || event === 'Ping') own = { epoch, seq: data?.seq ?? seq };
    compare();
  };
  socket.onclose = () => setTimeout(connect, 200);
}

function compare(): void {
  answers = answers.filter(({ epoch, seq, text }) => {
    if (epoch === own.epoch && seq > own.seq) return true;
    const at = known.findLast((each) => each.epoch === epoch && each.seq <= seq);
    if (at !== undefined) compared += 1;
    if (at !== undefined && at.text !== text) different += 1;
    return false;
  });
}

connect();
setInterval(async () => {
  const query = `asset=${asset}&levels=100`;
  const answer = await fetch(`${url}/v1/order-book?${query}`).catch(() => null);
  if (answer?.status !== 200) return;
  const found: Book & { epoch: string; seq: number } = JSON.parse(await answer.text());
  answers.push({ epoch: found.epoch, seq: found.seq, text: textOf(found) });
}, 100);
process.on('SIGINT', () => {
  console.log(JSON.stringify({ frames, resumed, compared, different, wrong }));
  process.exit(different + wrong);
});
