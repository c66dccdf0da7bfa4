/** Orders, histories, the tape and single orders against the model; nothing waits meanwhile. */
import { recordOf } from '../../support/subscription.ts';
import type { Asker } from './asker.ts';
import type { NaiveMarket } from './model.ts';
import type { Filter, Page } from './modelOrders.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const STRANGER = 'cd'.repeat(28);
const STEP = 7;

const BOOK = 'GET /v1/order-book';
const FEED = 'POST /v1/orders-feed/initial/state';
const HISTORY = 'POST /v1/user-history-feed/initial/state';
const BY_ASSET = 'POST /v1/user-history-feed/initial/state/by/asset';
const OPEN = 'POST /v1/user-history-feed/initial/state/open';

export async function compareOrders(asker: Asker, market: NaiveMarket): Promise<void> {
  const { tokens, pkhs } = market;
  for (const token of tokens) {
    for (const body of [
      undefined,
      null,
      [],
      ...pkhs.map((pkh) => [pkh]),
      pkhs.slice(0, 3),
      [STRANGER],
    ]) {
      await pages(asker, market, FEED, { token, pkhs: body ?? [] }, body);
    }
    for (const pkh of pkhs) {
      await pages(asker, market, BY_ASSET, { token, pkhs: [pkh] }, [pkh]);
    }
    await compareTape(asker, market, token);
    await asker.expect(
      { route: BOOK, query: { asset: token, levels: 100 } },
      market.orders.book(token),
      withoutPosition,
    );
  }
  for (const body of [...pkhs.map((pkh) => [pkh]), pkhs, [STRANGER]]) {
    await pages(asker, market, HISTORY, { pkhs: body }, body);
    await pages(asker, market, OPEN, { pkhs: body, isOpen: true }, body);
  }
  await asker.refused({ route: FEED, query: { asset: UNKNOWN }, body: [] }, 404, 'ASSET_NOT_FOUND');
  await asker.refused({ route: BOOK, query: { asset: UNKNOWN } }, 404, 'ASSET_NOT_FOUND');
  await asker.refused({ route: HISTORY, body: [] }, 400, 'INVALID_PARAMS');
  await compareSingles(asker, market);
}

/** The position is compared elsewhere, with the position of all answers. */
function withoutPosition(body: unknown): unknown {
  const { epoch: _, seq: _seq, ...book } = recordOf(body);
  return book;
}

/** The first page, one in the middle, and an exact walk by the cursor. */
async function pages(
  asker: Asker,
  market: NaiveMarket,
  route: string,
  filter: Filter,
  body: readonly string[] | null | undefined,
): Promise<void> {
  const asset = filter.token === undefined ? {} : { asset: filter.token };
  const expect = (page: Page) =>
    asker.expect({ route, query: { ...asset, ...page }, body }, market.orders.feed(filter, page));
  const first = market.orders.feed(filter);
  await expect({});
  if (first.ledger.count < 3) return;
  await expect({ offset: 1, limit: 2 });
  await expect({ offset: first.ledger.count, limit: 5 });
  let page = market.orders.feed(filter, { limit: STEP });
  while (page.ledger.items.length > 0) {
    const before = page.ledger.items.at(-1)?.entityId ?? '';
    await expect({ before, limit: STEP });
    page = market.orders.feed(filter, { before, limit: STEP });
  }
}

async function compareSingles(asker: Asker, { orders }: NaiveMarket): Promise<void> {
  const route = 'GET /v1/user-history-feed/order/trades';
  for (const beacon of orders.beacons()) {
    await asker.expect({ route, query: { beacon } }, orders.byBeacon(beacon));
  }
  await asker.refused({ route, query: { beacon: STRANGER } }, 404, 'ORDER_NOT_FOUND');
}

async function compareTape(asker: Asker, market: NaiveMarket, asset: string): Promise<void> {
  const route = 'GET /v1/trades';
  const rows = market.orders.tape(asset);
  await asker.expect({ route, query: { asset } }, rows);
  for (let page = rows.slice(0, STEP); page.length > 0; ) {
    const before = page.at(-1)?.id ?? '';
    const next = market.orders.tape(asset, { limit: STEP, before });
    await asker.expect({ route, query: { asset, limit: STEP, before } }, next);
    page = next;
  }
}
