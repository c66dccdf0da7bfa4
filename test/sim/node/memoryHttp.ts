/** One request and its response, as the gateway sees them of uWebSockets.js. */
import type { HttpRequest, HttpResponse } from '../../../src/api/gateway/server.ts';
import type { HttpAnswer } from './memoryServer.ts';

export interface RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** IPv4 of the client; 127.0.0.1 when absent, which no rate limit counts. */
  readonly address?: string;
}

export class MemoryRequest implements HttpRequest {
  readonly #headers = new Map<string, string>();
  readonly #options: RequestOptions;
  readonly #parameters: Readonly<Record<number, string>>;

  constructor(options: RequestOptions, parameters: Readonly<Record<number, string>>) {
    this.#options = options;
    this.#parameters = parameters;
    const { body, headers = {} } = options;
    this.#headers.set('host', 'node');
    if (body !== undefined) {
      this.#headers.set('content-length', String(Buffer.byteLength(body)));
      if (typeof body === 'string') this.#headers.set('content-type', 'application/json');
    }
    for (const [name, value] of Object.entries(headers)) {
      this.#headers.set(name.toLowerCase(), value);
    }
  }

  getHeader(name: string): string {
    return this.#headers.get(name) ?? '';
  }

  getParameter(index: number): string | undefined {
    return this.#parameters[index];
  }

  getUrl(): string {
    return this.#options.path.split('?')[0] ?? '';
  }

  getMethod(): string {
    return this.#options.method.toLowerCase();
  }

  getCaseSensitiveMethod(): string {
    return this.#options.method;
  }

  getQuery(): string;
  getQuery(name: string): string | undefined;
  getQuery(name?: string): string | undefined {
    const { path } = this.#options;
    const at = path.indexOf('?');
    const query = at < 0 ? '' : path.slice(at + 1);
    return name === undefined ? query : (new URLSearchParams(query).get(name) ?? undefined);
  }

  forEach(take: (name: string, value: string) => void): void {
    for (const [name, value] of this.#headers) take(name, value);
  }
}

export class MemoryResponse implements HttpResponse {
  /** Answered, aborted or upgraded. */
  isOver = false;
  isUpgraded = false;
  onOver = () => {};
  onUpgrade: (data: unknown) => void = () => {};
  readonly #answer: (answer: HttpAnswer | null) => void;
  readonly #address: string;
  #status = 200;
  #headers: Record<string, string> = {};
  #chunks: Uint8Array[] = [];
  #onAborted = () => {};
  #onData: ((chunk: ArrayBuffer, isLast: boolean) => void) | null = null;

  constructor(answer: (answer: HttpAnswer | null) => void, address = '127.0.0.1') {
    this.#answer = answer;
    this.#address = address;
  }

  pause(): void {}
  resume(): void {}

  writeStatus(status: string): void {
    this.#status = Number.parseInt(status, 10);
  }

  /** A value may hold further header lines: the gateway writes all in one call. */
  writeHeader(name: string, value: string): void {
    const [first = '', ...more] = value.split('\r\n');
    this.#headers[name.toLowerCase()] = first;
    for (const line of more) {
      const at = line.indexOf(':');
      this.#headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
    }
  }

  /** The caller has it all at the end: this server shows no part of an answer. */
  write(chunk: string | Uint8Array): boolean {
    this.#chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : Uint8Array.from(chunk));
    return true;
  }

  end(body: string | Uint8Array = ''): void {
    this.#chunks.push(typeof body === 'string' ? Buffer.from(body) : body);
    this.#finish();
  }

  endWithoutBody(): void {
    this.#finish();
  }

  tryEnd(chunk: string | Uint8Array): [boolean, boolean] {
    this.end(chunk);
    return [true, true];
  }

  onWritable(): void {}

  onAborted(run: () => void): void {
    this.#onAborted = run;
  }

  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#onData = take;
  }

  receiveBody(body: Uint8Array): void {
    if (!this.isOver) this.#onData?.(Uint8Array.from(body).buffer, true);
  }

  cork(run: () => void): void {
    run();
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#onAborted();
    this.#answer(null);
    this.onOver();
  }

  /** The process of the node was killed. */
  vanish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#answer(null);
  }

  getRemoteAddress(): ArrayBuffer {
    return Uint8Array.from(this.#address.split('.').map(Number)).buffer;
  }

  upgrade<Data>(data: Data): void {
    this.isOver = true;
    this.isUpgraded = true;
    this.onUpgrade(data);
  }

  #finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    const body = Buffer.concat(this.#chunks).toString('utf8');
    this.#answer({ status: this.#status, headers: this.#headers, body });
    this.onOver();
  }
}
