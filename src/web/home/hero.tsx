/** The best of the market. */
import type { Launch, Ticker, TickersQuery } from '../../client/types.ts';
import { WINDOWS } from '../../engine/market/windows.ts';
import { Logo } from '../components/logo.tsx';
import { Age, Change, Price } from '../components/numbers.tsx';
import { Spark } from '../components/spark.tsx';
import { shortMoney } from '../fiat.ts';
import { t } from '../messages.ts';
import { useMirror, usePage } from '../page.tsx';
import { routeHash } from '../route.ts';
import { Ring } from './board.tsx';
import { nameOf } from './names.ts';
import { useTickers } from './useTickers.ts';

/** Gains from the shortest span to the longest: the first in which somebody has risen is shown. */
const GAINS = ['change5m', 'change1h', 'change6h', 'change24h'] as const;
type Gain = (typeof GAINS)[number];
type Best = 'top' | 'newest' | Gain;

/** As many as there are cards: a token that has a card already is left out of the others. */
const CARDS = 3;
/**
 * Tokens with less trade than this, in ADA per day, come after all others in the lists of gains.
 */
const MIN_VOLUME = 10;
const gains = (sort: Gain) => ({ sort, limit: 4 * CARDS }) as const;
const QUERIES: Readonly<Record<Best, TickersQuery>> = {
  top: { sort: 'marketCap', limit: 1 },
  change5m: gains('change5m'),
  change1h: gains('change1h'),
  change6h: gains('change6h'),
  change24h: gains('change24h'),
  newest: { sort: 'createdOn', limit: CARDS },
};

export function Hero() {
  const { client } = usePage();
  const launches = useMirror('launches', () => client.newLaunches(), []).value;
  const launching = launches?.mirror.state.find(({ pending }) => pending);
  const top = useTickers(QUERIES.top).listing;
  const newest = useTickers(QUERIES.newest).listing;
  const first = top?.items[0];
  const young = newest?.items.find(({ asset }) => asset !== first?.asset);
  const isComing = top === null || newest === null;
  const taken = [first?.asset, young?.asset];
  const none = first === undefined ? t.home.noBest.token : t.home.noBest.other;
  return (
    <div class="best">
      <BestCard which="top" ticker={first} none={t.home.noBest.token} isComing={top === null} />
      <BestGain which={GAINS[0]} taken={taken} isComing={isComing} />
      {launching === undefined ? (
        <BestCard which="newest" ticker={young} none={none} isComing={isComing} />
      ) : (
        <Launching launch={launching} />
      )}
    </div>
  );
}

/** A launch in the mempool. Its page begins with its block, so the card is no link. */
function Launching({ launch }: { readonly launch: Launch }) {
  const { asset, name, ticker, logoCID } = launch;
  return (
    <div class="best-card panel best-newest" role="status">
      <span class="crown">{t.home.launching}</span>
      <span class="who">
        <Logo asset={asset} ticker={ticker} logoCID={logoCID} />
        <strong class="cut">
          <bdi>{name}</bdi>
        </strong>
        <bdi class="dim ticker cut">{ticker}</bdi>
      </span>
      <span class="best-figures dim">{t.home.waitsForBlock}</span>
    </div>
  );
}

interface BestGainProps {
  readonly which: Gain;
  /** Tokens that have a card. */
  readonly taken: readonly (string | undefined)[];
  readonly isComing: boolean;
}

/** The best gain, in the shortest span in which a token without a card has risen. */
function BestGain({ which, taken, isComing }: BestGainProps) {
  const { listing } = useTickers(QUERIES[which]);
  const risen = listing?.items.filter((each) => Number(each[which] ?? 0) > 0) ?? [];
  const traded = risen.filter(({ volume24h }) => Number(volume24h) >= MIN_VOLUME);
  const isWithoutCard = ({ asset }: Ticker) => !taken.includes(asset);
  const best = traded.find(isWithoutCard) ?? risen.find(isWithoutCard);
  const longer = GAINS[GAINS.indexOf(which) + 1];
  if (best === undefined && listing !== null && longer !== undefined) {
    return <BestGain which={longer} taken={taken} isComing={isComing} />;
  }
  const ticker = best ?? risen[0];
  const isAsked = isComing || listing === null;
  return <BestCard which={which} ticker={ticker} none={t.home.noBest.gain} isComing={isAsked} />;
}

interface BestCardProps {
  readonly which: Best;
  readonly ticker: Ticker | undefined;
  /** Said where there is none. */
  readonly none: string;
  readonly isComing: boolean;
}

function BestCard({ which, ticker, none, isComing }: BestCardProps) {
  const what = t.home.best[which];
  if (isComing || ticker === undefined) {
    return (
      <div class={`best-card panel best-${which} ${isComing ? 'coming' : ''}`}>
        <span class="crown">{what}</span>
        <span class="dim">{none}</span>
      </div>
    );
  }
  const { asset } = ticker;
  const name = nameOf(ticker);
  return (
    <a class={`best-card panel best-${which}`} href={routeHash({ at: 'token', asset })}>
      <span class="crown">
        {which === 'top' && <span aria-hidden="true">♛ </span>}
        {what}
      </span>
      <Spark ticker={ticker} />
      <span class="who">
        <Ring ticker={ticker} />
        <strong class="cut">
          <bdi>{name}</bdi>
        </strong>
        <bdi class="dim ticker cut">{ticker.ticker}</bdi>
      </span>
      <span class="best-figures">
        <span class="figure">
          <Price value={ticker.price} />
        </span>
        <Fact which={which} ticker={ticker} />
      </span>
    </a>
  );
}

/** Why the token is the best of its kind. */
function Fact({ which, ticker }: { readonly which: Best; readonly ticker: Ticker }) {
  const { marketCap, createdOn } = ticker;
  const window = WINDOWS.find((each) => `change${each}` === which);
  if (window !== undefined) return <Change ticker={ticker} window={window} />;
  if (which === 'newest') return createdOn === null ? null : <Age since={createdOn} hasAgo />;
  return (
    <>
      <span>{marketCap === null ? '–' : shortMoney(marketCap)}</span>
      <span>
        <Change ticker={ticker} window="24h" /> <span class="dim small">24h</span>
      </span>
    </>
  );
}
