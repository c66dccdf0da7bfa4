/**
 * Keeps the order book of a token through cuts, restarts and forks, with what the documents say and
 * nothing of this repository: `node examples/orderBook.ts [url] [asset id]`. Each second it says how
 * often the book was compared with GET /v1/order-book at one position, and how often it differed.
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
interface Known {
  epoch: string;
  seq: number;
  text: string;
  /** A ping: up to here nothing has changed since the frame before. */
  isQuiet?: boolean;
}
let known: Known[] = [];
/** Answers of HTTP that wait for the socket. */
let answers: Known[] = [];

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
    if (event === 'Error') {
      // A node that has just started may not be ready: asked again with the next connection.
      console.error(String(message.data));
      socket.close();
    }
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
    }
    if (event === 'OrderBookUpdate' || event === 'Ping') {
      const isQuiet = event === 'Ping';
      own = { epoch, seq: isQuiet ? data.seq : seq };
      known = [...known.slice(-500), { ...own, text: textOf(book), isQuiet }];
      compare();
    }
  };
  // A connection that cannot be made may only say that it failed.
  const again = () => setTimeout(connect, 200);
  socket.onclose = again;
  socket.onerror = () => {
    socket.onclose = null;
    again();
  };
}

/** Frames leave out what lies between them: only some answers can be compared. */
function compare(): void {
  answers = answers.filter(({ epoch, seq, text }) => {
    const next = known.find((each) => each.epoch === epoch && each.seq >= seq);
    if (next === undefined) return epoch === own.epoch;
    if (next.seq > seq && !next.isQuiet) return false;
    compared += 1;
    if (next.text !== text) different += 1;
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
setInterval(() => {
  console.log(JSON.stringify({ frames, resumed, compared, different, wrong }));
}, 1000);
