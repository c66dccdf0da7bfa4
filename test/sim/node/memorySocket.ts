/**
 * A WebSocket in memory: the server's end as the library shows it, and the client's. Unread bytes
 * fill the connection first and then the server's buffer, as with TCP.
 */
import type { RawSocket, WebSocketBehavior } from '../../../src/api/gateway/server.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';

export interface SocketPlace<Data> {
  /** Bytes that the system's buffers of both sides hold. */
  readonly connectionBytes: number;
  readonly behavior: WebSocketBehavior<Data>;
  readonly data: Data;
  readonly client: ClientEnd;
}

type Message = string | Uint8Array;

interface Frame {
  readonly bytes: Uint8Array;
  readonly isBinary: boolean;
}

const [BUFFERED, SENT, DROPPED] = [0, 1, 2];
const [NO_CODE, ABNORMAL] = [1005, 1006];

export class MemorySocket<Data> implements RawSocket<Data> {
  readonly #place: SocketPlace<Data>;
  readonly #gone: () => void;
  readonly #channels = new Set<string>();
  /** Published in this turn, not sent yet. */
  #heard: Frame[] = [];
  #waiting: Frame[] = [];
  #waitingBytes = 0;
  /** Sent and not read. */
  #onTheWay = 0;
  #isOpen = true;

  constructor(place: SocketPlace<Data>, gone: () => void) {
    this.#place = place;
    this.#gone = gone;
  }

  send(message: Message, isBinary: boolean): number {
    this.flush();
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    return this.#send({ bytes, isBinary });
  }

  getBufferedAmount(): number {
    return this.#waitingBytes;
  }

  end(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.flush();
    const { client } = this.#place;
    this.#over(code);
    client.ended(code, reason);
  }

  subscribe(channel: string): void {
    this.#channels.add(channel);
  }

  unsubscribe(channel: string): void {
    this.#channels.delete(channel);
  }

  cork(run: () => void): void {
    run();
  }

  getUserData(): Data {
    return this.#place.data;
  }

  /** Whether it is subscribed. */
  hear(channel: string, bytes: Uint8Array, isBinary: boolean): boolean {
    if (!this.#channels.has(channel)) return false;
    // The gateway may write its next frame into the same memory.
    this.#heard.push({ bytes: Uint8Array.from(bytes), isBinary });
    return true;
  }

  flush(): void {
    for (const frame of this.#heard.splice(0)) this.#send(frame);
  }

  /** The server closes without a close frame. */
  cut(): void {
    const { client } = this.#place;
    if (this.#isOpen) this.#over(ABNORMAL);
    client.broken();
  }

  /** A frame of the client. */
  receive(message: Message): void {
    if (!this.#isOpen) return;
    const isBinary = typeof message !== 'string';
    const bytes = isBinary ? Uint8Array.from(message) : Uint8Array.from(Buffer.from(message));
    this.#place.behavior.message(this, bytes.buffer, isBinary);
  }

  /** The client has read this many bytes. */
  taken(bytes: number): void {
    if (!this.#isOpen) return;
    this.#onTheWay -= bytes;
    const before = this.#waitingBytes;
    while (this.#waiting[0] !== undefined && this.#fits(this.#waiting[0])) {
      const frame = this.#waiting.shift();
      if (frame === undefined) break;
      this.#waitingBytes -= frame.bytes.length;
      this.#transmit(frame);
    }
    if (this.#waitingBytes < before) this.#place.behavior.drain(this);
  }

  /** The client closed, with a code, or was cut off. */
  left(code: number): void {
    if (this.#isOpen) this.#over(code);
  }

  #send(frame: Frame): number {
    if (!this.#isOpen) return DROPPED;
    const { behavior } = this.#place;
    if (this.#waitingBytes > behavior.maxBackpressure) {
      behavior.dropped(this);
      return DROPPED;
    }
    const copy = { ...frame, bytes: Uint8Array.from(frame.bytes) };
    if (this.#waiting.length === 0 && this.#fits(copy)) {
      this.#transmit(copy);
      return SENT;
    }
    this.#waiting.push(copy);
    this.#waitingBytes += copy.bytes.length;
    return BUFFERED;
  }

  #fits({ bytes }: Frame): boolean {
    const { connectionBytes } = this.#place;
    return this.#onTheWay === 0 || this.#onTheWay + bytes.length <= connectionBytes;
  }

  #transmit({ bytes, isBinary }: Frame): void {
    this.#onTheWay += bytes.length;
    this.#place.client.arrives(
      isBinary ? bytes : Buffer.from(bytes).toString('utf8'),
      bytes.length,
    );
  }

  #over(code: number): void {
    this.#isOpen = false;
    this.#gone();
    this.#place.behavior.close(this, code);
  }
}

/** The client's end. Its callbacks run as events of the process that connected. */
export class ClientEnd {
  onOpen: () => void = () => {};
  onMessage: (message: string) => void = () => {};
  onBinary: (message: Uint8Array) => void = () => {};
  onClose: (code: number) => void = () => {};
  readonly #time: VirtualTime;
  readonly #client: SimProcess;
  readonly #node: SimProcess;
  readonly #latencyMs: number;
  #socket: MemorySocket<unknown> | null = null;
  /** Before it was connected. */
  #early: Message[] = [];
  #isClosed = false;
  #isReading = true;
  #unread: (() => void)[] = [];

  /** The client belongs to the present process. */
  constructor(time: VirtualTime, node: SimProcess, latencyMs: number) {
    this.#time = time;
    this.#client = time.current;
    this.#node = node;
    this.#latencyMs = latencyMs;
  }

  send(message: Message): void {
    if (this.#isClosed) return;
    this.#atNode(() => {
      if (this.#socket === null) this.#early.push(message);
      else this.#socket.receive(message);
    });
  }

  /** With a close frame. */
  close(): void {
    this.#leave(NO_CODE);
  }

  /** Without a word: the network or the client's process is gone. */
  cut(): void {
    this.#leave(ABNORMAL);
  }

  /** Frames stay unread until `read`: they fill the connection, then the server's buffer. */
  stopReading(): void {
    this.#isReading = false;
  }

  read(): void {
    this.#isReading = true;
    for (const take of this.#unread.splice(0)) take();
  }

  /** The node's end calls the following methods, in its events. */
  opened(socket: MemorySocket<unknown>): void {
    this.#socket = socket;
    this.#atClient(() => this.onOpen());
    this.#atNode(() => {
      for (const message of this.#early.splice(0)) socket.receive(message);
    });
  }

  arrives(message: Message, bytes: number): void {
    this.#atClient(() => {
      const take = () => {
        if (this.#isClosed) return;
        if (typeof message === 'string') this.onMessage(message);
        else this.onBinary(message);
        this.#atNode(() => this.#socket?.taken(bytes));
      };
      if (this.#isReading) take();
      else this.#unread.push(take);
    });
  }

  ended(code: number, _reason: string): void {
    this.#atClient(() => {
      if (this.#isReading) this.#close(code);
      else this.#unread.push(() => this.#close(code));
    });
  }

  broken(): void {
    this.#atClient(() => this.#close(ABNORMAL));
  }

  #leave(code: number): void {
    if (this.#isClosed) return;
    this.#atNode(() => this.#socket?.left(code));
    this.#close(code);
  }

  #close(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClose(code);
  }

  #atNode(run: () => void): void {
    this.#time.at(this.#node, this.#latencyMs, run);
  }

  #atClient(run: () => void): void {
    this.#time.at(this.#client, this.#latencyMs, run);
  }
}
