/** Which locks there are, by owner and by token. */
import Type from 'typebox';
import type { Fold } from '../../engine/actors/fold.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { AssetIdShape, KeyHash } from '../schemas/identifiers.ts';
import { LockRow, locksOfOwner, locksOfToken } from '../schemas/locks.ts';

const Locks = Type.Object({ vestings: Type.Array(LockRow) });

const COMMON = {
  method: 'POST',
  tag: 'Vesting',
  body: Type.Optional(Type.Object({})),
  answers: { 200: { description: 'Unspent locks', schema: Locks } },
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: false,
  gzip: false,
} as const satisfies Partial<Route>;

export function vestingQueryRoutes(node: { readonly fold: Fold }): Route[] {
  return [
    route({
      ...COMMON,
      path: '/v1/vesting/get-by-redeemer',
      operationId: 'locksByOwner',
      summary: 'Locks of an owner',
      query: Type.Object({ redeemerVkhs: KeyHash }),
      handle: ({ query }) => answer(locksOfOwner(node.fold, query.redeemerVkhs.toLowerCase())),
    }),
    route({
      ...COMMON,
      path: '/v1/vesting/get-by-asset/:assetId',
      operationId: 'locksByAsset',
      summary: 'Locks of a token',
      params: Type.Object({ assetId: AssetIdShape }),
      handle: ({ params }) => answer(locksOfToken(node.fold, params.assetId.toLowerCase())),
    }),
  ];
}

function answer(vestings: LockRow[]): { body: string } {
  return { body: JSON.stringify({ vestings }) };
}
