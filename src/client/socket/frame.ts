/** Frames of the server (protocol.md 6.2), from text or MessagePack. */
export interface Frame {
  readonly requestId: string | number | null;
  readonly event: string;
  readonly data: unknown;
  readonly epoch: string;
  readonly seq: number;
  /** seq of the frame before in the same stream; null on a snapshot. */
  readonly prev: number | null;
  readonly snapshot: boolean;
  /** When the server made it, Unix milliseconds. */
  readonly ts?: number | undefined;
}

export type Encoding = 'json' | 'msgpack';
export type Decode = (data: unknown) => Frame | null;

/** The package for MessagePack is loaded on first use. */
export async function decoderOf(encoding: Encoding): Promise<Decode> {
  if (encoding === 'json') {
    return (data) =>
      typeof data === 'string' ? readFrame(parseOrNull(() => JSON.parse(data))) : null;
  }
  const { decode } = await import('@msgpack/msgpack');
  return (data) =>
    data instanceof ArrayBuffer ? readFrame(parseOrNull(() => decode(new Uint8Array(data)))) : null;
}

function parseOrNull(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    // Not readable: the caller treats it as a broken connection.
    return null;
  }
}

/** null if the text is not a frame. */
function readFrame(value: unknown): Frame | null {
  if (!isRecord(value)) return null;
  const { requestId = null, event, data, epoch, seq, prev, snapshot, ts } = value;
  if (typeof event !== 'string' || typeof epoch !== 'string') return null;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq)) return null;
  if (prev !== null && typeof prev !== 'number') return null;
  const isId = requestId === null || typeof requestId === 'string' || typeof requestId === 'number';
  if (!isId) return null;
  const tsMs = typeof ts === 'number' ? ts : undefined;
  return { requestId, event, data, epoch, seq, prev, snapshot: snapshot === true, ts: tsMs };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
