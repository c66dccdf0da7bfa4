/** The token: name, price, market cap, volume, and its id to copy. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { AlertButton } from '../alerts/alertButton.tsx';
import { copied } from '../components/copied.ts';
import { useFlash } from '../components/flash.ts';
import { Icon } from '../components/icon.tsx';
import { Logo } from '../components/logo.tsx';
import { Price } from '../components/numbers.tsx';
import { Star } from '../components/star.tsx';
import { coins, dollars } from '../fiat.ts';
import { ends } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { tokenLink } from '../route.ts';

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
          </div>
        </div>
      </div>
      <div class="figures">
        {spot !== null && (
          <Figure name={t.home.columns.price}>
            <Price value={spot} digits={6} /> {dollars.value === null && '₳'}
          </Figure>
        )}
        <MarketCap lovelace={metrics.marketCap} />
        <Figure name={t.header.volume}>{coins(metrics.totalVolumeAda, 0)}</Figure>
        <Figure name={t.header.trades}>{metrics.totalTxCount}</Figure>
      </div>
    </div>
  );
}

function Figure(props: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="fig">
      <span class="dim small">{props.name}</span>
      <span class="figure">{props.children}</span>
    </div>
  );
}

function MarketCap({ lovelace }: { readonly lovelace: number }) {
  const element = useRef<HTMLSpanElement>(null);
  useFlash(element, lovelace, (now, before) => (now >= before ? 'up' : 'down'));
  return (
    <div class="fig">
      <span class="dim small">{t.home.columns.marketCap}</span>
      <span class="figure" ref={element}>
        {coins(lovelace)}
      </span>
    </div>
  );
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
