/**
 * CI has half an hour, so it skips some slow tests that resemble others. `npm run test:long` runs
 * all slow tests. People run it before a release, and after they changed what those tests cover.
 */
export const IS_LONG = process.env.LONG === '1';

/** Options of a test that CI leaves out. */
export const LONG_ONLY = { skip: IS_LONG ? false : 'npm run test:long' };
