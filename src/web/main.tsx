/**
 * The page from its start: one client of the server that served it, the frame, and the page that
 * the address names. Nothing here is loaded again when the server restarts.
 */
import { signal } from '@preact/signals';
import { ApiError, Client, type Notice } from '../client/index.ts';
import type { LiquidityPoolInfo } from '../client/types.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import type { Network, PageContext } from './context.ts';
import { nextFrame } from './frames.ts';
import { MarketTime } from './marketTime.ts';
import { PageRouter } from './pageRouter.ts';
import { linkedRoute, type PageRoute, parseRoute, routeHash } from './route.ts';
import { buildShell, Toasts } from './shell/shell.ts';
import { StatusLine } from './shell/status.ts';
import { onChange } from './signal.ts';

const AGAIN_MS = 2_000;
const NAMES = ['devnet', 'preview', 'preprod', 'mainnet'] as const;
/** A server that only replays trades has no deployment. */
const NONE: Network = { name: 'none', addresses: 'testnet', supply: null };

const clock = systemClock;
const client = new Client({ url: location.origin });
const linked = linkedRoute(location.pathname);
// From here on places are behind the `#`, whichever link led here.
if (linked !== null) history.replaceState(null, '', `/${location.hash || routeHash(linked)}`);
const route = signal<PageRoute>(parseRoute(location.hash));
const asset = signal<string | null>(null);
const pool = signal<LiquidityPoolInfo | null>(null);
const network = signal<Network | null>(null);
const time = new MarketTime(clock);
const toasts = new Toasts(clock);

const context: PageContext = {
  client,
  clock,
  time,
  asset,
  pool,
  network,
  route,
  go(place) {
    location.hash = routeHash(place);
  },
  notify: (kind, text) => toasts.notify(kind, text),
};

const health = client.health();
const { connection } = client;
const status = new StatusLine({
  clock,
  state: () => connection.state,
  health: () => health.state,
  network: () => network.value,
  retry: () => connection.connect(),
});
const showStatus = () => status.show();
health.onChange((state) => {
  time.observe(state?.tip.time ?? null);
  nextFrame(showStatus);
});
connection.onState(() => nextFrame(showStatus));
connection.onNotice((notice) => toasts.notify('info', resynced(notice)));
onChange(network, showStatus);

// Where there is no chain it is known at once, before anything is shown.
void detectNetwork();
const root = document.getElementById('page') ?? document.body;
const main = buildShell(root, context, status, toasts);
const router = new PageRouter(main, context, asset);
addEventListener('hashchange', () => (route.value = parseRoute(location.hash)));
onChange(route, (place) => router.show(place));
router.show(route.value);
// A tab that was asleep: the server may be back already.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && connection.state.is === 'waiting') connection.connect();
});

/** Why state was loaded again, for a person. */
function resynced({ reason }: Notice): string {
  const why = {
    slow: 'this page was too slow to read everything',
    epoch: 'the market has a new log',
    horizon: 'this page was away for too long',
    loss: 'something was missed on the way',
    checksum: 'something did not fit',
  };
  return `Resynced: ${why[reason]}; all is loaded again.`;
}

/**
 * Which network the server is on. The server is asked until it answers: a page may be up before it.
 * The document says when there is no chain.
 */
async function detectNetwork(): Promise<void> {
  if (document.documentElement.dataset.chain === 'none') {
    network.value = NONE;
    return;
  }
  try {
    const { data } = await client.build.protocolConfig();
    const name = NAMES.find((each) => each === data.environment);
    const addresses = data.network === 'mainnet' ? 'mainnet' : 'testnet';
    const supply = BigInt(data.parameters.tokenEmission.raw);
    network.value = name === undefined ? NONE : { name, addresses, supply };
  } catch (error) {
    if (error instanceof ApiError && error.cause === 'NOT_FOUND') network.value = NONE;
    else clock.after(AGAIN_MS, () => detectNetwork());
  }
}
