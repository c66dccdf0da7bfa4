/** The thread that owns the log's file: questions in, answers out, in their order. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../runtime/assert.ts';
import { LogFile, type LogFileOptions } from './logFile.ts';
import { answer, type LogAnswer, type LogQuestion, refusalOf } from './logOwner.ts';

assert(parentPort !== null, 'this file is run as a worker');
const port = parentPort;
// trust: handed over by threadLogFile
const options = workerData as LogFileOptions;
let file: LogFile | null = null;

port.on('message', (question: LogQuestion) => port.postMessage(obey(question)));

function obey(question: LogQuestion): LogAnswer {
  try {
    if (question === null) {
      file?.close();
      file = null;
      return { value: null };
    }
    file ??= new LogFile(options);
    return { value: answer(file, question.what, question.values) };
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}
