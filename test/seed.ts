/**
 * Loaded before each test file where SEED is set: properties draw the same input again, as the
 * tests that read SEED themselves do.
 */
import fc from 'fast-check';

const seed = Number(process.env.SEED);
if (!Number.isSafeInteger(seed)) throw new Error(`SEED is ${process.env.SEED}, not an integer`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
