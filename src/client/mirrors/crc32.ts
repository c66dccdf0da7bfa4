/** CRC-32 of ISO 3309, as gzip and PNG have it: unsigned, of the UTF-8 bytes of a text. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1)
    value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

const encoder = new TextEncoder();

export function crc32(text: string): number {
  let sum = 0xffffffff;
  for (const byte of encoder.encode(text)) sum = (sum >>> 8) ^ (TABLE[(sum ^ byte) & 255] ?? 0);
  return ~sum >>> 0;
}
