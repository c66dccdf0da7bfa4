/** Choosing a logo: by a click, the keyboard or a drop; shown before anything is uploaded. */
import { el, setAttribute, setText } from '../dom.ts';
import { newId } from './field.ts';

interface LogoField {
  readonly root: HTMLElement;
  /** null: none that can be used. */
  readonly logo: Logo | null;
  /** Says so where none was chosen; true when there is one. */
  check(): boolean;
  close(): void;
}

const CHOOSE = 'Choose a picture';
const EMPTY = 'PNG, JPEG or GIF; at most 5 MiB and 4096 × 4096 pixels.';

export function logoField(): LogoField {
  const deps = partsOf();
  const { root, input, drop, problem } = deps;
  const shown = new ShownLogo(deps);
  input.addEventListener('change', () => void shown.take(input.files?.[0]));
  drop.addEventListener('dragover', (event) => event.preventDefault());
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    void shown.take(event.dataTransfer?.files[0]);
  });
  return {
    root,
    get logo() {
      return shown.logo;
    },
    check() {
      if (shown.logo === null && problem.textContent === '') shown.say('Choose a picture.');
      return shown.logo !== null;
    },
    close: () => shown.clear(),
  };
}

function partsOf() {
  const id = newId('logo');
  const input = el('input', { type: 'file', id, class: 'unseen', accept: LOGO_TYPES.join() });
  setAttribute(input, 'aria-describedby', `${id}-hint ${id}-problem`);
  const preview = el('span', { class: 'logo-preview', 'aria-hidden': 'true' }, '+');
  const hint = el('span', { class: 'hint', id: `${id}-hint` }, EMPTY);
  const problem = el('p', { class: 'problem', id: `${id}-problem`, role: 'status' });
  const title = el('strong', {}, CHOOSE);
  const drop = el('label', { for: id, class: 'logo-drop' }, preview, el('span', {}, title, hint));
  const name = el('span', { class: 'label' }, 'Logo');
  const root = el('div', { class: 'field' }, name, input, drop, problem);
  return { root, input, preview, hint, problem, title, drop };
}

class ShownLogo {
  logo: Logo | null = null;
  readonly #deps: ReturnType<typeof partsOf>;
  #url: string | null = null;
  #chosen = 0;

  constructor(deps: ReturnType<typeof partsOf>) {
    this.#deps = deps;
  }

  say(text: string | null): void {
    setText(this.#deps.problem, text ?? '');
    setAttribute(this.#deps.input, 'aria-invalid', text === null ? null : 'true');
  }

  clear(): void {
    if (this.#url !== null) URL.revokeObjectURL(this.#url);
    this.#url = null;
    this.logo = null;
  }

  async take(file: File | null | undefined): Promise<void> {
    if (file === null || file === undefined) return;
    this.#chosen += 1;
    const mine = this.#chosen;
    const read = await readLogo(file);
    // Another file was chosen while this one was read.
    if (mine !== this.#chosen) return;
    const { preview, title, hint } = this.#deps;
    this.clear();
    if (typeof read === 'string') {
      preview.replaceChildren('+');
      setText(title, CHOOSE);
      setText(hint, EMPTY);
      this.say(read);
      return;
    }
    this.logo = read;
    this.#url = URL.createObjectURL(file);
    preview.replaceChildren(el('img', { src: this.#url, alt: '' }));
    setText(title, file.name.slice(0, 80));
    setText(hint, `${read.width} × ${read.height} pixels, ${sizeText(file.size)}`);
    this.say(null);
  }
}

/**
 * Whether a file can be a logo, checked before it is uploaded: type, size, magic bytes, pixels. The
 * limits are the server's; the browser's decoder counts the pixels. Source: api.md section 3.
 */
const MAX_BYTES = 5 * 1_048_576;
const MAX_PIXELS = 4096;

const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/gif'] as const;
type LogoType = (typeof LOGO_TYPES)[number];

interface Logo {
  readonly file: File;
  readonly mediaType: LogoType;
  readonly width: number;
  readonly height: number;
}

/** The logo, or in words why the file is none. */
async function readLogo(file: File): Promise<Logo | string> {
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

function sizeText(bytes: number): string {
  return bytes < 1_048_576
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
