/**
 * Checks a launch's values while the user types. The server checks the same again and has the last
 * word; here it is said beside the field, before anything is uploaded. Source: protocol.md 3.
 */
import { changesDirection, unreadableName } from '../../engine/market/tokenName.ts';
import { MAX_LINK_BYTES, webLink } from '../../engine/market/webLink.ts';
import {
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_TICKER_CHARACTERS,
  TICKER,
} from '../../engine/runtime/limits.ts';
import { t } from '../messages.ts';
import { ADA_DECIMALS, readAmount } from './amount.ts';

export const SOCIALS = ['twitter', 'telegram', 'discord', 'website'] as const;
export const TEXTS = ['name', 'ticker', 'description', ...SOCIALS, 'initialBuy'] as const;
export type LaunchText = (typeof TEXTS)[number];

type Problem = string | null;

const CHECKS: Readonly<Record<LaunchText, (text: string) => Problem>> = {
  name: nameProblem,
  ticker: tickerProblem,
  description: descriptionProblem,
  twitter: linkProblem,
  telegram: linkProblem,
  discord: linkProblem,
  website: linkProblem,
  initialBuy: initialProblem,
};

/** The error in words; null: none. nothing. */
export function launchProblem(field: LaunchText, text: string): Problem {
  return CHECKS[field](text);
}

/** Lovelace; 0 where there is none. */
export function initialOf(text: string): bigint {
  const amount = readAmount(text, ADA_DECIMALS);
  return typeof amount === 'bigint' ? amount : 0n;
}

/** The server knows the least and the most; here only texts that are not amounts are refused. */
function initialProblem(text: string): Problem {
  if (/^[\s0.,]*$/.test(text)) return null;
  const amount = readAmount(text, ADA_DECIMALS);
  return typeof amount === 'string' ? amount : null;
}

function nameProblem(text: string): Problem {
  const name = text.trim();
  const characters = [...name].length;
  if (characters === 0) return t.launch.problems.noName;
  if (characters > MAX_NAME_CHARACTERS) {
    return t.launch.problems.longName({ most: MAX_NAME_CHARACTERS, is: characters });
  }
  if (!name.isWellFormed() || bytesOf(name) > MAX_NAME_BYTES) {
    return t.launch.problems.heavyName({ most: MAX_NAME_BYTES, is: bytesOf(name) });
  }
  const fault = unreadableName(name);
  return fault === null ? null : t.launch.problems.unreadable[fault];
}

function tickerProblem(text: string): Problem {
  if (text === '') return t.launch.problems.noTicker;
  return TICKER.test(text) ? null : t.launch.problems.ticker({ most: MAX_TICKER_CHARACTERS });
}

function descriptionProblem(text: string): Problem {
  const characters = [...text].length;
  if (characters > MAX_DESCRIPTION_CHARACTERS) {
    return t.launch.problems.description({ most: MAX_DESCRIPTION_CHARACTERS, is: characters });
  }
  if (!text.isWellFormed()) return t.launch.problems.halfCharacter;
  return changesDirection(text) ? t.launch.problems.direction : null;
}

/** Empty is fine. */
function linkProblem(text: string): Problem {
  if (text === '' || webLink(text) !== null) return null;
  return t.launch.problems.link({ most: MAX_LINK_BYTES });
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
