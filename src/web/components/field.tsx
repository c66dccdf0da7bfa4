/**
 * Labelled inputs. Label, hint and problem are bound to the input; there is always a line for the
 * problem, so that nothing moves when it speaks.
 */
import type { ComponentChildren, InputHTMLAttributes, RefObject } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** null: nothing is wrong, or it is not said yet. */
  readonly problem?: string | null;
  /** A unit behind the input. */
  readonly unit?: string;
  /** The control; it takes these properties. */
  readonly children: (bound: Bound) => ComponentChildren;
}

interface Bound {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': 'true' | undefined;
}

export function Field({ label, hint = '', problem = null, unit = '', children }: FieldProps) {
  const id = useId();
  const isWrong = problem !== null && problem !== '';
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="field-box">
        {children({
          id,
          'aria-describedby': `${id}-hint ${id}-problem`,
          'aria-invalid': isWrong ? 'true' : undefined,
        })}
        <span class="unit" aria-hidden="true">
          {unit}
        </span>
      </div>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <p class="problem" id={`${id}-problem`} role="status">
        {problem}
      </p>
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly value: string;
  readonly input: (text: string) => void;
  /** The field was left. */
  readonly leave?: () => void;
  readonly box?: RefObject<HTMLInputElement | null>;
  readonly attributes?: InputHTMLAttributes<HTMLInputElement>;
}

export function TextField(props: TextFieldProps) {
  const { value, input, leave, box, attributes, ...field } = props;
  return (
    <Field {...field}>
      {(bound) => (
        <input
          type="text"
          autoComplete="off"
          spellcheck={false}
          {...attributes}
          {...bound}
          ref={box ?? null}
          value={value}
          onInput={({ currentTarget }) => input(currentTarget.value)}
          onChange={() => leave?.()}
        />
      )}
    </Field>
  );
}

/** An exact amount is text: a number field rounds, and hides the typed text. */
export function AmountField(props: Omit<TextFieldProps, 'attributes'>) {
  return (
    <TextField {...props} attributes={{ inputMode: 'decimal', maxLength: 60, class: 'amount' }} />
  );
}

interface ChoiceBarProps<T> {
  readonly legend: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly choose: (value: T) => void;
  readonly class?: string;
}

/** Radio buttons that look like one bar: arrow keys move between them. */
export function ChoiceBar<T extends string>(props: ChoiceBarProps<T>) {
  const { legend, options, value: chosen, choose, class: look = '' } = props;
  const name = useId();
  return (
    <fieldset class={`choice ${look}`.trim()}>
      <legend>{legend}</legend>
      <div class="choice-bar">
        {options.map(({ value, label }) => [
          <input
            key={`${value} input`}
            type="radio"
            class="unseen"
            name={name}
            id={`${name}-${value}`}
            checked={value === chosen}
            onChange={() => choose(value)}
          />,
          <label key={`${value} label`} for={`${name}-${value}`} data-value={value}>
            {label}
          </label>,
        ])}
      </div>
    </fieldset>
  );
}
