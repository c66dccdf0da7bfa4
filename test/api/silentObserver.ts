import type { Observer } from '../../src/api/gateway/observer.ts';

/** For tests that do not look at metrics and logs. */
export const silentObserver: Observer = {
  httpRequest: () => {},
  httpAborted: () => {},
  handlerFailed: () => {},
  socketOpened: () => {},
  socketClosed: () => {},
  framesPublished: () => {},
  flushed: () => {},
  socketBehind: () => {},
  resync: () => {},
  badFrame: () => {},
};
