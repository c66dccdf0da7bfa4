import type { PathObserver } from '../../engine/runtime/entryPath.ts';

/**
 * Events of the gateway and the streams; the implementation writes log events and metrics. Calls
 * are on hot paths: they must be cheap and must not throw.
 */
export interface Observer {
  /** `route` is an operationId, or `unknown`. */
  httpRequest(route: string, status: number, seconds: number): void;
  httpAborted(route: string): void;
  /** A handler threw: a fault of the program, answered with 500 or `Error`. */
  handlerFailed(where: string, error: unknown): void;
  socketOpened(): void;
  socketClosed(code: number): void;
  /** Data frames handed to the network, and their bytes. */
  framesPublished(frames: number, bytes: number): void;
  /** How long a flush blocked the event loop, up to the next turn. */
  flushed(milliseconds: number): void;
  socketBehind(bufferedBytes: number): void;
  resync(reason: 'slow' | 'epoch'): void;
  badFrame(cause: string): void;
  readonly entryAt?: PathObserver;
}
