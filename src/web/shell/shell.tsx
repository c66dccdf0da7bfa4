/** The frame around every view: header, search, notices, dialogs, status line and keys. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { AlertWatch } from '../alerts/alertWatch.tsx';
import { ask, Dialogs, Facts } from '../components/dialog.tsx';
import { rate, unit } from '../fiat.ts';
import { localized } from '../format.ts';
import { Home } from '../home/home.tsx';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { type PageRoute, routeHash } from '../route.ts';
import { Coming, ComingForm } from '../token/coming.tsx';
import { Missing } from '../token/missing.tsx';
import { closeTooltip } from '../tooltip.ts';
import { usePageKeys } from './keys.ts';
import { LazyView, type Views } from './lazyView.tsx';
import { Search } from './search.tsx';
import { OutageBanner, StatusLine, WaitingBanner } from './status.tsx';
import { ThemeSwitch } from './theme.tsx';
import { dismissToast, Toasts } from './toasts.tsx';

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  usePageKeys({ search, help: showKeys });
  useEscape();
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t.shell.skip}
      </button>
      <header class="top">
        <Brand />
        <Places />
        <Search box={search} />
        <UnitSwitch />
        <ThemeSwitch />
      </header>
      <OutageBanner />
      <WaitingBanner />
      <main id="main" tabIndex={-1} ref={main}>
        <View main={main} />
      </main>
      <StatusLine />
      <Toasts />
      <Dialogs />
      <AlertWatch />
    </>
  );
}

function Brand() {
  return (
    <a class="brand" href="#/" aria-label={t.shell.home}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" />
        <path d="M6 25c10 0 15-5 20-18" />
      </svg>
      <span>upcurve</span>
    </a>
  );
}

/** Shown only if the server knows the price of ADA. */
function UnitSwitch() {
  if (rate.value === null) return null;
  const isDollars = unit.value === 'usd';
  const label = isDollars ? t.shell.toAda : t.shell.toDollars({ dollars: localized(rate.value) });
  const change = () => {
    unit.value = isDollars ? 'ada' : 'usd';
  };
  return (
    <button
      type="button"
      class="button plain-button unit-switch"
      aria-label={label}
      title={label}
      onClick={change}
    >
      {isDollars ? '$' : '₳'}
    </button>
  );
}

const PLACES: readonly (readonly [
  name: keyof typeof t.shell.places,
  hash: string,
  at: readonly PageRoute['at'][],
])[] = [
  ['markets', '#/', ['home', 'token', 'missing', 'nowhere']],
  ['launch', routeHash({ at: 'launch' }), ['launch']],
  ['wallet', routeHash({ at: 'wallet' }), ['wallet']],
];

function Places() {
  const { route, network } = usePage();
  const { at } = route.value;
  // Without a chain there is nothing to launch on, and nothing to sign.
  const hasChain = network.value?.name !== 'none';
  return (
    <nav aria-label={t.shell.main}>
      {PLACES.filter(([name]) => hasChain || name === 'markets').map(([name, href, places]) => (
        <a key={name} href={href} aria-current={places.includes(at) ? 'page' : undefined}>
          {t.shell.places[name]}
        </a>
      ))}
    </nav>
  );
}

/** The view at the page's address. Another list of the market is the same view. */
function View({ main }: { readonly main: RefObject<HTMLElement | null> }) {
  const route = usePage().route.value;
  const name = route.at === 'home' ? 'home' : routeHash(route);
  const isFirst = useRef(true);
  useEffect(() => {
    closeTooltip();
    document.title = `${t.shell.titles[route.at]} · upcurve`;
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [name]);
  return (
    <div key={name} class={`place ${route.at}`}>
      <ViewOf route={route} />
    </div>
  );
}

function ViewOf({ route }: { readonly route: PageRoute }) {
  const { network } = usePage();
  switch (route.at) {
    case 'home':
      return <Home />;
    case 'wallet':
      return <LazyView coming={<ComingForm />} show={({ Wallet }) => <Wallet />} />;
    case 'launch':
      return <LazyView coming={<ComingForm />} show={({ Launch }) => <Launch />} />;
    case 'missing':
      return <Missing what="token" text={route.text} />;
    case 'nowhere':
      return <Missing what="page" text={route.text} />;
    case 'token': {
      const { asset } = route;
      const hasChain = network.value?.name !== 'none';
      const show = ({ Token, ChartOnly }: Views) =>
        hasChain ? <Token asset={asset} /> : <ChartOnly asset={asset} />;
      return <LazyView coming={<Coming />} show={show} />;
    }
  }
}

function useEscape(): void {
  useEffect(() => {
    document.addEventListener('keydown', (event) => {
      if (event.defaultPrevented || event.key !== 'Escape') return;
      closeTooltip();
      // A dialog over the page takes the key for itself.
      if (document.querySelector('dialog[open]') === null) dismissToast();
    });
  }, []);
}

const KEYS = ['/', 'j k', 'b s', '1 … 4', 'Enter', '?'];

/** All keys; keys of a trade work only on the page of a token. */
function showKeys(): void {
  const rows = t.shell.keyList.map((does, at) => [<code key={at}>{KEYS[at]}</code>, does] as const);
  void ask({
    title: t.shell.keyTitle,
    content: <Facts rows={rows} />,
    confirm: t.shell.keyClose,
    leave: null,
    run: async () => true,
    late: () => {},
  });
}
