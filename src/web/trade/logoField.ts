/** Choosing a logo: by a click, the keyboard or a drop; shown before anything is uploaded. */
import { el, setAttribute, setText } from '../dom.ts';
import { newId } from './field.ts';
import { LOGO_TYPES, type Logo, readLogo, sizeText } from './launchImage.ts';

export interface LogoField {
  readonly root: HTMLElement;
  /** null: none that can be used. */
  readonly logo: Logo | null;
  /** Says so where none was chosen; true when there is one. */
  check(): boolean;
  close(): void;
}

const EMPTY = 'PNG, JPEG or GIF; at most 5 MiB and 4096 × 4096 pixels.';

export function logoField(): LogoField {
  const id = newId('logo');
  let logo: Logo | null = null;
  let url: string | null = null;
  let chosen = 0;
  const input = el('input', { type: 'file', id, class: 'unseen', accept: LOGO_TYPES.join() });
  setAttribute(input, 'aria-describedby', `${id}-hint ${id}-problem`);
  const preview = el('span', { class: 'logo-preview', 'aria-hidden': 'true' }, '+');
  const hint = el('span', { class: 'hint', id: `${id}-hint` }, EMPTY);
  const problem = el('p', { class: 'problem', id: `${id}-problem`, role: 'status' });
  const title = el('strong', {}, 'Choose a picture');
  const drop = el('label', { for: id, class: 'logo-drop' }, preview, el('span', {}, title, hint));
  const root = el(
    'div',
    { class: 'field' },
    el('span', { class: 'label' }, 'Logo'),
    input,
    drop,
    problem,
  );

  const say = (text: string | null) => {
    setText(problem, text ?? '');
    setAttribute(input, 'aria-invalid', text === null ? null : 'true');
  };
  const clear = () => {
    if (url !== null) URL.revokeObjectURL(url);
    url = null;
    logo = null;
  };
  const take = async (file: File | null | undefined) => {
    chosen += 1;
    const mine = chosen;
    if (file === null || file === undefined) return;
    const read = await readLogo(file);
    // Another file was chosen while this one was read.
    if (mine !== chosen) return;
    clear();
    if (typeof read === 'string') {
      preview.replaceChildren('+');
      setText(title, 'Choose a picture');
      setText(hint, EMPTY);
      say(read);
      return;
    }
    logo = read;
    url = URL.createObjectURL(file);
    preview.replaceChildren(el('img', { src: url, alt: '' }));
    setText(title, file.name.slice(0, 80));
    setText(hint, `${read.width} × ${read.height} pixels, ${sizeText(file.size)}`);
    say(null);
  };
  input.addEventListener('change', () => void take(input.files?.[0]));
  drop.addEventListener('dragover', (event) => event.preventDefault());
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    void take(event.dataTransfer?.files[0]);
  });
  return {
    root,
    get logo() {
      return logo;
    },
    check() {
      if (logo === null && problem.textContent === '') say('Choose a picture.');
      return logo !== null;
    },
    close: clear,
  };
}
