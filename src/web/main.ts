/**
 * The page from its start: one client of the server that served it, the frame, and the page that
 * the address names. Nothing here is loaded again when the server restarts.
 */
import { Client, type Notice } from '../client/index.ts';
import type { LiquidityPoolInfo } from '../client/types.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import type { Network, PageContext } from './context.ts';
import { nextFrame } from './frames.ts';
import { MarketTime } from './marketTime.ts';
import { detectNetwork } from './network.ts';
import { PageRouter } from './pageRouter.ts';
import { type PageRoute, parseRoute, routeHash } from './route.ts';
import { buildShell } from './shell/shell.ts';
import { StatusLine } from './shell/status.ts';
import { Toasts } from './shell/toasts.ts';
import { Source } from './signal.ts';

const clock = systemClock;
const client = new Client({ url: location.origin });
const route = new Source<PageRoute>(parseRoute(location.hash));
const asset = new Source<string | null>(null);
const pool = new Source<LiquidityPoolInfo | null>(null);
const network = new Source<Network | null>(null);
const time = new MarketTime(clock);
const toasts = new Toasts(clock);

const context: PageContext = {
  client,
  clock,
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
network.subscribe(showStatus);

// Where there is no chain it is known at once, before anything is shown.
void detectNetwork(client, clock, network);
const root = document.getElementById('page') ?? document.body;
const main = buildShell(root, context, status, toasts);
const router = new PageRouter(main, context, { asset, pool, time });
addEventListener('hashchange', () => route.set(parseRoute(location.hash)));
route.subscribe((place) => router.show(place));
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
