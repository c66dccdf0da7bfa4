/** Checks of settings beyond their type: of a value, and of values that must fit each other. */
import { isIP } from 'node:net';
import { isRate } from '../../api/operations/adaUsd.ts';
import { isPublicNetwork, readStart, type SettingKey, type Settings } from './table.ts';

export interface SettingFault {
  readonly key: string;
  /** The fault and the remedy, each a sentence without its full stop. */
  readonly cause: string;
  readonly remedy: string;
}

interface Check {
  /**
   * The first is the key that the fault is reported for, once at most: checks of its value alone
   * come first. A check is skipped if a setting that it reads has a wrong type.
   */
  readonly reads: readonly [SettingKey, ...SettingKey[]];
  /** Cause and remedy; null: no fault. */
  find(settings: Settings): readonly [cause: string, remedy: string] | null;
}

const HTTP_URL = /^https?:\/\/[^\s/]+[^\s]*$/;
const WS_URL = /^wss?:\/\/[^\s/]+[^\s]*$/;
const KUBO_PORT = /:5001(\/|$)/;
const KUPO_PORT = /:1442(\/|$)/;
const NATS_SERVER = /^(nats|tls|ws|wss):\/\/[^\s,]+$/;
const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;

/** The chain: settings that require or exclude each other. */
const CHAIN_CHECKS: readonly Check[] = [
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
    reads: ['EXPLORER_URL'],
    find({ EXPLORER_URL: url = 'none' }) {
      const remedy = 'Write it as https://cexplorer.io/tx/, or none';
      return url === 'none' || HTTP_URL.test(url) ? null : ['it is no http(s) URL', remedy];
    },
  },
  {
    reads: ['ADA_USD_URL', 'ADA_USD'],
    find({ ADA_USD_URL, ADA_USD }) {
      if (ADA_USD_URL === undefined) return null;
      if (ADA_USD !== undefined) return ['ADA_USD is set, too', 'Leave one of them out'];
      const remedy = 'Write it as https://prices.example/ada#cardano.usd';
      return HTTP_URL.test(ADA_USD_URL) ? null : ['it is no http(s) URL', remedy];
    },
  },
  {
    reads: ['ADA_USD'],
    find: ({ ADA_USD }) =>
      ADA_USD === undefined || isRate(ADA_USD)
        ? null
        : ['it is no price above 0', 'Write dollars for one ADA as 0.45'],
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
        'a reader needs the log of other nodes, and NATS_URL is not set',
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
      const cause = 'it belongs to the devnet at OGMIOS_URL';
      return [cause, 'Set that as well and NETWORK=devnet, or leave it out'];
    },
  },
  {
    reads: ['KUPO_URL', 'NETWORK', 'OGMIOS_URL'],
    find({ KUPO_URL, NETWORK, OGMIOS_URL }) {
      if (NETWORK !== 'devnet' || (OGMIOS_URL === undefined) === (KUPO_URL === undefined))
        return null;
      const cause = 'a devnet is used through its Ogmios and its Kupo';
      return [cause, 'Set both OGMIOS_URL and KUPO_URL, or neither, to start a devnet'];
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
    reads: ['ACK', 'NATS_URL'],
    find({ ACK, NATS_URL }) {
      if (ACK === 'disk' || NATS_URL === undefined) return null;
      return ['the log of several nodes is acknowledged by NATS', 'Leave ACK or NATS_URL out'];
    },
  },
  {
    reads: ['NATS_URL', 'NETWORK'],
    find({ NATS_URL, NETWORK }) {
      if (NATS_URL === undefined || NETWORK !== 'none') return null;
      return [
        'only a single node can serve a replay',
        'Leave it out, or follow a chain: NETWORK=devnet, mainnet, preprod or preview',
      ];
    },
  },
];

