/** Holdings and profit of wallets: their value, profit and loss for each token and over time. */
import { useSignal } from '@preact/signals';
import { balanceOf, utxosOf } from '../../client/trade/utxo.ts';
import type { PortfolioAnswer } from '../../client/types.ts';
import { formatFixed } from '../../engine/market/decimal.ts';
import { Choices } from '../components/choices.tsx';
import { ErrorBox } from '../components/errorBox.tsx';
import { LineChart } from '../components/lineChart.tsx';
import { Logo } from '../components/logo.tsx';
import { Panel } from '../components/panel.tsx';
import { money } from '../fiat.ts';
import { columnPrice, grouped, localized, moment, short } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { useQuery } from '../useQuery.ts';
import { keptKeyHashes } from './account.tsx';
import type { ConnectedWallet } from './connectedWallet.ts';
import {
  ADA_DECIMALS,
  gainOf,
  lookOf,
  lovelaceOf,
  moneyText,
  signed,
  withSign,
} from './gainText.ts';
import { PictureButton, TokenPictureButton } from './pnlPicture.tsx';
import { sessionOf } from './session.ts';

/** Prices change its value. */
const ASK_EVERY_SECONDS = 10;

const fourDigits = (price: string) => columnPrice(price, 4);

type PortfolioToken = PortfolioAnswer['tokens'][number];

export function Portfolio({ wallet }: { readonly wallet: ConnectedWallet }) {
  const context = usePage();
  const { client, time } = context;
  const isAll = useSignal(false);
  const kept = wallet.kind === 'test' ? keptKeyHashes(context) : [];
  const keys = isAll.value && kept.length > 1 ? kept : [wallet.keyHash];
  const name = keys.join();
  const { landed, orders } = sessionOf(context);
  const round = Math.floor(time.seconds.value / ASK_EVERY_SECONDS);
  const { data, error } = useQuery(
    'portfolio',
    async (signal) => (await client.holders.portfolio(keys, {}, { signal })).data,
    [name],
    `${round} ${landed.value} ${orders.value.orders[0]?.status ?? ''}`,
  ).value;
  return (
    <Panel
      class="portfolio"
      title={t.portfolio.title}
      side={
        <div class="side">
          {kept.length > 1 && (
            <label class="own-only">
              <input
                type="checkbox"
                checked={isAll.value}
                onChange={({ currentTarget }) => {
                  isAll.value = currentTarget.checked;
                }}
              />
              {t.portfolio.allWallets(kept.length)}
            </label>
          )}
          {data !== null && data.tokens.length > 0 && <PictureButton portfolio={data} />}
        </div>
      }
    >
      <div class="inside">
        {data === null && error === null && <div class="bone tall" role="status" />}
        {error !== null && <ErrorBox error={error} />}
        {data !== null && <Figures portfolio={data} keys={keys} />}
        {data !== null && <History key={name} keys={keys} round={round} since={firstTrade(data)} />}
        {data !== null && data.tokens.length === 0 && <p class="dim">{t.portfolio.none}</p>}
      </div>
      {data !== null && data.tokens.length > 0 && <Tokens tokens={data.tokens} />}
    </Panel>
  );
}

interface FiguresProps {
  readonly portfolio: PortfolioAnswer;
  /** The portfolio's. */
  readonly keys: readonly string[];
}

function Figures({ portfolio, keys }: FiguresProps) {
  const { valueAda, realizedPnlAda, unrealizedPnlAda, pnlPercent, spentAda } = portfolio;
  const { coins, error } = useCoins(keys, portfolio);
  const total = coins === null ? null : coins + lovelaceOf(valueAda);
  const unknown = error === null ? '…' : '–';
  return (
    <div class="figures">
      <Figure
        name={t.portfolio.total}
        value={total === null ? unknown : coinsText(total)}
        title={t.portfolio.totalOf}
      />
      <Figure name={t.portfolio.ada} value={coins === null ? unknown : coinsText(coins)} />
      <Figure name={t.portfolio.value} value={moneyText(valueAda)} />
      <Figure name={t.portfolio.realized} value={signed(realizedPnlAda)} sign={realizedPnlAda} />
      <Figure
        name={t.portfolio.unrealized}
        value={signed(unrealizedPnlAda)}
        sign={unrealizedPnlAda}
      />
      <Figure
        name={t.portfolio.gain}
        value={pnlPercent === null ? '–' : `${withSign(localized(pnlPercent))} %`}
        sign={pnlPercent ?? ''}
      />
      <Figure name={t.portfolio.spent} value={moneyText(spentAda)} />
    </div>
  );
}

function coinsText(lovelace: bigint): string {
  return moneyText(formatFixed(lovelace, ADA_DECIMALS));
}

/**
 * Lovelace of the connected wallet, or of all keys that this browser keeps; null until known. Asked
 * again with each answer of the portfolio, so that the total adds values of about one time.
 */
function useCoins(keys: readonly string[], portfolio: PortfolioAnswer) {
  const context = usePage();
  const { balance, wallet } = sessionOf(context);
  const held = balance.value?.lovelace ?? null;
  const others = keys.filter((key) => key !== wallet.value?.keyHash);
  const { data, error } = useQuery(
    'coinsOfKeys',
    async () => {
      const each = await Promise.all(others.map((key) => utxosOf(context.client, key)));
      return each.reduce((sum, utxos) => sum + balanceOf(utxos).lovelace, 0n);
    },
    others,
    portfolio,
  ).value;
  const beside = others.length === 0 ? 0n : data;
  return { coins: held === null || beside === null ? null : held + beside, error };
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly title?: string;
  /** A decimal whose sign says how it looks. */
  readonly sign?: string;
}

