/**
 * Content ids as `ipfs add --cid-version=1` makes them: chunks of 262144 bytes as raw leaves; one
 * leaf is the file itself (`bafkrei…`), several hang under one dag-pb node (`bafybei…`).
 * Source: IPIP-499, the profile that Kubo used up to then; vectors in
 * test/api/images/cid.unit.test.ts.
 */
import { CID } from 'multiformats/cid';

const CHUNK_BYTES = 262_144;
const LINKS_PER_NODE = 174;

/** Only the id is wanted: no block is kept. */
const NO_STORE = { put: async (cid: CID) => cid };

export async function cidOf(bytes: Uint8Array): Promise<string> {
  // Loaded when needed: most nodes see no picture for long.
  const [{ importBytes }, { fixedSize }, { balanced }] = await Promise.all([
    import('ipfs-unixfs-importer'),
    import('ipfs-unixfs-importer/chunker'),
    import('ipfs-unixfs-importer/layout'),
  ]);
  const { cid } = await importBytes(bytes, NO_STORE, {
    cidVersion: 1,
    rawLeaves: true,
    reduceSingleLeafToSelf: true,
    chunker: fixedSize({ chunkSize: CHUNK_BYTES }),
    layout: balanced({ maxChildrenPerNode: LINKS_PER_NODE }),
  });
  return cid.toString();
}

/** 59 letters and digits, so that one is safe as a file name and in a URL. */
const SHAPE = /^baf(?:kr|yb)ei[a-z2-7]{52}$/;

/** Whether `text` is an id that `cidOf` could return, in its canonical spelling. */
export function isCid(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  try {
    // The pattern does not check the spare bits: 58 letters are two bits too many.
    return CID.parse(text).version === 1;
  } catch {
    // The parser refuses it.
    return false;
  }
}
