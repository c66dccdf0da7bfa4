/** What the type of one setting cannot say: values that make sense together only. */
import { isIP } from 'node:net';
import { CHAIN_CHECKS } from './chainChecks.ts';
import { isAddressRange } from './cidr.ts';
import type { SettingKey, Settings } from './table.ts';

export interface Fault {
  readonly key: string;
  /** What is wrong, and what to do: sentences without their full stop. */
  readonly cause: string;
  readonly remedy: string;
}

export interface Check {
  /**
   * The first is the key to blame, by one check at most: what is wrong with its value alone comes
   * first. A check is left out when one of these is not of its type.
   */
  readonly reads: readonly [SettingKey, ...SettingKey[]];
  /** Cause and remedy, or null when all is well. */
  find(settings: Settings): readonly [cause: string, remedy: string] | null;
}

const NATS_SERVER = /^(nats|tls|ws|wss):\/\/[^\s,]+$/;
const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;

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

/** Every fault among `settings`, whose `badKeys` hold their defaults and are not judged again. */
export function checkCombinations(
  settings: Settings,
  badKeys: ReadonlySet<string>,
): readonly Fault[] {
  const faults = new Map<string, Fault>();
  for (const { reads, find } of CHECKS) {
    const [key] = reads;
    if (faults.has(key) || reads.some((each) => badKeys.has(each))) continue;
    const found = find(settings);
    if (found !== null) faults.set(key, { key, cause: found[0], remedy: found[1] });
  }
  return [...faults.values()];
}
