/** The thread that writes the state file: batches in, acknowledgements out. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../runtime/assert.ts';
import { lowerPriority } from '../runtime/threadPriority.ts';
import {
  inlineWriter,
  type WriterOptions,
  type WriterQuestion,
  type WriterReply,
} from './stateWriter.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
lowerPriority();
// trust: handed over by threadWriter
const writer = inlineWriter(workerData as WriterOptions);

port.on('message', (message: WriterQuestion) => {
  const reply = (answer: WriterReply) => port.postMessage(answer);
  obey(message).then(
    () => reply(null),
    (error: unknown) => reply({ message: String(error), code: codeOf(error) }),
  );
});

function obey(message: WriterQuestion): Promise<void> {
  if (message === null) return writer.close();
  if ('copyTo' in message) return writer.copy(message.copyTo);
  return writer.write(message);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
