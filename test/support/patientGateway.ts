/**
 * Loaded before the program (NODE_OPTIONS=--import): a socket may be silent or behind for as long
 * as a test on a busy machine takes. Other tests check these limits with a clock that they control.
 */
import { GATEWAY_DEFAULTS } from '../../src/api/gateway/options.ts';

const LONG_MS = 3_600_000;

Object.assign(GATEWAY_DEFAULTS, { silenceMs: LONG_MS, behindMs: LONG_MS });
