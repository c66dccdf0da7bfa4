/** Which chain is followed, and with whom: settings that need or exclude each other. */
import type { Check } from './checks.ts';
import { readStart } from './start.ts';
import type { Settings } from './table.ts';

/** A chain that is made elsewhere. */
export function isPublicNetwork({ NETWORK }: Pick<Settings, 'NETWORK'>): boolean {
  return NETWORK !== 'devnet' && NETWORK !== 'none';
}

const HTTP_URL = /^https?:\/\/[^\s/]+[^\s]*$/;
const WS_URL = /^wss?:\/\/[^\s/]+[^\s]*$/;
const KUBO_PORT = /:5001(\/|$)/;
const KUPO_PORT = /:1442(\/|$)/;

export const CHAIN_CHECKS: readonly Check[] = [
  {
    reads: ['KUBO_URL'],
    find({ KUBO_URL }) {
      if (KUBO_URL === undefined) return null;
      if (KUPO_PORT.test(KUBO_URL)) {
        return ['1442 is the port of Kupo (outputs), this is Kubo (IPFS)', 'KUPO_URL is meant'];
      }
      const remedy = 'Write it as http://127.0.0.1:5001';
      return HTTP_URL.test(KUBO_URL) ? null : ['it is no http(s) URL', remedy];
    },
  },
  {
    reads: ['KUPO_URL'],
    find({ KUPO_URL }) {
      if (KUPO_URL === undefined) return null;
      if (KUBO_PORT.test(KUPO_URL)) {
        return ['5001 is the port of Kubo (IPFS), this is Kupo (outputs)', 'KUBO_URL is meant'];
      }
      const remedy = 'Write it as http://127.0.0.1:1442';
      return HTTP_URL.test(KUPO_URL) ? null : ['it is no http(s) URL', remedy];
    },
  },
  {
    reads: ['OGMIOS_URL'],
    find: ({ OGMIOS_URL }) =>
      OGMIOS_URL === undefined || WS_URL.test(OGMIOS_URL)
        ? null
        : ['it is no WebSocket URL', 'Write it as ws://127.0.0.1:1337'],
  },
  {
    reads: ['ROLE', 'NATS_URL'],
    find({ ROLE, NATS_URL }) {
      if (ROLE !== 'reader' || NATS_URL !== undefined) return null;
      return [
        'a reader reads what other nodes write, and NATS_URL is not set',
        'Set it, or leave ROLE out',
      ];
    },
  },
  {
    reads: ['NETWORK', 'OGMIOS_URL', 'ROLE'],
    find(settings) {
      const { NETWORK, OGMIOS_URL, ROLE } = settings;
      if (!isPublicNetwork(settings) || OGMIOS_URL !== undefined || ROLE === 'reader') return null;
      const cause = `${NETWORK} is followed through Ogmios, and OGMIOS_URL is not set`;
      return [cause, 'Set it, and KUPO_URL for wallets and building, or leave NETWORK at devnet'];
    },
  },
  unusedWithoutChain('OGMIOS_URL', 'a chain to follow'),
  unusedWithoutChain('KUPO_URL', 'outputs to look up'),
  {
    reads: ['DEVNET_URL', 'NETWORK', 'OGMIOS_URL'],
    find({ DEVNET_URL, NETWORK, OGMIOS_URL }) {
      if (DEVNET_URL === undefined) return null;
      if (!HTTP_URL.test(DEVNET_URL))
        return ['it is no http(s) URL', 'Write it as http://host:1337'];
      if (NETWORK === 'devnet' && OGMIOS_URL !== undefined) return null;
      const cause = 'it is of the devnet whose Ogmios is at OGMIOS_URL';
      return [cause, 'Set that as well and NETWORK=devnet, or leave it out'];
    },
  },
  {
    reads: ['KUPO_URL', 'NETWORK', 'OGMIOS_URL'],
    find({ KUPO_URL, NETWORK, OGMIOS_URL }) {
      if (NETWORK !== 'devnet' || (OGMIOS_URL === undefined) === (KUPO_URL === undefined))
        return null;
      const cause = 'a devnet is used through its Ogmios and its Kupo';
      return [cause, 'Set both OGMIOS_URL and KUPO_URL, or neither for a devnet of its own'];
    },
  },
  {
    reads: ['NATS_URL', 'NETWORK', 'OGMIOS_URL', 'ROLE'],
    find({ NATS_URL, NETWORK, OGMIOS_URL, ROLE }) {
      if (NETWORK !== 'devnet' || NATS_URL === undefined) return null;
      if (OGMIOS_URL !== undefined || ROLE === 'reader') return null;
      const cause = 'several nodes follow one devnet, and OGMIOS_URL is not set';
      return [cause, 'Start one (npm start -- devnet) and set OGMIOS_URL and KUPO_URL to it'];
    },
  },
  onlyPublic('START_POINT', 'a block to begin after'),
  onlyPublic('DEPLOYMENT_FILE', 'a deployment on another chain'),
  {
    reads: ['START_POINT'],
    find: ({ START_POINT }) =>
      START_POINT === undefined || readStart(START_POINT) !== 'malformed'
        ? null
        : ['it is no block', 'Write slot.hash, the hash in 64 hex digits, or origin'],
  },
  {
    reads: ['NATS_URL', 'NETWORK'],
    find({ NATS_URL, NETWORK }) {
      if (NATS_URL === undefined || NETWORK !== 'none') return null;
      return [
        'what is replayed is served by a single node',
        'Leave it out, or follow a chain: NETWORK=devnet, mainnet, preprod or preview',
      ];
    },
  },
];

function unusedWithoutChain(key: 'OGMIOS_URL' | 'KUPO_URL', what: string): Check {
  return {
    reads: [key, 'NETWORK'],
    find({ [key]: url, NETWORK }) {
      if (url === undefined || NETWORK !== 'none') return null;
      return [`NETWORK=none has no use for ${what}`, 'Leave it out, or set NETWORK'];
    },
  };
}

function onlyPublic(key: 'START_POINT' | 'DEPLOYMENT_FILE', what: string): Check {
  return {
    reads: [key, 'NETWORK'],
    find(settings) {
      if (settings[key] === undefined || isPublicNetwork(settings)) return null;
      const cause = `NETWORK=${settings.NETWORK} has no use for ${what}`;
      return [cause, 'Leave it out, or set NETWORK to mainnet, preprod or preview'];
    },
  };
}
