/** The thread that writes the state file. */
import { serveThread } from '../runtime/thread.ts';
import { lowerPriority } from '../runtime/threadPriority.ts';
import { inlineWriter, type WriterCalls, type WriterOptions } from './stateWriter.ts';

await serveThread<WriterOptions, WriterCalls>((options) => {
  lowerPriority();
  const writer = inlineWriter(options);
  return {
    write: (batch) => writer.write(batch),
    copy: (to) => writer.copy(to),
    stop: () => writer.close(),
  };
});
