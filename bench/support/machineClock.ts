/** Milliseconds that all processes of the machine count alike (CLOCK_MONOTONIC). */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
