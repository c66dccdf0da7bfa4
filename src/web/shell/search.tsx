/**
 * Search by name, ticker or asset id: a combobox. `/` brings the focus here, arrows choose, Enter
 * goes there, Escape leaves.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, RefObject, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import type { Timer } from '../../engine/runtime/clock.ts';
import { MAX_SEARCH_CHARACTERS } from '../../engine/runtime/limits.ts';
import { Logo } from '../components/logo.tsx';
import { errorText } from '../errorText.ts';
import { shortAda } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { parseRoute, routeHash } from '../route.ts';

const WAIT_MS = 150;
const MAX_SHOWN = 8;

interface Found {
  readonly pattern: string;
  readonly pools: readonly LiquidityPoolInfo[];
  /** An asset id that no pool has may still have a chart: of trades that were replayed. */
  readonly asset: string | null;
  readonly count: number;
  readonly error: unknown;
}

export function Search({ box }: { readonly box: RefObject<HTMLInputElement | null> }) {
  const text = useSignal('');
  const found = useSignal<Found | null>(null);
  const chosen = useSignal(0);
  const leave = () => {
    text.value = '';
    ask(null);
    box.current?.blur();
  };
  const go = (asset: string | undefined) => {
    if (asset === undefined) return;
    location.hash = routeHash({ at: 'token', asset });
    leave();
  };
  const { ask, enter } = useSearch(found, chosen, go);
  const assets = assetsOf(found.value);
  const key = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Escape') {
      event.stopPropagation();
      leave();
    } else if (step !== 0 && assets.length > 0) {
      event.preventDefault();
      chosen.value = (chosen.value + step + assets.length) % assets.length;
    } else if (event.key === 'Enter') enter(text.value.trim());
  };
  const active = assets[chosen.value];
  const typed = (now: string) => {
    text.value = now;
    ask(now.trim());
  };
  return (
    <search class="search">
      <input
        ref={box}
        type="text"
        inputMode="search"
        role="combobox"
        class="search-input"
        placeholder={t.shell.searchBy}
        aria-label={t.shell.search}
        aria-expanded={found.value !== null}
        aria-controls="search-found"
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : `found-${active}`}
        autoComplete="off"
        spellcheck={false}
        maxLength={MAX_SEARCH_CHARACTERS}
        value={text.value}
        onInput={({ currentTarget }) => typed(currentTarget.value)}
        onFocus={({ currentTarget }) => typed(currentTarget.value)}
        onBlur={() => ask(null)}
        onKeyDown={key}
      />
      <kbd>/</kbd>
      <Results found={found.value} chosen={chosen.value} leave={leave} />
      <Announced found={found.value} />
    </search>
  );
}

/**
 * Asks after a moment without another key; null or empty: nothing is shown. Enter goes to the
 * chosen token, once the list is the one of the text that is in the box: a list of fewer letters
 * may still be shown, and its first token is not what the visitor meant.
 */
function useSearch(
  found: { value: Found | null },
  chosen: { value: number },
  go: (asset: string | undefined) => void,
) {
  const { client, clock } = usePage();
  const timer = useRef<Timer | null>(null);
  /** Counts queries: the answer to an older one is dropped. */
  const query = useRef(0);
  const isEntered = useRef(false);
  useEffect(() => () => timer.current?.cancel(), []);
  const run = async (pattern: string, asked: number) => {
    let now: Found;
    try {
      const { data } = await client.pools.search({ pattern, limit: MAX_SHOWN });
      const place = parseRoute(`#/token/${pattern}`);
      const asset = data.items.length === 0 && place.at === 'token' ? place.asset : null;
      now = { pattern, pools: data.items, asset, count: data.count, error: null };
    } catch (error) {
      now = { pattern, pools: [], asset: null, count: 0, error };
    }
    if (asked !== query.current) return;
    found.value = now;
    chosen.value = 0;
    if (isEntered.current) go(assetsOf(now)[0]);
  };
  const ask = (pattern: string | null) => {
    timer.current?.cancel();
    query.current += 1;
    isEntered.current = false;
    if (pattern === null || pattern === '') {
      found.value = null;
      return;
    }
    const asked = query.current;
    timer.current = clock.after(WAIT_MS, () => run(pattern, asked));
  };
  const enter = (pattern: string) => {
    if (found.value?.pattern === pattern) go(assetsOf(found.value)[chosen.value]);
    else isEntered.current = true;
  };
  return { ask, enter };
}

function assetsOf(found: Found | null): readonly string[] {
  if (found === null) return [];
  return found.asset === null ? found.pools.map(({ info }) => info.asset) : [found.asset];
}

function Announced({ found }: Pick<ResultsProps, 'found'>) {
  return (
    <div class="unseen" role="status">
      {found === null ? '' : t.shell.found(found.count)}
    </div>
  );
}

interface ResultsProps {
  readonly found: Found | null;
  readonly chosen: number;
  readonly leave: () => void;
}

function Results({ found, chosen, leave }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, found]);
  const none = found?.error ? errorText(found.error) : t.shell.noneFound;
  const isEmpty = assetsOf(found).length === 0;
  return (
    <div
      id="search-found"
      ref={list}
      role="listbox"
      tabIndex={-1}
      aria-label={t.shell.tokensFound}
      hidden={found === null}
      // A press would take the focus away, and with it the list, before the click arrives.
      onMouseDown={(event) => event.preventDefault()}
      onClick={leave}
      onKeyDown={() => {}}
    >
      {found !== null && isEmpty && <p class="none">{none}</p>}
      {found?.pools.map(({ info, metrics }, index) => (
        <Option key={info.asset} asset={info.asset} isChosen={index === chosen}>
          <Logo asset={info.asset} ticker={info.ticker} logoCID={info.logoCID} />
          <bdi class="cut">{info.name}</bdi>
          <bdi class="dim">{info.ticker}</bdi>
          <span class="num dim">{shortAda(metrics.marketCap)}</span>
        </Option>
      ))}
      {found !== null && found.asset !== null && (
        <Option asset={found.asset} isChosen>
          <span>{t.shell.openId}</span>
          <span class="code cut">{found.asset}</span>
        </Option>
      )}
    </div>
  );
}

function Option(props: {
  readonly asset: string;
  readonly isChosen: boolean;
  readonly children: ComponentChildren;
}) {
  const { asset, isChosen, children } = props;
  return (
    <a
      href={routeHash({ at: 'token', asset })}
      id={`found-${asset}`}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
    >
      {children}
    </a>
  );
}
