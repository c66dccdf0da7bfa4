/**
 * The token: its name and its links; price and market cap, and how they moved; its liquidity,
 * holders, volume and age.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { formatPrice, formatUnits } from '../../engine/market/decimal.ts';
import { AlertButton } from '../alerts/alertButton.tsx';
import { copied } from '../components/copied.ts';
import { useFlash } from '../components/flash.ts';
import { Icon } from '../components/icon.tsx';
import { Logo } from '../components/logo.tsx';
import { Age, Change, Price } from '../components/numbers.tsx';
import { Star } from '../components/star.tsx';
import { TrustBadges } from '../components/trustBadges.tsx';
import { dollars, shortMoney } from '../fiat.ts';
import { ends, grouped } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { tokenLink } from '../route.ts';
import { useQuery } from '../useQuery.ts';
import { Socials } from './about.tsx';
import { RiskLine } from './insights.tsx';
import { ShareButton } from './shareButton.tsx';
import { ticker } from './ticker.tsx';

const ADA_DECIMALS = 6;

export function TokenHeader({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { info, metrics } = pool;
  const { name, ticker, asset, logoCID } = info;
  const supply = usePage().network.value?.supply ?? null;
  const spot = supply === null ? null : formatPrice(BigInt(metrics.marketCap), supply);
  useEffect(() => {
    document.title = `${name} · upcurve`;
  }, [name]);
  return (
    <div class="token-head">
      <div class="who">
        <Logo asset={asset} ticker={ticker} logoCID={logoCID} />
        <div class="names">
          <div>
            <h1 class="cut" tabIndex={-1}>
              <bdi>{name}</bdi>
            </h1>
            <bdi class="ticker dim">{ticker}</bdi>
            <span class="mark">{pool.pool.cpmmPoolId === null ? t.token.curve : t.token.amm}</span>
            <Star asset={asset} name={name} />
            <AlertButton asset={asset} ticker={ticker} spot={spot} />
            <ShareButton asset={asset} name={name} />
          </div>
          <div class="copies">
            <Copy label={t.token.copyId} text={asset} done={t.token.copied}>
              {ends(asset, 10)}
            </Copy>
            {/* The address that unfolds in chats, not the one of this page. */}
            <Copy
              label={t.link.copy}
              text={new URL(tokenLink(asset), location.origin).href}
              done={t.link.copied}
            >
              {t.link.word}
            </Copy>
            <Socials socials={info.socials} />
            <RiskLine />
            <Badges />
          </div>
        </div>
      </div>
      <Figures pool={pool} spot={spot} />
    </div>
  );
}

/** Drawn again only with another ticker. */
function Badges() {
  return ticker.value === null ? null : <TrustBadges ticker={ticker.value} />;
}

const WINDOWS = ['5m', '1h', '6h', '24h'] as const;

interface FiguresProps {
  readonly pool: LiquidityPoolInfo;
  readonly spot: string | null;
}

function Figures({ pool, spot }: FiguresProps) {
  const { marketCap } = pool.metrics;
  const { createdOn } = pool.pool;
  const now = ticker.value;
  const { columns, meanings } = t.home;
  return (
    <dl class="figures">
      <Figure name={columns.price} look="large" title={t.header.price}>
        {spot !== null && <Price value={spot} />} {dollars.value === null && '₳'}
      </Figure>
      <Figure name={columns.marketCap} look="large" title={meanings.marketCap}>
        <MarketCap lovelace={marketCap} />
      </Figure>
      {WINDOWS.map((window) => (
        <Figure key={window} name={t.token.windows[window]} title={meanings[`change${window}`]}>
          {now === null ? '–' : <Change ticker={now} window={window} />}
        </Figure>
      ))}
      <Figure name={columns.liquidity} title={meanings.liquidity}>
        {now === null || now.liquidity === null ? '–' : shortMoney(now.liquidity)}
      </Figure>
      <Figure name={t.token.holders}>
        <HolderCount pool={pool} />
      </Figure>
      <Figure name={t.header.volume} title={meanings.volume24h}>
        {now === null ? '–' : shortMoney(now.volume24h)}
      </Figure>
      <Figure name={columns.createdOn} title={meanings.createdOn}>
        {createdOn === null ? '–' : <Age since={createdOn} />}
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly name: string;
  readonly look?: 'large';
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}

function Figure({ name, look, title, children }: FigureProps) {
  return (
    <div class={look === undefined ? 'fig' : `fig ${look}`} title={title}>
      <dt class="dim small">{name}</dt>
      <dd class="figure">{children}</dd>
    </div>
  );
}

function MarketCap({ lovelace }: { readonly lovelace: number }) {
  const element = useRef<HTMLSpanElement>(null);
  useFlash(element, lovelace, (now, before) => (now >= before ? 'up' : 'down'));
  return <span ref={element}>{shortMoney(formatUnits(BigInt(lovelace), ADA_DECIMALS))}</span>;
}

function HolderCount({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { client } = usePage();
  const { asset: assetId } = pool.info;
  const { data } = useQuery(
    'holderCount',
    async (signal) => (await client.holders.list({ assetId, limit: 1 }, { signal })).data.count,
    [assetId],
    pool,
  ).value;
  return <>{data === null ? '–' : grouped(String(data))}</>;
}

interface CopyProps {
  readonly label: string;
  readonly text: string;
  readonly done: string;
  readonly children: ComponentChildren;
}

function Copy({ label, text, done, children }: CopyProps) {
  const { notify } = usePage();
  const copy = async () => {
    const isCopied = await copied(text);
    // A browser may refuse; then it can be copied by hand.
    notify(isCopied ? 'good' : 'info', isCopied ? done : text);
  };
  return (
    <button type="button" class="copy code dim" title={text} onClick={copy}>
      <span class="unseen">{label} </span>
      {children}
      <Icon name="copy" />
    </button>
  );
}
