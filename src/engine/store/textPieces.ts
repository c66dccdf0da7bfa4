/**
 * A long text in pieces of UTF-8, each of whole lines. Added text becomes bytes soon: a string that
 * was put together from parts keeps them, and they would burden the collector.
 */
export type Text = readonly Uint8Array<ArrayBuffer>[];

/** About a millisecond of work. */
const CHARACTERS_A_PIECE = 32 * 1024;
const encoder = new TextEncoder();

export class TextPieces {
  readonly #whole: Uint8Array<ArrayBuffer>[] = [];
  #piece = '';

  /** True: that ended a piece. */
  add(lines: string): boolean {
    this.#piece += lines;
    if (this.#piece.length < CHARACTERS_A_PIECE) return false;
    this.#end();
    return true;
  }

  all(): Text {
    if (this.#piece !== '') this.#end();
    return this.#whole;
  }

  #end(): void {
    this.#whole.push(encoder.encode(this.#piece));
    this.#piece = '';
  }
}

export function decodePiece({ buffer, byteOffset, byteLength }: Text[number]): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}
