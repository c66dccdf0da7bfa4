/**
 * Errors in words for people: the API's message, with amounts in ADA, and without the codes that
 * are meant for programs. The API speaks English; in other languages its sentences are marked as
 * English.
 */
import { ApiError } from '../client/apiError.ts';
import { formatUnits } from '../engine/market/decimal.ts';
import { grouped } from '../engine/market/shownNumber.ts';
import { t } from './messages.ts';

const ADA_DECIMALS = 6;
const LOVELACE = /(\d+) lovelace\b/g;
/** Errors that have a text of the page. */
const OWN = 'WALLET';

type ErrorText = string | typeof t.errors.said;

export function errorText(error: unknown): string {
  if (!(error instanceof ApiError) || error.cause === OWN) return sentenceOf(error);
  const texts: Readonly<Record<string, ErrorText | undefined>> = t.errors.byCause;
  const text: ErrorText = texts[error.cause] ?? t.errors.said;
  return typeof text === 'string' ? text : text({ words: sentenceOf(error) });
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const words = message.replace(LOVELACE, (_all, amount: string) => {
    return `${grouped(formatUnits(BigInt(amount), ADA_DECIMALS))} ADA`;
  });
  const sentence = words.slice(0, 1).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
