/** A row of choices of which one holds. Radio buttons, so that arrow keys move between them. */
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';

interface Choice<T> {
  readonly value: T;
  readonly label: string;
  /** Read out, and shown on hover, where the label is an abbreviation. */
  readonly meaning?: string;
  /** Drawn in the place of the label. */
  readonly icon?: IconName;
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
        <label key={option.value} title={option.meaning ?? (option.icon && option.label)}>
          <input
            type="radio"
            class="unseen"
            name={id}
            aria-label={option.meaning ?? option.label}
            checked={option.value === value}
            onChange={() => choose(option.value)}
          />
          <span aria-hidden="true">
            {option.icon === undefined ? option.label : <Icon name={option.icon} />}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
