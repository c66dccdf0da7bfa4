/**
 * Loaded before the tests. With `SEED=1 npm test` properties draw the same input again, as tests
 * that read SEED themselves do. Without, each run draws other input and prints its seed on failure.
 */
const { SEED } = process.env;
if (SEED !== undefined) {
  const seed = Number(SEED);
  if (!Number.isSafeInteger(seed)) throw new Error(`SEED is ${SEED}, not an integer`);
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
