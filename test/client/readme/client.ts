/**
 * A client written from the README alone, without code of this repository: a chart and a trades
 * list over HTTP and the WebSocket of Node. At most 150 lines, so that the README's rules stay few.
 */

export interface Row {
  readonly time: number;
  readonly id?: string;
  readonly removed?: boolean;
}

interface Position {
  readonly epoch: string;
  readonly seq: number;
}

interface Frame extends Position {
  readonly requestId: string | null;
  readonly event: string;
  readonly prev: number | null;
  readonly snapshot?: boolean;
  readonly data: unknown;
}

const RECONNECT_MS = 500;
const SILENCE_MS = 15_000;

/** Rows of one topic by their key, and the position up to which they are complete. */
interface Copy {
  readonly path: string;
  readonly topic: string;
  readonly data: object;
  readonly keyOf: (row: Row) => string | number;
  readonly rows: Map<string | number, Row>;
  position: Position | null;
}

function put({ rows, keyOf }: Copy, changed: readonly Row[]): void {
  for (const row of changed) {
    if (row.removed === true) rows.delete(keyOf(row));
    else rows.set(keyOf(row), row);
  }
}

export class ReadmeClient {
  readonly copies: ReadonlyMap<string, Copy>;
  opened = 0;
  reloads = 0;
  readonly #url: string;
  #socket: WebSocket | null = null;
  #heardMs = 0;
  #isClosed = false;

  constructor(url: string, asset: string) {
    this.#url = url;
    const bars = `base=${asset}&quote=.&resolution=min1&from=0&to=4000000000`;
    const lastBar = { pair: { base: asset, quote: 'ADA' }, interval: 'min1' };
    const copy = (path: string, topic: string, data: object, keyOf: Copy['keyOf']): Copy => {
      return { path, topic, data, keyOf, rows: new Map(), position: null };
    };
    this.copies = new Map([
      ['b', copy(`/v1/charts/history?${bars}`, 'LastBar', lastBar, ({ time }) => time)],
      ['t', copy(`/v1/trades?asset=${asset}&limit=500`, 'Trades', { asset }, ({ id = '' }) => id)],
    ]);
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      await this.#session().catch(() => {}); // the next session begins where this one ended
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  /** From an open socket until it closes. */
  async #session(): Promise<void> {
    const socket = new WebSocket(`${this.#url.replace('http', 'ws')}/ws`);
    this.#socket = socket;
    this.#heardMs = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - this.#heardMs > SILENCE_MS) socket.close();
    }, 1000);
    try {
      await new Promise<void>((resolve) => {
        socket.onopen = () => {
          this.opened += 1;
          for (const name of this.copies.keys()) void this.#subscribe(socket, name);
        };
        socket.onmessage = ({ data }) => this.#take(socket, JSON.parse(String(data)));
        socket.onclose = () => resolve();
        socket.onerror = () => resolve();
      });
    } finally {
      clearInterval(watch);
    }
  }

  /** Loads a copy that has no position yet, then subscribes from the position it has. */
  async #subscribe(socket: WebSocket, name: string): Promise<void> {
    const copy = this.copies.get(name);
    if (copy === undefined) return;
    try {
      if (copy.position === null) await this.#load(copy);
    } catch {
      socket.close();
    }
    if (socket.readyState !== WebSocket.OPEN) return;
    const { topic, data, position: since } = copy;
    const frame = { messageType: 'subscribe', requestId: name, topic, data, since };
    socket.send(JSON.stringify(frame));
  }

  async #load(copy: Copy): Promise<void> {
    const response = await fetch(`${this.#url}${copy.path}`);
    if (!response.ok) throw new Error(`${response.status}`);
    const [epoch = '', seq = ''] = response.headers.get('x-position')?.split(':') ?? [];
    copy.rows.clear();
    put(copy, (await response.json()) as Row[]);
    copy.position = { epoch, seq: Number(seq) };
    this.reloads += 1;
  }

  #take(socket: WebSocket, frame: Frame): void {
    this.#heardMs = Date.now();
    const { requestId, event, data, epoch, seq, prev } = frame;
    if (event === 'Ping') socket.send(JSON.stringify({ messageType: 'pong', requestId: null }));
    const copy = this.copies.get(requestId ?? '');
    if (copy === undefined || event === 'Subscribed' || event === 'Resync') return;
    const again = () => void this.#subscribe(socket, requestId ?? '');
    if (event === 'Error') setTimeout(again, RECONNECT_MS);
    else if (frame.snapshot === true) {
      // A snapshot of bars has the newest one only.
      copy.position = null;
      again();
    } else if (copy.position !== null && seq > copy.position.seq) {
      if ((prev ?? 0) > copy.position.seq) {
        again();
        return;
      }
      copy.position = { epoch, seq };
      const changed = event === 'BarsRevised' ? (data as { bars: Row[] }).bars : data;
      put(copy, Array.isArray(changed) ? changed : [changed as Row]);
    }
  }
}
