/**
 * Names of tokens, made from chance: two words within the rules of a launch (protocol.md section
 * 3).
 */
import type { Rng } from '../../engine/runtime/rng.ts';
import { pick } from './random.ts';
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
];

const FIRSTS = FIRST.split(' ');
const SECONDS = SECOND.split(' ');
const LONGEST_NAME = 16;

export function tokenIdea(rng: Rng): TokenIdea {
  const first = pick(rng, FIRSTS) ?? 'Plain';
  const second = pick(rng, SECONDS) ?? 'Coin';
  const name = `${first} ${second}`.slice(0, LONGEST_NAME);
  const ticker = `${first.slice(0, 2)}${second.slice(0, 3)}`.toUpperCase();
  const pitch = pick(rng, PITCHES) ?? '';
  return { name, ticker, description: `${name}. ${pitch}` };
}
