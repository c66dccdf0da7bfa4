/** Bytes as lower-case hex text, the form in which hashes and names travel through the program. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

const HEX = /^([0-9a-fA-F]{2})*$/;

export function isHex(text: string): boolean {
  return HEX.test(text);
}

/** Throws on text that is no hex: check what comes from outside with `isHex` first. */
export function fromHex(text: string): Uint8Array {
  if (!HEX.test(text)) throw new Error('not hex');
  return new Uint8Array(Buffer.from(text, 'hex'));
}
