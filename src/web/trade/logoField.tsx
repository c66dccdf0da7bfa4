/**
 * Choosing a logo: by a click, the keyboard or a drop; checked and shown before anything is
 * uploaded. The limits are the server's; the browser's decoder counts the pixels. A photograph is
 * drawn again, so that its place, camera and thumbnail never leave the browser.
 */
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from '../../engine/runtime/limits.ts';
import { localized } from '../format.ts';
import { t } from '../messages.ts';

const MOST = { most: MAX_IMAGE_BYTES / 1_048_576, side: MAX_IMAGE_PIXELS };
const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;

export interface Logo {
  readonly file: File;
  /** The type that the bytes show, regardless of the file's name. */
  readonly mediaType: (typeof LOGO_TYPES)[number];
  readonly width: number;
  readonly height: number;
}

interface LogoFieldProps {
  readonly logo: Logo | null;
  readonly problem: string | null;
  /** The logo, or in words why the file is none. */
  readonly choose: (read: Logo | string) => void;
}

export function LogoField({ logo, problem, choose }: LogoFieldProps) {
  const id = useId();
  const chosen = useRef(0);
  const url = useObjectUrl(logo?.file ?? null);
  const take = async (file: File | null | undefined) => {
    if (file === null || file === undefined) return;
    chosen.current += 1;
    const mine = chosen.current;
    const read = await readLogo(file);
    // Another file may have been chosen while this one was read.
    if (mine === chosen.current) choose(read);
  };
  return (
    <div class="field">
      <span class="label">{t.logo.label}</span>
      <input
        type="file"
        id={id}
        class="unseen"
        accept={LOGO_TYPES.join()}
        aria-describedby={`${id}-hint ${id}-problem`}
        aria-invalid={problem === null ? undefined : 'true'}
        onChange={({ currentTarget }) => take(currentTarget.files?.[0])}
      />
      <label
        for={id}
        class="logo-drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void take(event.dataTransfer?.files[0]);
        }}
      >
        <span class="logo-preview" aria-hidden="true">
          {url === null ? '+' : <img src={url} alt="" />}
        </span>
        <span>
          <strong>{logo === null ? t.logo.choose : logo.file.name.slice(0, 80)}</strong>
          <span class="hint" id={`${id}-hint`}>
            {logo === null
              ? `${t.logo.limits(MOST)} ${t.logo.drawnAgain}`
              : t.logo.size({
                  width: logo.width,
                  height: logo.height,
                  size: sizeText(logo.file.size),
                })}
          </span>
        </span>
      </label>
      <p class="problem" id={`${id}-problem`} role="status">
        {problem}
      </p>
    </div>
  );
}

/** While it is shown; null: without a file, or not yet. */
export function useObjectUrl(file: File | null): string | null {
  const url = useSignal<string | null>(null);
  useEffect(() => {
    if (file === null) {
      url.value = null;
      return;
    }
    const made = URL.createObjectURL(file);
    url.value = made;
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url.value;
}

async function readLogo(file: File): Promise<Logo | string> {
  if (file.size === 0) return t.logo.empty;
  if (file.size > MAX_IMAGE_BYTES) return t.logo.tooLarge({ ...MOST, size: sizeText(file.size) });
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const mediaType = typeOf(head);
  if (mediaType === null) return t.logo.otherType;
  const bitmap = await bitmapOf(file);
  if (bitmap === null) return t.logo.damaged;
  try {
    const { width, height } = bitmap;
    if (width > MAX_IMAGE_PIXELS || height > MAX_IMAGE_PIXELS)
      return t.logo.tooWide({ ...MOST, width, height });
    // An animation would stand still; the server takes the comments out of a GIF.
    const drawn = mediaType === 'image/gif' ? file : await drawAgain(bitmap, file.name, mediaType);
    if (drawn.size > MAX_IMAGE_BYTES)
      return t.logo.tooLarge({ ...MOST, size: sizeText(drawn.size) });
    return { file: drawn, mediaType, width, height };
  } finally {
    bitmap.close();
  }
}

const JPEG_QUALITY = 0.92;

async function drawAgain(bitmap: ImageBitmap, name: string, type: string): Promise<File> {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no canvas to draw a picture on.');
  context.drawImage(bitmap, 0, 0);
  return new File([await canvas.convertToBlob({ type, quality: JPEG_QUALITY })], name, { type });
}

function typeOf(head: Uint8Array): Logo['mediaType'] | null {
  const starts = (...magic: readonly number[]) => magic.every((byte, at) => head[at] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  return starts(0x47, 0x49, 0x46, 0x38) ? 'image/gif' : null;
}

async function bitmapOf(file: File): Promise<ImageBitmap | null> {
  try {
    return await createImageBitmap(file);
  } catch {
    // Not decodable: an answer, not a fault.
    return null;
  }
}

function sizeText(bytes: number): string {
  return bytes < 1_048_576
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${localized((bytes / 1_048_576).toFixed(1))} MiB`;
}
