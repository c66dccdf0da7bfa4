/** Why a chain cannot be followed from where we are, and what to look at. */
import type { Point } from './port.ts';

export function unknownPoint({ slot, hash }: Point): string {
  return `the chain went back to ${slot}.${hash}, which is unknown here`;
}

export function unknownStart(start: Point | null): string {
  if (start === null) return 'the chain cannot be followed from its beginning';
  return (
    `the node does not have block ${start.slot}.${start.hash}, where following begins: ` +
    'it is still far behind, or of another network; check NETWORK, OGMIOS_URL and START_POINT'
  );
}

export function otherChain(newest: Point | undefined): string {
  return (
    `the node has none of the newest blocks known here, up to ${newest?.slot}.${newest?.hash}: ` +
    'it is still far behind, or of another network; check NETWORK, OGMIOS_URL and DATA_DIR'
  );
}
