/** CML, which is not ours, reads what we write as CIP-25. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CML } from '@lucid-evolution/lucid';
import fc from 'fast-check';
import { textPieces, walletMetadata } from '../../src/cardano/datums/walletMetadata.ts';

const POLICY = 'ab'.repeat(28);
const CID = 'bafkreicvwyxybvpllwbwgazxsmazslidtjlidoqtrwue7oqng6ij7kvlmm';
const TOKEN = {
  token: `${POLICY}.4461766520c3a9`,
  name: 'Dave é',
  ticker: 'DAVE',
  logoCID: CID,
  mediaType: 'image/jpg',
  description: '',
};

function readByCml(bytes: Uint8Array) {
  // trust: CML's JSON of a label of CIP-25
  return JSON.parse(CML.CIP25Metadata.from_cbor_bytes(bytes).to_json()) as {
    readonly key_721: { readonly nfts: unknown; readonly version: string };
  };
}

test('CML reads name, picture, type and description as CIP-25 has them', () => {
  const description = `${'long '.repeat(20)}🚀`;
  const { key_721: label } = readByCml(walletMetadata({ ...TOKEN, description }));
  const details = {
    name: 'Dave é',
    image: { Chunked: ['ipfs://', CID] },
    media_type: 'image/jpeg',
    description: { Chunked: [description.slice(0, 64), description.slice(64)] },
    files: null,
  };
  const [, name = ''] = TOKEN.token.split('.');
  assert.deepEqual(label, { nfts: { [POLICY]: { [name]: details } }, version: 'V1' });
});

test('ticker and decimals stand beside them, and the first version has no key of its own', () => {
  const bytes = walletMetadata(TOKEN);
  const labels = CML.AuxiliaryData.from_cbor_bytes(bytes).metadata() ?? assert.fail();
  const label = labels.get(721n) ?? assert.fail();
  const text = CML.decode_metadatum_to_json_str(label, CML.MetadataJsonSchema.BasicConversions);
  assert.deepEqual(JSON.parse(text), {
    [POLICY]: {
      'Dave é': {
        name: 'Dave é',
        image: ['ipfs://', CID],
        ticker: 'DAVE',
        decimals: 0,
        mediaType: 'image/jpeg',
      },
    },
  });
});

test('pieces have at most 64 bytes each, are cut between code points, and give the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const pieces = textPieces(text);
      assert.equal(pieces.join(''), text);
      for (const [index, piece] of pieces.entries()) {
        const bytes = Buffer.byteLength(piece);
        assert.ok(piece.isWellFormed() && bytes > 0 && bytes <= 64);
        const [next = ''] = pieces[index + 1] ?? '';
        if (next !== '') assert.ok(bytes + Buffer.byteLength(next) > 64, 'no shorter than it must');
      }
    }),
  );
  assert.deepEqual(textPieces(`${'a'.repeat(63)}é`), ['a'.repeat(63), 'é']);
  assert.deepEqual(textPieces(''), []);
});
