/**
 * Names of tokens, made from chance: two words within the rules of a launch (protocol.md section
 * 3).
 */
import { MAX_NAME_CHARACTERS } from '../engine/runtime/limits.ts';
import type { Rng } from '../engine/runtime/rng.ts';
import { pick, withProbability } from './random.ts';
import type { TokenIdea } from './view.ts';

const FIRST =
  'Lucky Sleepy Turbo Cosmic Mini Grumpy Golden Pixel Spicy Lazy Brave Frozen Happy Quantum ' +
  'Salty Tiny Royal Rusty Silent Velvet Wild Zen Mellow Noble';
const SECOND =
  'Otter Pug Toad Llama Yak Moose Gecko Panda Koala Raven Squid Corgi Bison Lynx Crab Owl Hippo ' +
  'Sloth Newt Falcon Badger Camel Dodo Goose';
const PITCHES = [
  'The community token without a community.',
  'Up only, until it is not. A token of this devnet.',
  'No road map, no promises, one mascot.',
  'Made for testing, loved for no reason.',
  'The first of its kind on this very devnet.',
  'A mascot, a curve and forty wallets with opinions.',
  'It does nothing, and it does that every second.',
  'Worth nothing by design: this is a devnet.',
  'Hold it, sell it, lock it. All three are tested.',
];
const LINKED_PERCENT = 60;
const SILENT_PERCENT = 12;

const FIRSTS = FIRST.split(' ');
const SECONDS = SECOND.split(' ');

export function tokenIdea(rng: Rng): TokenIdea {
  const first = pick(rng, FIRSTS) ?? 'Plain';
  const second = pick(rng, SECONDS) ?? 'Coin';
  const name = `${first} ${second}`.slice(0, MAX_NAME_CHARACTERS);
  const ticker = `${first.slice(0, 2)}${second.slice(0, 3)}`.toUpperCase();
  const pitch = pick(rng, PITCHES) ?? '';
  const description = withProbability(rng, SILENT_PERCENT) ? '' : `${name}. ${pitch}`;
  return { name, ticker, description, ...linksOf(rng, name.toLowerCase().replace(/\W+/g, '-')) };
}

/** Domains that are reserved for examples (RFC 2606). */
function linksOf(rng: Rng, slug: string): Partial<TokenIdea> {
  if (!withProbability(rng, LINKED_PERCENT)) return {};
  const website = `https://${slug}.example/`;
  const isSocial = withProbability(rng, LINKED_PERCENT);
  return isSocial ? { website, twitter: `https://social.example/${slug}` } : { website };
}
