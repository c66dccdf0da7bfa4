import type { Limits } from './messages.ts';

export const DEFAULT_LIMITS: Limits = {
  // The largest block of mainnet is a few MB of JSON.
  messageBytes: 32 << 20,
  inFlight: 64,
  underWay: 2_000,
  answerMs: 20_000,
  quietMs: 20_000,
  retry: { firstMs: 500, mostMs: 30_000 },
  returnMs: 2_000,
};
