/**
 * Labelled inputs. Label, hint and problem are bound to the input; there is always a line for the
 * problem, so that nothing moves when it speaks.
 */
import { el, setAttribute, setText } from '../dom.ts';

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export interface Field<T extends Control> {
  readonly root: HTMLElement;
  readonly input: T;
  hint(text: string): void;
  /** null: nothing is wrong, or it is not said yet. */
  problem(text: string | null): void;
  unit(text: string): void;
}

interface FieldOptions {
  readonly label: string;
  readonly hint?: string;
  /** Stands behind what is typed. */
  readonly unit?: string;
}

let made = 0;

export function newId(what: string): string {
  made += 1;
  return `${what}-${made}`;
}

export function fieldOf<T extends Control>(input: T, options: FieldOptions): Field<T> {
  const id = newId('field');
  input.id = id;
  const hint = el('p', { class: 'hint', id: `${id}-hint` }, options.hint ?? '');
  const problem = el('p', { class: 'problem', id: `${id}-problem`, role: 'status' });
  setAttribute(input, 'aria-describedby', `${id}-hint ${id}-problem`);
  const unit = el('span', { class: 'unit', 'aria-hidden': 'true' }, options.unit ?? '');
  const title = el('label', { for: id }, options.label);
  const box = el('div', { class: 'field-box' }, input, unit);
  return {
    root: el('div', { class: 'field' }, title, box, hint, problem),
    input,
    hint: (text) => void setText(hint, text),
    problem(text) {
      setText(problem, text ?? '');
      setAttribute(input, 'aria-invalid', text === null ? null : 'true');
    },
    unit: (text) => void setText(unit, text),
  };
}

export function textField(
  options: FieldOptions,
  attributes: Readonly<Record<string, string | boolean | null>> = {},
): Field<HTMLInputElement> {
  const input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  for (const [name, value] of Object.entries(attributes)) setAttribute(input, name, value);
  return fieldOf(input, options);
}

/** An exact amount is text: a number field rounds, and hides what was typed. */
export function amountField(options: FieldOptions): Field<HTMLInputElement> {
  return textField(options, { inputmode: 'decimal', maxlength: '60', class: 'amount' });
}

interface ChoiceBar<T extends string> {
  readonly root: HTMLFieldSetElement;
  readonly value: T;
  set(value: T): void;
}

/** Radio buttons that look like one bar: arrow keys move between them. */
export function choiceBar<T extends string>(
  legend: string,
  choices: readonly { readonly value: T; readonly label: string }[],
  first: T,
  onChange: (value: T) => void,
): ChoiceBar<T> {
  const name = newId('choice');
  let chosen = first;
  const bar = el('div', { class: 'choice-bar' });
  const inputs = choices.map(({ value, label }) => {
    const input = el('input', { type: 'radio', class: 'unseen', name, value });
    input.id = `${name}-${value}`;
    input.checked = value === first;
    input.addEventListener('change', () => {
      chosen = value;
      onChange(value);
    });
    bar.append(input, el('label', { for: input.id, 'data-value': value }, label));
    return [value, input] as const;
  });
  return {
    root: el('fieldset', { class: 'choice' }, el('legend', {}, legend), bar),
    get value() {
      return chosen;
    },
    set(value) {
      chosen = value;
      for (const [each, input] of inputs) input.checked = each === value;
      onChange(value);
    },
  };
}
