/** Sets an alert on the price of a token, and shows the alerts that are set. */
import { type Signal, signal } from '@preact/signals';
import { Button } from '../components/button.tsx';
import { ask } from '../components/dialog.tsx';
import { ChoiceBar, TextField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { localized, separators, typedPrice } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { addAlert, alerts, DIRECTIONS, isPrice, type PriceAlert, removeAlert } from './alerts.ts';

interface AlertButtonProps {
  readonly asset: string;
  readonly ticker: string;
  /** ADA for a token; null until it is known. */
  readonly spot: string | null;
}

export function AlertButton({ asset, ticker, spot }: AlertButtonProps) {
  const page = usePage();
  const count = alerts.value.filter((each) => each.asset === asset).length;
  const label = t.alerts.set({ ticker });
  return (
    <button
      type="button"
      class="star bell"
      aria-label={label}
      title={label}
      onClick={() => setAlert(page, { asset, ticker, spot })}
    >
      <Icon name="bell" />
      {count > 0 && <span class="mark">{count}</span>}
    </button>
  );
}

type Draft = Pick<PriceAlert, 'direction' | 'price'>;

async function setAlert(page: PageContext, { asset, ticker, spot }: AlertButtonProps) {
  const price = spot === null ? '' : typedPrice(spot);
  const draft = signal<Draft>({ direction: 'above', price });
  await ask({
    title: t.alerts.set({ ticker }),
    content: <AlertForm asset={asset} draft={draft} />,
    confirm: t.alerts.confirm,
    async run() {
      const { direction } = draft.value;
      const price = draft.value.price.trim().replace(separators.point, '.');
      if (!isPrice(price)) throw new Error(t.alerts.noPrice);
      addAlert({ asset, ticker, direction, price });
      const isAllowed = await allowed();
      page.notify('info', isAllowed ? t.alerts.isSet : t.alerts.isSetHere);
      return true;
    },
    late: (error) => page.notify('bad', errorText(error)),
  });
}

/** Asks the reader once; without it alerts are said on the page. */
async function allowed(): Promise<boolean> {
  if (!('Notification' in globalThis)) return false;
  if (Notification.permission !== 'default') return Notification.permission === 'granted';
  return (await Notification.requestPermission()) === 'granted';
}

interface AlertFormProps {
  readonly asset: string;
  readonly draft: Signal<Draft>;
}

function AlertForm({ asset, draft }: AlertFormProps) {
  const { direction, price } = draft.value;
  const mine = alerts.value.filter((each) => each.asset === asset);
  return (
    <div class="wallet-stack">
      <ChoiceBar
        legend={t.alerts.when}
        options={DIRECTIONS.map((value) => ({ value, label: t.alerts.directions[value] }))}
        value={direction}
        choose={(chosen) => {
          draft.value = { ...draft.value, direction: chosen };
        }}
      />
      <TextField
        label={t.alerts.price}
        unit="ADA"
        hint={t.alerts.hint}
        value={price}
        input={(text) => {
          draft.value = { ...draft.value, price: text };
        }}
        attributes={{ inputMode: 'decimal', maxLength: 32 }}
      />
      {mine.length > 0 && (
        <ul class="alerts" aria-label={t.alerts.list}>
          {mine.map((alert) => (
            <li key={`${alert.direction} ${alert.price}`}>
              {t.alerts.directions[alert.direction]} {localized(alert.price)} ADA
              <Button
                describe={t.alerts.removeOne({ price: localized(alert.price) })}
                run={() => removeAlert(alert)}
              >
                {t.alerts.remove}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
