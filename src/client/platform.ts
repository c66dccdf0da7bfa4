/**
 * The services that a browser or Node provides to the client: time, random numbers, HTTP and
 * sockets. The client receives them as arguments; only this file touches the real ones.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Unix milliseconds. */
  nowMs(): number;
  /** For durations. */
  monotonicMs(): number;
  after(delayMs: number, run: () => void): Timer;
}

/** Random numbers for jitter only, never for keys. */
export interface Chance {
  /** A float in [0, 1). */
  unit(): number;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * The part of a WebSocket that the client uses: browsers', Node's, and the package `ws` all have
 * it.
 */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  /** Bytes not yet sent. */
  readonly bufferedAmount: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
}

export type OpenSocket = (url: string, protocol: string) => Socket;

export interface ClientPlatform {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly fetch: Fetch;
  readonly openSocket: OpenSocket;
}

export const systemPlatform: ClientPlatform = {
  clock: {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      return { cancel: () => clearTimeout(timer) };
    },
  },
  chance: { unit: () => Math.random() },
  fetch: (url, init) => fetch(url, init),
  // trust: it has these members; its handlers are given events that have the fields read here
  openSocket: (url, protocol) => new WebSocket(url, [protocol]) as WebSocket & Socket,
};
