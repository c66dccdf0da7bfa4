/**
 * Checks MessagePack bytes before they are decoded: reads each header and allocates nothing. An
 * item takes at least one byte, so arrays and maps cannot declare more items than there are bytes
 * left. A decoder that trusts the header would allocate room for billions of items.
 */

const MAX_DEPTH = 8;
/** Bytes after the header byte of the types 0xc0 to 0xdf that hold no length; -1 for the others. */
const FIXED = [
  0, -1, 0, 0, -1, -1, -1, -1, -1, -1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, -1, -1, -1, -1, -1, -1, -1, -1,
  -1, -1, -1, -1,
];

/** Length of a header with its text, and the number of items inside it. */
interface Header {
  readonly bytes: number;
  /** Null: not an array or map. */
  readonly items: number | null;
}

/** No byte strings and no extensions: JSON has none. */
export function passesMsgpackPrecheck(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** Items left in each array or map around the current position. */
  const open: number[] = [1];
  let at = 0;
  let missing = 1;
  while (missing > 0) {
    while (open.at(-1) === 0) open.pop();
    if (at >= bytes.length) return false;
    const header = headerAt(view, at);
    if (header === null) return false;
    at += header.bytes;
    missing -= 1;
    open[open.length - 1] = (open.at(-1) ?? 0) - 1;
    if (header.items !== null) {
      if (open.length > MAX_DEPTH) return false;
      open.push(header.items);
      missing += header.items;
    }
    if (missing > bytes.length - at) return false;
  }
  return at === bytes.length;
}

/** Throws beyond the end. */
function headerAt(view: DataView, at: number): Header | null {
  const type = view.getUint8(at);
  if (type < 0x80 || type >= 0xe0) return { bytes: 1, items: null };
  if (type < 0x90) return { bytes: 1, items: 2 * (type & 0x0f) };
  if (type < 0xa0) return { bytes: 1, items: type & 0x0f };
  if (type < 0xc0) return { bytes: 1 + (type & 0x1f), items: null };
  switch (type) {
    case 0xd9:
      return { bytes: 2 + view.getUint8(at + 1), items: null };
    case 0xda:
      return { bytes: 3 + view.getUint16(at + 1), items: null };
    case 0xdb:
      return { bytes: 5 + view.getUint32(at + 1), items: null };
    case 0xdc:
      return { bytes: 3, items: view.getUint16(at + 1) };
    case 0xdd:
      return { bytes: 5, items: view.getUint32(at + 1) };
    case 0xde:
      return { bytes: 3, items: 2 * view.getUint16(at + 1) };
    case 0xdf:
      return { bytes: 5, items: 2 * view.getUint32(at + 1) };
  }
  const fixed = FIXED[type - 0xc0] ?? -1;
  return fixed < 0 ? null : { bytes: 1 + fixed, items: null };
}
