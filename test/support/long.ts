/**
 * `npm run test:long` is the slow tier with what CI leaves out: more of the same kind, for half an
 * hour of CI to be enough. It is run before a release and after changes of what it tests.
 */
export const IS_LONG = process.env.LONG === '1';

/** Options of a test that CI leaves out. */
export const LONG_ONLY = { skip: IS_LONG ? false : 'npm run test:long' };
