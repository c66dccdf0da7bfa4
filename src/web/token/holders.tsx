/**
 * The holders of the token: the shares as one bar, then the largest holders. Holders have no topic:
 * they are asked for again when the pool has moved.
 */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { HoldersAnswer, LiquidityPoolInfo } from '../../client/types.ts';
import { percentOf } from '../../engine/market/profit.ts';
import { ErrorBox } from '../components/errorBox.tsx';
import { More } from '../components/more.tsx';
import { ends, grouped, localized, short } from '../format.ts';
import { t } from '../messages.ts';
import { memo, usePage } from '../page.tsx';
import { useQuery } from '../useQuery.ts';
import { TabPart } from './tabPart.tsx';

/** Holders at first, and how many more with each press. */
const FIRST = 10;
const MORE = 45;
/** The most that the API returns at once. */
const MOST = 100;
const TOP = 10;

/** A line of the table; `share` is in tokens. */
interface Line {
  readonly key: string;
  readonly name: string;
  readonly title: string;
  readonly mark: string;
  readonly share: bigint;
}

export function Holders({ pool }: { readonly pool: LiquidityPoolInfo }) {
  const { client, network } = usePage();
  const { asset: assetId } = pool.info;
  const limit = useSignal(FIRST);
  /** Data that a press loaded shows before the next answer. */
  const loaded = useSignal<HoldersAnswer | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const ask = async (most: number, signal?: AbortSignal) =>
    (await client.holders.list({ assetId, limit: most }, signal && { signal })).data;
  const { data, error } = useQuery(
    'holders',
    (signal) => ask(limit.peek(), signal),
    [assetId],
    pool,
  ).value;
  const now = isMore(loaded.value, data) ? loaded.value : data;
  const supply = network.value?.supply ?? null;
  const outside = supply === null ? null : supply - BigInt(pool.pool.y.amount);
  const [listed, all] = [now?.holders.length ?? 0, now?.count ?? 0];
  return (
    <TabPart class="holding" title={t.token.holders}>
      {outside !== null && <Distribution answer={now} pool={pool} outside={outside} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <ol class="holders" aria-label={t.token.holders} tabIndex={0} ref={list}>
        {now !== null &&
          linesOf(now, pool).map((line) => (
            <HolderRow
              key={line.key}
              id={line.key}
              name={line.name}
              title={line.title}
              mark={line.mark}
              share={String(line.share)}
              outside={line.key === 'pool' ? null : outside}
            />
          ))}
      </ol>
      <More
        list={list}
        label={t.token.moreHolders}
        words={t.token.largestOf({ listed: grouped(String(listed)), all: grouped(String(all)) })}
        hasMore={listed < all && limit.value < MOST}
        load={async () => {
          const next = Math.min(MOST, limit.value + MORE);
          loaded.value = await ask(next);
          limit.value = next;
        }}
      />
      {error !== null && <ErrorBox error={error} />}
    </TabPart>
  );
}

/** An answer of before the press has fewer rows than the press has loaded. */
function isMore(loaded: HoldersAnswer | null, asked: HoldersAnswer | null): boolean {
  return loaded !== null && loaded.holders.length > (asked?.holders.length ?? 0);
}

interface DistributionProps {
  readonly answer: HoldersAnswer | null;
  readonly pool: LiquidityPoolInfo;
  /** Tokens outside the pool: the base of all shares, as in the insights. */
  readonly outside: bigint;
}

const PARTS = ['author', 'top', 'locked', 'others'] as const;
type Part = (typeof PARTS)[number];

/** Shares of the tokens outside the pool; each token counts in one share. */
function Distribution({ answer, pool, outside }: DistributionProps) {
  const shares = answer === null ? null : sharesOf(answer, pool, outside);
  return (
    <div class="distribution">
      <div class="shares" aria-hidden="true">
        {shares !== null &&
          outside > 0n &&
          PARTS.map((part) => (
            <span
              key={part}
              data-part={part}
              style={{ 'flex-grow': String((shares[part] * 10_000n) / outside) }}
            />
          ))}
      </div>
      <ul aria-label={t.token.distribution}>
        {PARTS.map((part) => (
          <li key={part}>
            <span class="swatch" data-part={part} aria-hidden="true" />
            {t.token.parts[part]}{' '}
            <b>{shares === null ? '–' : `${localized(percent(shares[part], outside))}%`}</b>
          </li>
        ))}
      </ul>
      <p class="hint base">{t.token.outsidePool({ tokens: short(String(outside)) })}</p>
    </div>
  );
}

function sharesOf(
  { holders, dev }: HoldersAnswer,
  { metrics }: LiquidityPoolInfo,
  outside: bigint,
): Readonly<Record<Part, bigint>> {
  const others = holders.filter(({ address }) => address !== dev.address).slice(0, TOP);
  const top = others.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
  const locked = metrics.locks.reduce((sum, { totalLocked }) => sum + BigInt(totalLocked), 0n);
  const known = { author: BigInt(dev.quantity), top, locked };
  const rest = outside - known.author - top - locked;
  return { ...known, others: rest < 0n ? 0n : rest };
}

function linesOf({ holders, dev }: HoldersAnswer, { pool }: LiquidityPoolInfo): readonly Line[] {
  const isAmm = pool.cpmmPoolId !== null;
  const lines: Line[] = [
    {
      key: 'pool',
      name: isAmm ? t.token.inAmm : t.token.onCurve,
      title: isAmm ? t.token.tokensInAmm : t.token.tokensOnCurve,
      mark: t.token.poolMark,
      share: BigInt(pool.y.amount),
    },
  ];
  const isListed = holders.some(({ address }) => address === dev.address);
  if (!isListed && dev.address !== '') {
    lines.push({ ...lineOf(dev.address, dev.quantity), mark: t.token.authorMark, key: 'author' });
  }
  for (const { address, quantity } of holders) {
    const mark = address === dev.address ? t.token.authorMark : '';
    lines.push({ ...lineOf(address, quantity), mark });
  }
  return lines;
}

/** Rounded as the insights are: two panels give one number. */
function percent(tokens: bigint, outside: bigint): string {
  return outside === 0n ? '0.00' : percentOf(tokens, outside);
}

function lineOf(address: string, quantity: string) {
  return { key: address, name: ends(address, 8), title: address, share: BigInt(quantity) };
}

interface HolderRowProps extends Pick<Line, 'name' | 'title' | 'mark'> {
  readonly id: string;
  readonly share: string;
  /** Null where no share is shown. */
  readonly outside: bigint | null;
}

const HolderRow = memo(({ id, name, title, mark, share, outside }: HolderRowProps) => {
  const tokens = BigInt(share);
  const part = outside === null ? '' : `${percent(tokens, outside)}%`;
  // Less than a hundredth would be a speck.
  const isSpeck = outside === null || tokens * 100n < outside;
  return (
    <li
      data-key={id}
      title={t.token.tokensOf({ who: title, tokens: grouped(share) })}
      style={{ '--depth': isSpeck ? '0%' : part }}
    >
      <span class="who">
        <span class="cut code">{name}</span>
        <span class="mark">{mark}</span>
      </span>
      <span class="num">{short(share)}</span>
      <span class="num dim">{localized(part)}</span>
    </li>
  );
});
