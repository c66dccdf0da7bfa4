/**
 * Whether a file can be a logo, checked before it is uploaded: type, size, magic bytes, pixels. The
 * limits are the server's; the browser's decoder counts the pixels. Source: api.md section 3.
 */
const MAX_BYTES = 5 * 1_048_576;
const MAX_PIXELS = 4096;

export const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;
export type LogoType = (typeof LOGO_TYPES)[number];

export interface Logo {
  readonly file: File;
  readonly mediaType: LogoType;
  readonly width: number;
  readonly height: number;
}

/** The logo, or in words why the file is none. */
export async function readLogo(file: File): Promise<Logo | string> {
  if (file.size === 0) return 'This file is empty.';
  if (file.size > MAX_BYTES) {
    return `A logo has at most 5 MiB; this file has ${sizeText(file.size)}.`;
  }
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const mediaType = typeOf(head);
  if (mediaType === null) return 'A logo is a PNG, JPEG or GIF image; this file is none.';
  const size = await pixelsOf(file);
  if (size === null) return 'This image is damaged: the browser cannot read it.';
  const { width, height } = size;
  if (width > MAX_PIXELS || height > MAX_PIXELS) {
    const most = `${MAX_PIXELS} × ${MAX_PIXELS}`;
    return `A logo has at most ${most} pixels; this has ${width} × ${height}.`;
  }
  return { file, mediaType, width, height };
}

function typeOf(head: Uint8Array): LogoType | null {
  const starts = (...magic: readonly number[]) => magic.every((byte, at) => head[at] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  return starts(0x47, 0x49, 0x46, 0x38) ? 'image/gif' : null;
}

async function pixelsOf(file: File): Promise<{ width: number; height: number } | null> {
  try {
    const bitmap = await createImageBitmap(file);
    const { width, height } = bitmap;
    bitmap.close();
    return { width, height };
  } catch {
    // Not decodable: an answer, not a fault.
    return null;
  }
}

export function sizeText(bytes: number): string {
  return bytes < 1_048_576
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
