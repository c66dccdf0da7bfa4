/** Log lines for a person at a terminal: `12:03:04 warn  epoch 1-x starts: new (epochStarted)`. */
import type { DestinationStream } from 'pino';

/**
 * Control characters that a terminal would execute; texts of clients are in some messages. Line
 * breaks stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;
const LONGEST_LEVEL = 5;

/** Takes the JSON lines of a logger, and writes each as text. */
export function textLog(write: (text: string) => void): DestinationStream {
  return { write: (line) => write(textOf(JSON.parse(line))) };
}

/** In this machine's time zone. Troubleshooting goes by event, so unusual lines name theirs. */
function textOf(line: Readonly<Record<string, unknown>>): string {
  const { time, level, event, msg, err } = line;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const name = level === 'info' || event === undefined ? '' : ` (${event})`;
  const cause = typeof err === 'object' && err !== null && 'stack' in err ? `${err.stack}` : null;
  const lines = [`${clock} ${String(level).padEnd(LONGEST_LEVEL)} ${msg}${name}`];
  if (cause !== null) lines.push(...cause.split('\n').map((each) => `    ${each.trim()}`));
  return `${lines.join('\n').replaceAll(CONTROLS, '\ufffd')}\n`;
}
