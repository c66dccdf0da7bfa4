/** Which columns the table of the market has: the reader's choice, kept in the browser. */
import { Menu } from '../components/menu.tsx';
import { t } from '../messages.ts';
import { HIDDEN_AT_FIRST, HIDEABLE, type Hideable, hidden } from './market.ts';

export function ColumnsMenu() {
  const toggle = (name: Hideable, isShown: boolean) => {
    const others = hidden.value.filter((each) => each !== name);
    hidden.value = isShown ? others : [...others, name];
  };
  const chosenAway = hidden.value.filter((name) => !HIDDEN_AT_FIRST.includes(name)).length;
  return (
    <Menu label={t.home.chosenColumns} count={chosenAway} isAtStart>
      {HIDEABLE.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={!hidden.value.includes(name)}
            onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
          />
          {name === 'spark' ? t.home.day : t.home.columns[name]}
        </label>
      ))}
    </Menu>
  );
}
