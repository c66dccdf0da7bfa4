/** The feed's part in a peer written in Node: reads its lines and keeps a bar for each pair. */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

interface TradeLine {
  readonly timeMs: number;
  readonly base: string;
  readonly quote: string;
  readonly baseAmount: string;
  readonly quoteAmount: string;
}

interface Bar {
  time: number;
  low: number;
  high: number;
  open: number;
  close: number;
  trades: number;
  volume: number;
  baseVolume: number;
}

const MINUTE_S = 60;
const MICROS = 1_000_000;

/** Tells of each trade: the pair's base, and the message for the sockets that follow it. */
export function follow(port: number, changed: (base: string, message: object) => void): void {
  const bars = new Map<string, Bar>();
  let seq = 0;
  createInterface({ input: connect(port, '127.0.0.1') }).on('line', (line) => {
    // trust: the bench writes these lines
    const trade = JSON.parse(line) as TradeLine;
    const base = Number(trade.baseAmount);
    const quote = Number(trade.quoteAmount) / MICROS;
    const price = quote / base;
    const time = Math.floor(trade.timeMs / 1000 / MINUTE_S) * MINUTE_S;
    let bar = bars.get(trade.base);
    if (bar === undefined || bar.time !== time) {
      bar = { time, low: price, high: price, open: price, close: price, ...NOTHING };
      bars.set(trade.base, bar);
    }
    bar.low = Math.min(bar.low, price);
    bar.high = Math.max(bar.high, price);
    bar.close = price;
    bar.trades += 1;
    bar.volume += quote;
    bar.baseVolume += base;
    seq += 1;
    changed(trade.base, messageOf(trade, bar, seq));
  });
}

const NOTHING = { trades: 0, volume: 0, baseVolume: 0 };

/** The fields of ours, prices with six digits. */
function messageOf({ base, quote }: TradeLine, bar: Bar, seq: number): object {
  const { time, trades } = bar;
  return {
    requestId: 'r0000',
    event: 'LastBarUpdate',
    messageType: 'Response',
    data: {
      pair: { base, quote },
      time,
      low: bar.low.toFixed(6),
      high: bar.high.toFixed(6),
      open: bar.open.toFixed(6),
      close: bar.close.toFixed(6),
      trades,
      final: false,
      volume: bar.volume.toFixed(6),
      baseVolume: String(bar.baseVolume),
      isRelevant: true,
    },
    epoch: '1-peer',
    seq,
    prev: seq - 1,
    ts: Date.now(),
  };
}
