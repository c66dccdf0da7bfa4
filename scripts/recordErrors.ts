/** Bodies of errors, by cause, as the running server answers them. */
import type { JsonObject } from '../src/api/docs/definitions.ts';
import type { Stage } from '../test/api/docs/stage.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const UNKNOWN_ASSET = `${'0'.repeat(56)}.00`;

type Try = readonly [path: string, init?: RequestInit];

function post(path: string, body: object): Try {
  return [path, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }];
}

function keyed([path, init]: Try): Try {
  const headers = { ...JSON_TYPE, 'idempotency-key': 'example' };
  return [path, { ...init, headers }];
}

function tries(stage: Stage): readonly Try[] {
  const { asset, address, otherAddress, lock, lockEndMs } = stage;
  const quote = (amount: string) =>
    `/quote?${new URLSearchParams({ assetId: asset, side: 'BUY', amount, slippage: '15' })}`;
  const making = { address, assetId: asset, amount: '1000', lockEnd: lockEndMs, stagesCount: 4 };
  const poor = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv';
  const terms = { assetId: asset, side: 'BUY', amount: '5000000', slippage: '15' };
  return [
    ['/v1/pools-feed/initial/state?asset=mytoken'],
    [`/v1/pools-feed/initial/state?asset=${UNKNOWN_ASSET}`],
    ['/v1/nothing/here'],
    ['/v1/limits', { headers: { authorization: 'Bearer upc_nobody' } }],
    ['/v1/webhooks'],
    ['/order'],
    ['/order', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'buy' }],
    post('/order', { note: 'x'.repeat(1_100_000) }),
    [
      `/v1/pools-feed/initial/state?asset=${asset}`,
      { headers: { 'x-min-position': '99-later:1' } },
    ],
    [quote('0')],
    [quote('999999999999999')],
    post('/order', { ...terms, changeAddress: address, minOutput: '900000000' }),
    post('/order', { ...terms, changeAddress: poor }),
    keyed(post('/order', { ...terms, changeAddress: address })),
    keyed(post('/order', { ...terms, amount: '6000000', changeAddress: address })),
    post('/submit', { cbor: stage.built.cbor }),
    post('/create-lock', { ...making, lockEnd: 1000 }),
    post('/create-lock', { ...making, amount: '0' }),
    post('/withdraw', { id: `${'0'.repeat(64)}:0`, address }),
    post('/withdraw', { id: stage.spent, address }),
    post('/withdraw', { id: stage.plain, address }),
    post('/withdraw', { id: lock, address: otherAddress }),
    post('/withdraw', { id: lock, address }),
    [`/v1/user-history-feed/order/trades?beacon=${'0'.repeat(56)}`],
  ];
}

export async function recordErrors(
  url: string,
  stage: Stage,
): Promise<Readonly<Record<string, JsonObject>>> {
  const errors: Record<string, JsonObject> = {};
  for (const [path, init] of tries(stage)) {
    const response = await fetch(url + path, init ?? {});
    const body: unknown = await response.json();
    if (response.ok || typeof body !== 'object' || body === null || !('cause' in body)) continue;
    const cause = String(body.cause);
    errors[cause] ??= { ...body } as JsonObject; // trust: it is parsed JSON
  }
  return errors;
}
