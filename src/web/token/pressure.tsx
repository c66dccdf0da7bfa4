/** Buys against sells of the last five minutes, hour and day. */
import type { Ticker } from '../../client/types.ts';
import { Panel } from '../components/panel.tsx';
import { t } from '../messages.ts';
import { ticker } from './ticker.tsx';

const WINDOWS = ['5m', '1h', '24h'] as const;

export function Pressure() {
  const traders = ticker.value?.traders24h ?? null;
  return (
    <Panel
      class="pressure"
      title={t.token.pressure}
      side={<span class="side">{traders === null ? '' : t.token.traders(traders)}</span>}
    >
      <ul class="inside">
        {WINDOWS.map((window) => (
          <Balance key={window} window={window} now={ticker.value} />
        ))}
      </ul>
    </Panel>
  );
}

interface BalanceProps {
  readonly window: (typeof WINDOWS)[number];
  readonly now: Ticker | null;
}

function Balance({ window, now }: BalanceProps) {
  const [buys, sells] = [now?.[`buys${window}`] ?? 0, now?.[`sells${window}`] ?? 0];
  return (
    <li>
      <span class="dim">{t.token.windows[window]}</span>
      <span class="up">{t.token.buys(buys)}</span>
      <span class="balance-bar" aria-hidden="true">
        <span class="buys" style={{ 'flex-grow': String(buys) }} />
        <span class="sells" style={{ 'flex-grow': String(sells) }} />
      </span>
      <span class="down num">{t.token.sells(sells)}</span>
    </li>
  );
}
