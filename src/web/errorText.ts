/**
 * Errors in words for people: what the API says, with amounts in ADA, and without the codes that
 * programs go by.
 */
import { formatUnits } from '../engine/market/decimal.ts';
import { grouped } from './format.ts';

const ADA_DECIMALS = 6;
const LOVELACE = /(\d+) lovelace\b/g;

export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const words = message.replace(LOVELACE, (_all, amount: string) => {
    return `${grouped(formatUnits(BigInt(amount), ADA_DECIMALS))} ADA`;
  });
  const sentence = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
