/**
 * Loaded before a program with `--import`: ends it when it has used its processor time, and writes
 * the used time at its end, as a number of milliseconds on file descriptor 3.
 *
 * Takes the timer before the simulator replaces the global ones.
 */
import { writeSync } from 'node:fs';

/** Exit code of a program that has used its time. */
export const OUT_OF_TIME = 75;
const LOOK_MS = 250;

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const limitMs = Number(process.env.CPU_LIMIT_MS ?? Number.NaN);
if (limitMs > 0) {
  const look = () => {
    if (usedMs() > limitMs) process.exit(OUT_OF_TIME);
  };
  setInterval(look, LOOK_MS).unref();
  process.on('exit', () => writeSync(3, String(Math.round(usedMs()))));
}
