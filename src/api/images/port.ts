/**
 * The image store: bytes under their content id. Contract suite: test/contracts/images.ts.
 *
 * Guarantees:
 * - `put` returns the CID that `ipfs add --cid-version=1` gives the same bytes, and only once they
 *   survive a crash. Putting the same bytes again, also concurrently, returns the same.
 * - `get` returns exactly the bytes of that CID, or null: never half a file, never other bytes, and
 *   only images of the four types. The media type is read from the bytes.
 *
 * May be lost: in a full store, the oldest images that no launch on the chain names; nothing else
 * that `put` acknowledged. May come twice: the same bytes.
 *
 * Errors: NOT_READY when the store cannot take or give one now (disk full, node unreachable); then
 * nothing was stored that a caller can see, and the same call may be tried again. Bytes that `put`
 * gets were checked before (header.ts); others are refused with INVALID_PARAMS.
 */
import type { Failure } from '../../engine/runtime/errors.ts';
import type { ImageType } from './header.ts';

export interface StoredImage {
  readonly bytes: Uint8Array;
  readonly mediaType: ImageType;
}

export interface ImageStore {
  put(bytes: Uint8Array, mediaType: ImageType): Promise<string | Failure>;
  /** Takes any text; null where it is no CID. */
  get(cid: string): Promise<StoredImage | null | Failure>;
}
