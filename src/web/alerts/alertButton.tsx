/** Sets an alert on the price of a token, and shows the alerts that are set. */
import { type Signal, signal } from '@preact/signals';
import { Button } from '../components/button.tsx';
import { ask } from '../components/dialog.tsx';
import { ChoiceBar, TextField } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { product, shortMoney } from '../fiat.ts';
import { localized, separators, shortPrice } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { addAlert, alerts, DIRECTIONS, isReached, type PriceAlert, removeAlert } from './alerts.ts';
import { targetPrice, WAYS, type Way } from './target.ts';

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

interface Draft {
  readonly way: Way;
  readonly direction: PriceAlert['direction'];
  /** As typed; empty at first, so that Enter sets nothing. */
  readonly amount: string;
}

async function setAlert(page: PageContext, { asset, ticker, spot }: AlertButtonProps) {
  const draft = signal<Draft>({ way: 'price', direction: 'above', amount: '' });
  const supply = page.network.peek()?.supply ?? null;
  await ask({
    title: t.alerts.set({ ticker }),
    content: <AlertForm asset={asset} draft={draft} spot={spot} supply={supply} />,
    confirm: t.alerts.confirm,
    async run() {
      const { way, direction, amount } = draft.value;
      const exact = amount.trim().replace(separators.point, '.');
      const price = targetPrice(way, direction, exact, { spot, supply });
      if (price === null) throw new Error(t.alerts.noPrice);
      if (spot !== null && isReached({ asset, ticker, direction, price }, spot)) {
        throw new Error(t.alerts.isThere);
      }
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

function directionsOf(way: Way) {
  return way === 'percent' ? t.alerts.moves : t.alerts.directions;
}

interface AlertFormProps {
  readonly asset: string;
  readonly draft: Signal<Draft>;
  readonly spot: string | null;
  readonly supply: bigint | null;
}

function AlertForm({ asset, draft, spot, supply }: AlertFormProps) {
  const { way, direction, amount } = draft.value;
  const ways = supply === null ? WAYS.filter((each) => each !== 'cap') : WAYS;
  return (
    <div class="wallet-stack">
      <ChoiceBar
        legend={t.alerts.by}
        options={ways.map((value) => ({ value, label: t.alerts.ways[value] }))}
        value={way}
        choose={(chosen) => {
          draft.value = { ...draft.value, way: chosen, amount: '' };
        }}
      />
      <ChoiceBar
        legend={t.alerts.when}
        options={DIRECTIONS.map((value) => ({ value, label: directionsOf(way)[value] }))}
        value={direction}
        choose={(chosen) => {
          draft.value = { ...draft.value, direction: chosen };
        }}
      />
      <TextField
        label={t.alerts.amounts[way]}
        unit={way === 'percent' ? '%' : 'ADA'}
        hint={t.alerts.hint}
        value={amount}
        input={(text) => {
          draft.value = { ...draft.value, amount: text };
        }}
        attributes={{ inputMode: 'decimal', maxLength: 32 }}
      />
      {spot !== null && (
        <p class="small dim">
          {t.alerts.now({
            price: shortPrice(spot),
            cap: supply === null ? '–' : shortMoney(product(spot, String(supply))),
          })}
        </p>
      )}
      <AlertList asset={asset} />
    </div>
  );
}

/** The alerts of all tokens, this token's first. */
function AlertList({ asset }: { readonly asset: string }) {
  const all = alerts.value.toSorted(
    (a, b) => Number(b.asset === asset) - Number(a.asset === asset),
  );
  if (all.length === 0) return null;
  return (
    <ul class="alerts" aria-label={t.alerts.list}>
      {all.map((alert) => (
        <li key={`${alert.asset} ${alert.direction} ${alert.price}`}>
          <span>
            <b>{alert.ticker}</b> {waitsFor(alert)}
          </span>
          <Button
            describe={t.alerts.removeOne({ price: localized(alert.price) })}
            run={() => removeAlert(alert)}
          >
            {t.alerts.remove}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function waitsFor({ direction, price }: PriceAlert): string {
  return `${t.alerts.directions[direction]} ${localized(price)} ADA`;
}
