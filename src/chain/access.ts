/**
 * How a node reaches the servers of its chain (Ogmios, Kupo, a devnet): a text socket and `fetch`.
 * Absent: the real network. A simulation passes functions that call its own servers.
 */

export interface ChainAccess {
  readonly openSocket: OpenSocket;
  readonly fetch: Fetch;
}

/**
 * Begins to connect and calls the listener, never before this returns. Throws where `url` cannot be
 * an address.
 */
export type OpenSocket = (
  url: string,
  listener: SocketListener,
  options: { readonly maxMessageBytes: number },
) => TextSocket;

export interface TextSocket {
  send(text: string): void;
  /** Texts that `run` sends leave in one packet. Absent: each text leaves by itself. */
  together?(run: () => void): void;
  /** Ends with a close frame; `closed` follows once the server answers it. */
  close(): void;
  /** Ends at once; `closed` follows. */
  terminate(): void;
}

/** `opened` once at most, `closed` once and last; `failed` says why before it. */
export interface SocketListener {
  opened(): void;
  received(text: string): void;
  failed(error: unknown): void;
  closed(code: number, reason: string): void;
}

/** As much of the global `fetch` as is used here. */
export type Fetch = (
  url: string,
  init: {
    readonly method?: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect?: 'error';
  },
) => Promise<Response>;
