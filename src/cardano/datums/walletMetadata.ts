/**
 * A token's metadata for wallets and explorers: name, picture, ticker, decimals and description, in
 * the metadata of its launch. Used by the builder, and by a client that checks a transaction before
 * it signs. Source: CIP-25, version 1; onchain.md, "Metadata".
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { cborHead, TEXT } from '../codec/cbor.ts';
import { array, map, uint } from '../codec/encode.ts';
import { joined } from '../codec/hex.ts';

const LABEL = 721;
/** The longest text that the ledger takes in metadata. */
const MAX_TEXT_BYTES = 64;

export interface ShownToken {
  readonly token: AssetId;
  /** Its UTF-8 is the asset's name. */
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  /** As the picture was declared. */
  readonly mediaType: string;
  readonly description: string;
}

/** The auxiliary data of a launch, CBOR: a map of labels, keys in canonical order. */
export function walletMetadata(shown: ShownToken): Uint8Array {
  const { token, name, ticker, logoCID, mediaType, description } = shown;
  const [policy = ''] = token.split('.');
  const details: [string, Uint8Array][] = [
    ['name', text(name)],
    // Split into two texts: a text of 66 bytes is longer than the ledger allows.
    ['image', array([text('ipfs://'), text(logoCID)])],
    ['ticker', text(ticker)],
    ['decimals', uint(0)],
    ['mediaType', text(mediaType === 'image/jpg' ? 'image/jpeg' : mediaType)],
  ];
  if (description !== '') {
    details.push(['description', array(textPieces(description).map(text))]);
  }
  const label = textMap([[policy, textMap([[name, textMap(details)]])]]);
  return map([[uint(LABEL), label]]);
}

/** Pieces of at most 64 bytes of UTF-8 each, cut between code points; joined they are the text. */
export function textPieces(whole: string): readonly string[] {
  const pieces: string[] = [];
  let [piece, bytes] = ['', 0];
  for (const character of whole) {
    const size = utf8(character).length;
    if (bytes + size > MAX_TEXT_BYTES) {
      pieces.push(piece);
      [piece, bytes] = ['', 0];
    }
    piece += character;
    bytes += size;
  }
  return piece === '' ? pieces : [...pieces, piece];
}

function textMap(entries: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  return map(entries.map(([key, value]) => [text(key), value]));
}

function text(content: string): Uint8Array {
  const bytes = utf8(content);
  return joined([cborHead(TEXT, bytes.length), bytes]);
}

function utf8(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}
