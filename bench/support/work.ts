/** Work done in a bench's process for a window, and the CPU of all its threads. */

export interface Done {
  readonly count: number;
  readonly seconds: number;
  /** User and system time of every thread. */
  readonly cpuUs: number;
}

/** `more` says whether to start another one. */
export async function measureWork(run: () => Promise<number> | number): Promise<Done> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const count = await run();
  const { user, system } = process.cpuUsage(startCpu);
  return { count, seconds: (performance.now() - startMs) / 1000, cpuUs: user + system };
}

/** True until `seconds` have passed. */
export function lasting(seconds: number): () => boolean {
  const endMs = performance.now() + seconds * 1000;
  return () => performance.now() < endMs;
}

/** Windows of one side, added up. */
export function total(parts: readonly Done[]): Done {
  const sum = (of: (part: Done) => number) => parts.reduce((all, part) => all + of(part), 0);
  return {
    count: sum(({ count }) => count),
    seconds: sum(({ seconds }) => seconds),
    cpuUs: sum(({ cpuUs }) => cpuUs),
  };
}
