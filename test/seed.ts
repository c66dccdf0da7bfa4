/**
 * Loaded before the tests. With `SEED=1 npm test` properties draw the same input again, as tests
 * that read SEED themselves do. Without, each run draws other input and prints its seed on failure.
 *
 * With SEED, which CI sets, a property that fails and takes long to shrink ends before the time of
 * its file is over: else nothing would say what failed.
 */
const MAX_MS = 200_000;
const { SEED } = process.env;
if (SEED !== undefined) {
  const seed = Number(SEED);
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED is ${SEED}, not an integer`);
  const { default: fc } = await import('fast-check');
  const limits = { interruptAfterTimeLimit: MAX_MS, markInterruptAsFailure: true };
  fc.configureGlobal({ ...fc.readConfigureGlobal(), ...limits, seed });
}
