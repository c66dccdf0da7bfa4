/** HTML as a value: templates escape everything that is not HTML itself. */
import { escapeMarkup } from '../../../engine/runtime/markup.ts';

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | null | readonly Html[];

export const NOTHING = new Html('');

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, index) => text + textOf(parts[index] ?? null)).join(''));
}

function textOf(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escapeMarkup(String(part));
}
