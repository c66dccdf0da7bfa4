/** Choosing a logo: by a click, the keyboard or a drop; shown before anything is uploaded. */
import { el, setAttribute, setText } from '../dom.ts';
import { newId } from './field.ts';
import { LOGO_TYPES, type Logo, readLogo, sizeText } from './logoFile.ts';

export interface LogoField {
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
