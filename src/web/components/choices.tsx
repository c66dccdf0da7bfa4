/** A row of choices of which one holds. Radio buttons, so that arrow keys move between them. */
import { useId } from 'preact/hooks';

interface Choice<T> {
  readonly value: T;
  readonly label: string;
  /** Read out, and shown on hover, where the label is an abbreviation. */
  readonly meaning?: string;
}

interface ChoicesProps<T> {
  readonly name: string;
  readonly options: readonly Choice<T>[];
  readonly value: T;
  readonly choose: (value: T) => void;
}

export function Choices<T extends string>({ name, options, value, choose }: ChoicesProps<T>) {
  const id = useId();
  return (
    <fieldset class="choices">
      <legend class="unseen">{name}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.meaning}>
          <input
            type="radio"
            class="unseen"
            name={id}
            aria-label={option.meaning ?? option.label}
            checked={option.value === value}
            onChange={() => choose(option.value)}
          />
          <span aria-hidden="true">{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
