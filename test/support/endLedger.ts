/**
 * Loaded before the program (NODE_OPTIONS=--import): SIGUSR2 ends the ledger's thread, or on a real
 * network Ogmios' thread, as a fault in it would.
 */
import { Worker } from 'node:worker_threads';

const post = Worker.prototype.postMessage;
let ledger: Worker | null = null;

Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest) {
  // Only the thread that follows a node is asked for a stream's next events.
  const isCall = typeof message === 'object' && message !== null && 'name' in message;
  if (isCall && message.name === 'pull') ledger = this;
  return post.call(this, message, ...rest);
};
process.on('SIGUSR2', () => void ledger?.terminate());
