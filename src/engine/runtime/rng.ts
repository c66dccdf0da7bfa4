import { randomBytes } from 'node:crypto';

/** Randomness as an argument: a simulation passes a seeded one. */
export interface Rng {
  /** A float in [0, 1), for jitter and choices; never for money. */
  unit(): number;
  /** `length` lower-case letters and digits, for names (epochs, connections). */
  token(length: number): string;
  /** 32 bytes as hex, for a new key. With the system's randomness it cannot be guessed. */
  secret(): string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz012345';

export const systemRng: Rng = {
  unit: () => randomBytes(4).readUInt32LE() / 2 ** 32,
  token: (length) => Array.from(randomBytes(length), (byte) => ALPHABET[byte % 32]).join(''),
  secret: () => randomBytes(32).toString('hex'),
};

/** Mulberry32: small, seedable, good enough for simulations. */
export function seededRng(seed: number): Rng {
  let state = seed >>> 0;
  const unit = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const token = (length: number) =>
    Array.from({ length }, () => ALPHABET[Math.floor(unit() * 32)]).join('');
  const secret = () =>
    Array.from({ length: 64 }, () => Math.floor(unit() * 16).toString(16)).join('');
  return { unit, token, secret };
}
