/** Holders, metrics, cards, balances and unspent outputs against the model. */
import assert from 'node:assert/strict';
import type { Asker } from './asker.ts';
import type { NaiveMarket } from './model.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const STRANGER = 'cd'.repeat(28);

export async function comparePeople(
  asker: Asker,
  market: NaiveMarket,
  walletPkhs: readonly string[],
): Promise<void> {
  const { people, tokens } = market;
  const pkhs = [...new Set([...market.pkhs, ...walletPkhs, STRANGER])];
  for (const assetId of tokens) {
    const route = 'GET /balances/v1/pool/holders';
    await asker.expect({ route, query: { assetId } }, people.holders(assetId));
    const spread = { route: 'GET /v1/tokens/insights', query: { asset: assetId } };
    await asker.expect(spread, people.insights(assetId, market.pools.now(assetId).y));
    for (const sort of ['realized', 'unrealized', 'volume'] as const) {
      const traders = { route: 'GET /v1/tokens/traders', query: { asset: assetId, sort } };
      await asker.expect(traders, people.traders(assetId, sort));
    }
    const page = { offset: 1, limit: 2 };
    await asker.expect({ route, query: { assetId, ...page } }, people.holders(assetId, page));
    for (const pkh of pkhs) {
      const query = { asset: assetId, pkh };
      const metrics = { route: 'GET /v1/orders-feed/metrics', query };
      await asker.expect(metrics, people.metrics(assetId, pkh));
    }
    for (const body of [...pkhs.map((pkh) => [pkh]), pkhs, [...pkhs, ...pkhs]]) {
      const card = { route: 'POST /balances/v1/user/pnl-card', query: { assetId }, body };
      await asker.expect(card, people.pnlCard(assetId, body));
      const held = { route: 'POST /balances/v1/asset/asset-balance', query: { assetId }, body };
      await asker.expect(held, people.balance(assetId, body));
    }
  }
  for (const body of [...pkhs.map((pkh) => [pkh]), pkhs])
    await comparePortfolio(asker, market, body);
  await compareUnknown(asker);
  for (const pkh of walletPkhs) await compareUtxos(asker, market, pkh);
}

/** The newest point of a history equals the portfolio; `test/api/holders` has the rest. */
async function comparePortfolio(
  asker: Asker,
  { people, tokens, orders }: NaiveMarket,
  body: readonly string[],
): Promise<void> {
  const expected = people.portfolio(tokens, body);
  const portfolio = { route: 'POST /v1/portfolio', query: { limit: 500 }, body };
  const openOrders = orders.feed({ pkhs: body, isOpen: true });
  await asker.expect(portfolio, { ...expected, openOrders }, compared);
  const { realizedPnlAda, unrealizedPnlAda } = expected;
  for (const resolution of ['hour1', 'day1']) {
    const history = { route: 'POST /v1/portfolio/history', query: { resolution, limit: 1 }, body };
    const point = expected.tokens.some(({ spentAda }) => spentAda !== '0.000000')
      ? [{ realizedPnlAda, unrealizedPnlAda, final: false }]
      : null;
    if (point === null) await asker.ask(history);
    else await asker.expect(history, point, newest);
  }
}

/** Without what pools and locks say; they are compared where they are listed. */
function compared(body: unknown): unknown {
  const { locks, ...portfolio } = Object(body);
  assert(Array.isArray(portfolio.tokens));
  const tokens = portfolio.tokens.map((token: unknown) => {
    const { asset, balance, valueAda, spentAda, unrealizedPnlAda } = Object(token);
    return { asset, balance, valueAda, spentAda, unrealizedPnlAda };
  });
  return { ...portfolio, tokens };
}

function newest(body: unknown): unknown {
  assert(Array.isArray(body));
  return body.map(({ realizedPnlAda, unrealizedPnlAda, final }) => {
    return { realizedPnlAda, unrealizedPnlAda, final };
  });
}

async function compareUnknown(asker: Asker): Promise<void> {
  const query = { assetId: UNKNOWN };
  const body = [STRANGER];
  await asker.refused({ route: 'GET /balances/v1/pool/holders', query }, 404, 'ASSET_NOT_FOUND');
  await asker.expect({ route: 'POST /balances/v1/user/pnl-card', query, body }, null);
  await asker.expect({ route: 'POST /balances/v1/asset/asset-balance', query, body }, null);
  const metrics = {
    route: 'GET /v1/orders-feed/metrics',
    query: { asset: UNKNOWN, pkh: STRANGER },
  };
  await asker.expect(metrics, null);
}

async function compareUtxos(asker: Asker, { people }: NaiveMarket, pkh: string): Promise<void> {
  const route = 'POST /getUtxos';
  const all = people.utxos(pkh);
  const expect = async (page: object, rows: typeof all) => {
    await asker.expect({ route, body: { pkh, ...page } }, rows, coinFirst);
  };
  await expect({ limit: 1000 }, all);
  await expect({ offset: 1, limit: 2, query: 'unspent' }, all.slice(1, 3));
  const [first] = all;
  if (first === undefined) return;
  await expect({ after: `${first.txHash}:${first.index}`, limit: 3 }, all.slice(1, 4));
}

/** The contract names no order of a value's units: the coin, then assets by id. */
function coinFirst(body: unknown): unknown {
  assert(Array.isArray(body));
  const key = (entry: unknown) => {
    const unit = String(Reflect.get(Object(entry), 'unit'));
    return unit === 'lovelace' ? '' : unit;
  };
  return body.map((row) => {
    assert(Array.isArray(row.value));
    return {
      ...row,
      value: row.value.toSorted((a: unknown, b: unknown) => (key(a) < key(b) ? -1 : 1)),
    };
  });
}