const CHECKS: readonly Check[] = [
  {
    reads: ['HOST'],
    find: ({ HOST }) =>
      isIP(HOST) !== 0 || HOST_NAME.test(HOST)
        ? null
        : [`"${HOST.slice(0, 40)}" is no address`, 'Give an IP address or a host name'],
  },
  {
    reads: ['PUBLIC_URL'],
    find: ({ PUBLIC_URL }) =>
      PUBLIC_URL === undefined || /^https?:$/.test(URL.parse(PUBLIC_URL)?.protocol ?? '')
        ? null
        : ['it is no address of a web server', 'Write it as https://market.example'],
  },
  {
    reads: ['TRUSTED_PROXIES'],
    find({ TRUSTED_PROXIES }) {
      const bad = TRUSTED_PROXIES.filter((range) => !isAddressRange(range));
      if (bad.length === 0) return null;
      return [`no address or CIDR: ${bad.join(', ')}`, 'Write them as 10.0.0.0/8 or 192.0.2.7'];
    },
  },
  {
    reads: ['WEBHOOK_PRIVATE_RANGES'],
    find({ WEBHOOK_PRIVATE_RANGES }) {
      const bad = WEBHOOK_PRIVATE_RANGES.filter((range) => !isAddressRange(range));
      if (bad.length === 0) return null;
      return [`no address or CIDR: ${bad.join(', ')}`, 'Write them as 10.0.0.0/8 or 192.0.2.7'];
    },
  },
  {
    reads: ['ADMIN_PORT', 'PORT'],
    find: ({ ADMIN_PORT, PORT }) =>
      ADMIN_PORT !== undefined && ADMIN_PORT !== 0 && ADMIN_PORT === PORT
        ? ['it is the same port as PORT', 'Give another one, or leave it out to share PORT']
        : null,
  },
  {
    reads: ['RATE_READS_BURST', 'RATE_READS_PER_S'],
    find: ({ RATE_READS_BURST, RATE_READS_PER_S }) =>
      RATE_READS_BURST < RATE_READS_PER_S
        ? [
            `a burst of ${RATE_READS_BURST} cannot hold RATE_READS_PER_S=${RATE_READS_PER_S}`,
            `Set it to ${RATE_READS_PER_S} or more`,
          ]
        : null,
  },
  {
    reads: ['BLOCK_EVERY_MS'],
    find: ({ BLOCK_EVERY_MS }) =>
      BLOCK_EVERY_MS > 0 && BLOCK_EVERY_MS < 50
        ? [`blocks every ${BLOCK_EVERY_MS} ms are too many`, 'Set it to 50 or more, or to 0']
        : null,
  },
  {
    reads: ['NATS_URL'],
    find: ({ NATS_URL }) =>
      NATS_URL === undefined || NATS_URL.split(',').every((url) => NATS_SERVER.test(url.trim()))
        ? null
        : ['it is no URL of a NATS server', 'Write it as nats://127.0.0.1:4222'],
  },
  ...CHAIN_CHECKS,
  {
    reads: ['NATS_NKEY_FILE', 'NATS_CREDS_FILE'],
    find: ({ NATS_NKEY_FILE, NATS_CREDS_FILE }) =>
      NATS_NKEY_FILE !== undefined && NATS_CREDS_FILE !== undefined
        ? ['NATS_CREDS_FILE names a user, too', 'Leave one of the two out']
        : null,
  },
  {
    reads: ['NATS_CERT_FILE', 'NATS_KEY_FILE'],
    find: ({ NATS_CERT_FILE, NATS_KEY_FILE }) =>
      (NATS_CERT_FILE === undefined) !== (NATS_KEY_FILE === undefined)
        ? ['a certificate and its key belong together', 'Set both, or none of them']
        : null,
  },
];

/** Every fault in `settings`. The values of `badKeys` are defaults and are not checked again. */
export function checkCombinations(
  settings: Settings,
  badKeys: ReadonlySet<string>,
): readonly SettingFault[] {
  const faults = new Map<string, SettingFault>();
  for (const { reads, find } of CHECKS) {
    const [key] = reads;
    if (faults.has(key) || reads.some((each) => badKeys.has(each))) continue;
    const found = find(settings);
    if (found !== null) faults.set(key, { key, cause: found[0], remedy: found[1] });
  }
  return [...faults.values()];
}

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

/** Whether `text` is an IP address or a CIDR of one: `10.0.0.0/8`, `::1`. */
function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}
