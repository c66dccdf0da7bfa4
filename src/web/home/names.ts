/** The name of a token on the page. A replayed one has no name but what its id spells. */
import type { Ticker } from '../../client/types.ts';
import { nameInId } from '../../engine/market/tokenName.ts';
import { ends } from '../format.ts';

type Named = Pick<Ticker, 'name' | 'ticker' | 'asset'>;

export function nameOf({ name, asset }: Pick<Named, 'name' | 'asset'>): string {
  return name === '' ? (nameInId(asset) ?? ends(asset, 8)) : name;
}

/** Also the two letters of its picture; under its name an id that says which token it is. */
export function tickerOf({ ticker, asset }: Pick<Named, 'ticker' | 'asset'>): string {
  return ticker === '' ? ends(asset, 4) : ticker;
}

/** The text from which the letters of its picture are taken. */
export function lettersOf({ ticker, name, asset }: Named): string {
  return ticker === '' ? nameOf({ name, asset }) : ticker;
}
