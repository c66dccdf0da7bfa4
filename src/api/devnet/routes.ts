/** Routes that only a devnet has: faucet, fork, mine (onchain.md). */
import Type from 'typebox';
import { keyAddressProblem, parseKeyAddress } from '../../cardano/codec/address.ts';
import type { SubmitOutcome } from '../../cardano/ledger/port.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { FAUCET_ADA, MAX_FAUCET_ADA, MAX_FORK_BLOCKS } from '../../engine/runtime/limits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { TxHash } from '../schemas/identifiers.ts';

/** Calls resolve once this node shows their effect, or after a second or two without that. */
export interface Devnet {
  faucet(address: string, lovelace: bigint): Promise<SubmitOutcome | Failure>;
  /** Undoes `depth` blocks, or all where there are fewer; resolves with the height then. */
  fork(depth: number, resubmit: 'all' | 'none'): Promise<number | Failure>;
  /** Makes blocks at once; resolves with the height then. */
  mine(blocks: number): Promise<number | Failure>;
}

const LOVELACE_PER_ADA = 1_000_000n;

const Faucet = Type.Object({
  address: Type.String({ minLength: 1, maxLength: 200 }),
  ada: Type.Optional({
    ...Type.Integer({ minimum: 2, maximum: MAX_FAUCET_ADA }),
    default: FAUCET_ADA,
  }),
});
const Fork = Type.Object({
  depth: Type.Integer({ minimum: 1, maximum: MAX_FORK_BLOCKS }),
  resubmit: Type.Optional(Type.Union([Type.Literal('all'), Type.Literal('none')])),
});
const Mine = Type.Object({ blocks: Type.Integer({ minimum: 1, maximum: MAX_FORK_BLOCKS }) });
const Height = Type.Object({ height: Type.Integer() });

const COMMON = {
  method: 'POST',
  tag: 'Devnet',
  rate: 'build',
  needsSync: true,
  positioned: false,
  exclusive: true,
  localOnly: true,
} as const satisfies Partial<Route>;

export function devnetRoutes(devnet: Devnet): Route[] {
  return [faucetRoute(devnet), forkRoute(devnet), mineRoute(devnet)];
}

function faucetRoute(devnet: Devnet): Route {
  return route({
    ...COMMON,
    path: '/devnet/v1/faucet',
    operationId: 'faucet',
    summary: 'Coins of this devnet, worth nothing, for an address',
    body: Faucet,
    answers: { 200: { description: 'Sent', schema: Type.Object({ txHash: TxHash }) } },
    async handle({ body: { address, ada } }) {
      if (parseKeyAddress(address, 'testnet') === null) {
        return invalid('body.address', keyAddressProblem(address, 'testnet'));
      }
      const outcome = await devnet.faucet(address, BigInt(ada) * LOVELACE_PER_ADA);
      if (outcome instanceof Failure) return outcome;
      if (outcome.outcome === 'accepted') return jsonAnswer({ txHash: outcome.txHash });
      return new Failure('SERVER_ERROR', outcome.message, { reason: outcome.reason });
    },
  });
}

function forkRoute(devnet: Devnet): Route {
  return route({
    ...COMMON,
    path: '/devnet/v1/fork',
    operationId: 'fork',
    summary: 'Undo the newest blocks; their transactions wait again, or are gone',
    body: Fork,
    answers: { 200: { description: 'Height after it', schema: Height } },
    handle: async ({ body: { depth, resubmit = 'all' } }) =>
      answer(await devnet.fork(depth, resubmit)),
  });
}

function mineRoute(devnet: Devnet): Route {
  return route({
    ...COMMON,
    path: '/devnet/v1/mine',
    operationId: 'mine',
    summary: 'Make blocks at once, where the clock allows it',
    body: Mine,
    answers: { 200: { description: 'Height after it', schema: Height } },
    handle: async ({ body }) => answer(await devnet.mine(body.blocks)),
  });
}

function answer(height: number | Failure): Answer | Failure {
  return height instanceof Failure ? height : jsonAnswer({ height });
}
