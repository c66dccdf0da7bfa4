/**
 * The page from its start: one client of the server that served it, the frame, and the view that
 * the address names. Nothing here is loaded again when the server restarts.
 */
import { signal } from '@preact/signals';
import { options, render } from 'preact';
// Not its index: the index would also load its other exports.
import { ApiError } from '../client/apiError.ts';
import { Client } from '../client/client.ts';
import type { ConnectionState, Notice } from '../client/index.ts';
import type { HealthData, LiquidityPoolInfo } from '../client/types.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import type { Network, PageContext } from './context.ts';
import { followRate } from './fiat.ts';
import { onFirstMove } from './firstMove.ts';
import { frames, nextFrame } from './frames.ts';
import { language } from './language.ts';
import { MarketTime } from './marketTime.ts';
import { t } from './messages.ts';
import { PageProvider } from './page.tsx';
import { type PageRoute, parseRoute, routeHash, routeOfPath } from './route.ts';
import { loadViews } from './shell/lazyView.tsx';
import { Shell } from './shell/shell.tsx';
import { showToast } from './shell/toasts.tsx';

const AGAIN_MS = 2_000;
const NAMES = ['devnet', 'preview', 'preprod', 'mainnet'] as const;
/** A server that only replays trades has no deployment. */
const NONE: Network = { name: 'none', addresses: 'testnet', supply: null };

const clock = systemClock;
const client = new Client({ url: location.origin });
const linked = routeOfPath(location.pathname);
// From here on places are behind the `#`, whichever link led here.
if (linked !== null) history.replaceState(null, '', `/${location.hash || routeHash(linked)}`);
const route = signal<PageRoute>(parseRoute(location.hash));
// Before the frame is drawn: on a slow line the network would be idle meanwhile.
if (route.peek().at !== 'home') void loadViews();
const pool = signal<LiquidityPoolInfo | null>(null);
const network = signal<Network | null>(toldNetwork());
const { connection } = client;
const link = signal<ConnectionState>(connection.state);
const health = signal<HealthData | null>(null);
const healthAtMs = signal<number | null>(null);
const time = new MarketTime(clock);

const context: PageContext = {
  ...{ client, clock, time, link, health, healthAtMs, pool, network, route },
  go(place) {
    location.hash = routeHash(place);
  },
  notify: (kind, text, more) => showToast(clock, { kind, text, ...more }),
};

connection.onState((state) => {
  link.value = state;
});
connection.onNotice((notice) => context.notify('info', resynced(notice)));
const pings = client.health();
const showHealth = () => {
  health.value = pings.state;
};
pings.onChange((state) => {
  time.observe(state?.tip.time ?? null);
  healthAtMs.value = clock.nowMs();
  nextFrame(showHealth);
});

// The document says it, unless its server did not know.
if (network.peek() === null) void detectNetwork();
// Where the server has no rate, a request would only fail.
if (document.documentElement.dataset.rate !== 'none') {
  void followRate(client, clock, () => !document.hidden);
}
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash);
});
document.documentElement.lang = language;
document.documentElement.dir = t.direction;
options.debounceRendering = (all) => frames.renderSoon(all);
// Scripts have had their time: showing the page is a separate task.
clock.after(0, () => {
  const root = document.getElementById('page') ?? document.body;
  // The existing content is for browsers without scripts.
  root.replaceChildren();
  render(
    <PageProvider page={context}>
      <Shell />
    </PageProvider>,
    root,
  );
});
// A reader who moves the pointer may open another view next.
onFirstMove(loadViews);
// A tab that was asleep: the server may be back already.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && connection.state.is === 'waiting') connection.connect();
});

/** Why state was loaded again, for a person. */
function resynced({ reason }: Notice): string {
  return t.shell.resynced[reason];
}

/** null: the document does not say it. */
function toldNetwork(): Network | null {
  const { chain, addresses, supply } = document.documentElement.dataset;
  if (chain === 'none') return NONE;
  const name = NAMES.find((each) => each === chain);
  if (name === undefined || supply === undefined) return null;
  return { name, addresses: addressesOf(addresses), supply: BigInt(supply) };
}

function addressesOf(text: string | undefined): Network['addresses'] {
  return text === 'mainnet' ? 'mainnet' : 'testnet';
}

/**
 * Which network the server is on. The server is asked until it answers: a page may be up before it.
 */
async function detectNetwork(): Promise<void> {
  try {
    const { data } = await client.build.protocolConfig();
    const name = NAMES.find((each) => each === data.environment);
    const addresses = addressesOf(data.network);
    const supply = BigInt(data.parameters.tokenEmission.raw);
    network.value = name === undefined ? NONE : { name, addresses, supply };
  } catch (error) {
    if (error instanceof ApiError && error.cause === 'NOT_FOUND') network.value = NONE;
    else clock.after(AGAIN_MS, () => detectNetwork());
  }
}
