/** The wallet page: connects a wallet; its balance, profit, orders and locks. */
import { useEffect } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { Panel } from '../components/panel.tsx';
import { errorText } from '../errorText.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { shownAda, shownAmount } from '../trade/amount.ts';
import { Account } from './account.tsx';
import type { ConnectedWallet } from './connectedWallet.ts';
import { ConnectOptions } from './connectOptions.tsx';
import { downloadHistory } from './historyFile.ts';
import { OwnLocks } from './locks.tsx';
import { OwnOrders } from './orders.tsx';
import { Portfolio } from './portfolio.tsx';
import { sessionOf } from './session.ts';
import { tickersOf } from './tickers.ts';

export function Wallet() {
  const wallet = sessionOf(usePage()).wallet.value;
  return (
    <>
      <h1>{t.wallet.title}</h1>
      <div class="wallet-columns">
        <div class="wallet-column">
          <Panel class="connection" title={t.wallet.connection}>
            <div class="inside">
              {wallet === null ? <ConnectOptions /> : <Account wallet={wallet} />}
            </div>
          </Panel>
          {wallet !== null && <Held wallet={wallet} />}
        </div>
        {wallet !== null && <Made wallet={wallet} />}
      </div>
    </>
  );
}

interface MineProps {
  readonly wallet: ConnectedWallet;
}

function Held({ wallet }: MineProps) {
  return (
    <>
      <Panel class="balances" title={t.wallet.balance}>
        <div class="inside">
          <Balance />
        </div>
      </Panel>
      <Panel class="own-locking" title={t.locks.own}>
        <div class="inside">
          <OwnLocks key={wallet.keyHash} wallet={wallet} />
        </div>
      </Panel>
    </>
  );
}

function Made({ wallet }: MineProps) {
  const context = usePage();
  const save = async () => {
    try {
      const count = await downloadHistory(context, [wallet.keyHash]);
      context.notify('good', t.orders.saved(count));
    } catch (error) {
      context.notify('bad', errorText(error));
    }
  };
  return (
    <div class="wallet-column">
      <Portfolio key={wallet.keyHash} wallet={wallet} />
      <Panel class="open-orders" title={t.orders.open}>
        <div class="inside">
          <OwnOrders asset={null} which="open" />
        </div>
      </Panel>
      <Panel
        class="ended-orders"
        title={t.orders.history}
        side={
          <span class="side">
            <Button run={save}>{t.orders.asFile}</Button>
          </span>
        }
      >
        <div class="inside">
          <OwnOrders asset={null} which="ended" />
        </div>
      </Panel>
    </div>
  );
}

/** A wallet may hold thousands of kinds. */
const MAX_ROWS = 100;

/** ADA, and tokens with links to their pages. */
function Balance() {
  const context = usePage();
  const session = sessionOf(context);
  const tickers = tickersOf(context);
  useEffect(() => session.refresh(), []);
  const held = session.balance.value;
  const tokens = held === null ? [] : [...held.assets].sort(([a], [b]) => (a < b ? -1 : 1));
  const more = tokens.length - MAX_ROWS;
  // Tickers may be learned later.
  const isKnown = tickers.learned.value >= 0;
  return (
    <>
      <p class="balance" aria-live="polite">
        {held === null ? '…' : shownAda(held.lovelace)}
      </p>
      <ul class="holdings">
        {tokens.slice(0, MAX_ROWS).map(([asset, amount]) => (
          <li key={asset}>
            <a href={routeHash({ at: 'token', asset })}>{isKnown ? tickers.of(asset) : ''}</a>
            <span class="num">{shownAmount(amount, 0)}</span>
          </li>
        ))}
        {more > 0 && <li class="dim">{t.wallet.more(more)}</li>}
      </ul>
      {session.problem.value !== null && <ErrorBox error={session.problem.value} />}
    </>
  );
}
