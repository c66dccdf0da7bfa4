/** The devnet's own routes: `POST /devnet/v1/{faucet,fork,mine,parameters}` with JSON bodies. */
import { keyAddressProblem, parseKeyAddress } from '../cardano/codec/address.ts';
import { isFault } from '../engine/runtime/assert.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { FAUCET_ADA, MAX_FAUCET_ADA } from '../engine/runtime/limits.ts';
import { K } from './ledgerFile.ts';
import type { DevnetNode } from './node.ts';
import type { RouteAnswer } from './ogmios/server.ts';

const LOVELACE_PER_ADA = 1_000_000n;

type Body = Readonly<Record<string, unknown>>;
type Handler = (node: DevnetNode, body: Body, text: string) => Promise<RouteAnswer>;

const ROUTES: Readonly<Record<string, Handler>> = {
  '/devnet/v1/faucet': faucet,
  '/devnet/v1/fork': fork,
  '/devnet/v1/mine': mine,
  '/devnet/v1/parameters': parameters,
};

/** The Ogmios server calls this for any other path; null: no such route. */
export function devnetRoute(node: DevnetNode) {
  return (path: string, text: string): Promise<RouteAnswer> | null => {
    const handler = Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
    if (handler === undefined) return null;
    const body = bodyOf(text);
    return body === null
      ? Promise.resolve(invalid('body', 'a JSON object is needed'))
      : handler(node, body, text);
  };
}

function bodyOf(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    // trust: an object
    return typeof value === 'object' && value !== null ? (value as Body) : null;
  } catch {
    // It is no JSON: the caller answers that.
    return null;
  }
}

async function faucet(node: DevnetNode, { address, ada = FAUCET_ADA }: Body): Promise<RouteAnswer> {
  if (typeof address !== 'string') return invalid('address', 'an address in bech32 is needed');
  if (parseKeyAddress(address, 'testnet') === null) {
    return invalid('address', keyAddressProblem(address, 'testnet'));
  }
  if (!isWhole(ada, 1, MAX_FAUCET_ADA)) return invalid('ada', `1 to ${MAX_FAUCET_ADA}`);
  const outcome = await node.faucet(address, BigInt(ada) * LOVELACE_PER_ADA);
  if (outcome instanceof Failure) return failed(outcome);
  if (outcome.outcome === 'accepted') return { status: 200, body: { txHash: outcome.txHash } };
  return failed(new Failure('SERVER_ERROR', outcome.message));
}

async function fork(node: DevnetNode, { depth, resubmit = 'all' }: Body): Promise<RouteAnswer> {
  if (!isWhole(depth, 1, K)) return invalid('depth', `1 to ${K} blocks`);
  if (resubmit !== 'all' && resubmit !== 'none') return invalid('resubmit', 'all or none');
  return heightOf(await node.fork(depth, resubmit));
}

async function mine(node: DevnetNode, { blocks }: Body): Promise<RouteAnswer> {
  if (!isWhole(blocks, 1, K)) return invalid('blocks', `1 to ${K}`);
  return heightOf(await node.mine(blocks));
}

/** Read again, from its text: numbers of any size stay exact. */
async function parameters(node: DevnetNode, _: Body, text: string): Promise<RouteAnswer> {
  try {
    return heightOf(await node.changeParameters(text));
  } catch (error) {
    if (isFault(error, 'unreadableMessage')) return invalid('body', error.message);
    throw error;
  }
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function heightOf(height: number | Failure): RouteAnswer {
  return height instanceof Failure ? failed(height) : { status: 200, body: { height } };
}

function invalid(path: string, message: string): RouteAnswer {
  return { status: 400, body: { cause: 'INVALID_PARAMS', message: `${path}: ${message}` } };
}

function failed({ cause, message }: Failure): RouteAnswer {
  const status = cause === 'INVALID_PARAMS' ? 400 : cause === 'SERVER_ERROR' ? 500 : 503;
  return { status, body: { cause, message } };
}
