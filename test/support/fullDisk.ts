/**
 * A disk without room, by the kernel: no file of this process grows beyond the limit while it
 * holds. Writes fail with EFBIG; Node ignores the signal that comes with it.
 */
import { execFileSync } from 'node:child_process';

/** Answers how to make room again. `pid`: absent, of this process. */
export function fillDisk(pid = process.pid, bytes = 4_096): () => void {
  const limit = (size: string) => execFileSync('prlimit', ['--pid', `${pid}`, `--fsize=${size}`]);
  limit(`${bytes}:`);
  return () => limit('unlimited:');
}