function Figure({ name, value, title, sign = '' }: FigureProps) {
  return (
    <div class="fig" title={title}>
      <span class="dim small">{name}</span>
      <span class={`figure ${lookOf(sign)}`}>{value}</span>
    </div>
  );
}

const SPANS = ['day', 'month', 'all'] as const;
type Span = (typeof SPANS)[number];
const DAY = 86_400;
const SPAN_SECONDS: Readonly<Record<Span, number | null>> = {
  day: DAY,
  month: 30 * DAY,
  all: null,
};

interface HistoryProps {
  readonly keys: readonly string[];
  readonly round: number;
  /** Unix seconds of the first trade; null: there was none. */
  readonly since: number | null;
}

function firstTrade({ tokens }: PortfolioAnswer): number | null {
  const times = tokens.flatMap(({ firstTradeTime: time }) => (time === null ? [] : [time]));
  return times.length === 0 ? null : Math.min(...times);
}

const MAX_POINTS = 48;
const DAY_STEPS = [
  { resolution: 'min1', seconds: 60 },
  { resolution: 'min5', seconds: 300 },
] as const;

/** The resolution for the span of a day: the finest that covers the time since the first trade. */
function dayResolution(ageSeconds: number) {
  const fine = DAY_STEPS.find(({ seconds }) => ageSeconds < MAX_POINTS * seconds);
  return fine?.resolution ?? 'hour1';
}

/** Profit and loss over time, realized and not: from the first trade on, before which it is 0. */
function History({ keys, round, since }: HistoryProps) {
  const { client, time } = usePage();
  const span = useSignal<Span>('day');
  const asked = useQuery(
    'portfolioHistory',
    async (signal) => {
      const seconds = SPAN_SECONDS[span.value];
      const now = time.seconds.peek();
      const from = seconds === null ? {} : { from: now - seconds };
      const age = now - (since ?? 0);
      const resolution = span.value === 'day' || age < DAY ? dayResolution(age) : 'day1';
      const query = { resolution, ...from } as const;
      return (await client.holders.portfolioHistory(keys, query, { signal })).data;
    },
    [span.value, ...keys],
    round,
  ).value;
  const titled = (at: number, gain: string) =>
    t.portfolio.point({ when: moment(at), gain: signed(gain) });
  const known = (asked.data ?? []).map((point) => ({
    time: point.time,
    value: Number(point.realizedPnlAda) + Number(point.unrealizedPnlAda),
    title: titled(point.time, gainOf(point)),
  }));
  const [first, second] = known;
  const begins = first !== undefined && since !== null && since >= first.time;
  const step = second === undefined ? 60 : second.time - (first?.time ?? 0);
  const start = begins ? [{ time: first.time - step, value: 0, title: titled(since, '0') }] : [];
  const points = [...start, ...known];
  return (
    <div class="pnl-history">
      <header>
        <h3>{t.portfolio.overTime}</h3>
        <Choices
          name={t.portfolio.span}
          options={SPANS.map((value) => ({ value, label: t.portfolio.spans[value] }))}
          value={span.value}
          choose={(chosen) => {
            span.value = chosen;
          }}
        />
      </header>
      <LineChart points={points} label={t.portfolio.overTime} none={t.portfolio.noHistory} />
      {asked.error !== null && <ErrorBox error={asked.error} />}
    </div>
  );
}

function Tokens({ tokens }: { readonly tokens: readonly PortfolioToken[] }) {
  const names = t.portfolio.columns;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section class="table-box" tabIndex={0} aria-label={t.portfolio.tokens}>
      <table class="pnl">
        <thead>
          <tr>
            <th scope="col">{names.token}</th>
            {(['balance', 'value', 'average', 'price', 'realized', 'unrealized'] as const).map(
              (name) => (
                <th key={name} scope="col" class={`num col-${name}`}>
                  {names[name]}
                </th>
              ),
            )}
            <th scope="col" class="num">
              {names.gain}
            </th>
            <th scope="col">
              <span class="unseen">{t.picture.share}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <TokenRow key={token.asset} token={token} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function TokenRow({ token }: { readonly token: PortfolioToken }) {
  const { asset, name, ticker, logoCID, pnlPercent, realizedPnlAda, unrealizedPnlAda } = token;
  return (
    <tr>
      <th scope="row">
        <a class="pool who" href={routeHash({ at: 'token', asset })}>
          <Logo asset={asset} ticker={ticker} logoCID={logoCID} />
          <bdi class="name cut">{name}</bdi>
          <bdi class="ticker dim cut">{ticker}</bdi>
        </a>
      </th>
      <td class="num col-balance" title={grouped(token.balance)}>
        {short(token.balance)}
      </td>
      <td class="num col-value">{moneyText(token.valueAda)}</td>
      <td class="num col-average" title={`${localized(token.averageBuyPrice)} ADA`}>
        {token.buyCount === 0 ? '–' : money(token.averageBuyPrice, fourDigits)}
      </td>
      <td class="num col-price" title={`${localized(token.price)} ADA`}>
        {money(token.price, fourDigits)}
      </td>
      <td class={`num col-realized ${lookOf(realizedPnlAda)}`}>{signed(realizedPnlAda)}</td>
      <td class={`num col-unrealized ${lookOf(unrealizedPnlAda)}`}>{signed(unrealizedPnlAda)}</td>
      <td class={`num ${lookOf(pnlPercent ?? '')}`}>
        {pnlPercent === null ? '–' : `${withSign(localized(pnlPercent))} %`}
      </td>
      <td class="col-share">
        <TokenPictureButton token={token} />
      </td>
    </tr>
  );
}
