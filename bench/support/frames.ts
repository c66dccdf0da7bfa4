/** WebSocket frames at the price of their headers: a client that only counts frames. */

const TEXT = 0x81;
const MASKED = 0x80;
const LEN_16 = 126;
const LEN_64 = 127;
const LONGEST_HEAD = 10;

/** Counts the frames of a server's byte stream, wherever it is cut. */
export class FrameCounter {
  frames = 0;
  #skip = 0;
  readonly #head = Buffer.alloc(LONGEST_HEAD);
  #have = 0;

  take(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    while (at < to) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, to - at);
        this.#skip -= step;
        at += step;
        if (this.#skip === 0) this.frames += 1;
      } else {
        this.#head[this.#have] = bytes[at] ?? 0;
        this.#have += 1;
        at += 1;
        this.#readHead();
      }
    }
  }

  #readHead(): void {
    if (this.#have < 2) return;
    const short = (this.#head[1] ?? 0) & 0x7f;
    const needed = short === LEN_16 ? 4 : short === LEN_64 ? LONGEST_HEAD : 2;
    if (this.#have < needed) return;
    if (short === LEN_16) this.#skip = this.#head.readUInt16BE(2);
    else if (short === LEN_64) this.#skip = Number(this.#head.readBigUInt64BE(2));
    else this.#skip = short;
    this.#have = 0;
    if (this.#skip === 0) this.frames += 1;
  }
}

/** A text frame from a client; masked with zeros, so the text stays as it is. */
export function clientFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length > 0xffff) throw new Error('longer than this client can say');
  const isShort = payload.length < LEN_16;
  const head = Buffer.alloc(isShort ? 6 : 8);
  head[0] = TEXT;
  head[1] = MASKED | (isShort ? payload.length : LEN_16);
  if (!isShort) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
