/**
 * Every setting, once: its name in the environment, type, bounds, default and description; and
 * what some values mean.
 *
 * `settings.ts`, the type `Settings`, `--help` and docs/settings.md derive from this table. A
 * setting without a default is unset unless given.
 */

import Type, { type Static } from 'typebox';
import { GATEWAY_DEFAULTS } from '../../api/gateway/options.ts';
import { MAX_LEASE_MS } from '../../engine/runtime/limits.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const NETWORKS = ['devnet', 'none', 'preprod', 'preview', 'mainnet'] as const;

function integer(minimum: number, maximum: number, standard: number, description: string) {
  return Type.Integer({ minimum, maximum, default: standard, description });
}

function text(standard: string, description: string) {
  return Type.String({ minLength: 1, maxLength: 4096, default: standard, description });
}

function optionalUrl(description: string) {
  return Type.Optional(Type.String({ maxLength: 4096, description }));
}

const ROLES = ['any', 'reader'] as const;

/** Listening: ports, trusted proxies, rate limits of one address. */
const LISTENING = {
  PORT: integer(0, 65_535, 8080, 'Port for HTTP and WebSocket; 0 takes any free one.'),
  PORT_SHARED: Type.Boolean({
    default: false,
    description:
      'Whether several processes may listen on PORT; the system spreads clients over them.',
  }),
  HOST: text('127.0.0.1', 'Address to listen on; 0.0.0.0 for every interface.'),
  PUBLIC_URL: optionalUrl(
    'Where clients reach this server: https://market.example. Previews of links need it.',
  ),
  MCP: Type.Boolean({
    default: false,
    description: 'Whether agents may call /mcp: the Model Context Protocol over HTTP.',
  }),
  EXPLORER_URL: optionalUrl(
    'Block explorer: addresses of transactions up to their id; empty: cexplorer; none: no links.',
  ),
  ADMIN_PORT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'Port for health and metrics, which are then served there only. Empty: PORT.',
    }),
  ),
  TRUSTED_PROXIES: Type.Array(Type.String(), {
    default: [],
    description: 'Addresses or CIDRs, comma separated, whose X-Forwarded-For is believed.',
  }),
  RATE_READS_PER_S: integer(
    1,
    1_000_000,
    GATEWAY_DEFAULTS.reads.perSecond,
    'Reads a second for one client address.',
  ),
  RATE_READS_BURST: integer(
    1,
    1_000_000,
    GATEWAY_DEFAULTS.reads.burst,
    'Reads at once after a pause, for one address.',
  ),
  RATE_BUILDS_PER_S: integer(
    1,
    100_000,
    GATEWAY_DEFAULTS.builds.perSecond,
    'Transaction builds a second for one address.',
  ),
  RATE_LAUNCHES_PER_MIN: integer(
    1,
    100_000,
    GATEWAY_DEFAULTS.launches.burst,
    'Launches a minute for one address.',
  ),
  RATE_LIMIT_LOOPBACK: Type.Boolean({
    default: false,
    description: 'Whether the limits above also hold for clients on this machine.',
  }),
  MAX_SOCKETS_PER_ADDRESS: integer(
    1,
    1_000_000,
    GATEWAY_DEFAULTS.maxSocketsPerAddress,
    'Open WebSockets for one client address.',
  ),
  API_KEYS_FILE: optionalUrl(
    'JSON with API keys: name, SHA-256 and limits of each; SIGHUP reads it again. Empty: no keys.',
  ),
  WEBHOOK_PRIVATE_RANGES: Type.Array(Type.String(), {
    default: [],
    description: 'More addresses or CIDRs, comma separated, that webhooks may reach, also by http.',
  }),
};

/** Storage: how much is kept, how deep a rollback can be, how often rows are committed. */
const KEEPING = {
  DATA_DIR: text('./var', 'Directory of the databases; created when missing.'),
  DATA_MAX_MB: integer(0, 1_000_000, 0, 'Largest size of each database file; 0 is unlimited.'),
  LOG_KEEP: Type.Enum(['snapshots', 'all'], {
    default: 'snapshots',
    description:
      'For a single node. snapshots: the log starts after the older of two; all: keeps everything.',
  }),
  HORIZON_BLOCKS: integer(
    1,
    1_000_000,
    2160,
    'Blocks that clients can resume from and a feed can take back; forks: 2,160 at most.',
  ),
  ACK: Type.Enum(['disk', 'memory'], {
    default: 'disk',
    description:
      'When clients hear of a trade: once it is on disk, or before; a crash then begins an epoch.',
  }),
  COMMIT_EVERY_MS: integer(
    1,
    60_000,
    200,
    'How long rows wait in memory for their commit; up to 1 s after one that took long.',
  ),
  MAX_LOADED_POOLS: integer(1, 10_000_000, 20_000, 'Pools kept in memory before idle ones leave.'),
};

/** The devnet in this process, the transaction builder, the simulated traders. */
const CHAIN = {
  BLOCK_EVERY_MS: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 1000,
    description: 'Slot length and pace of the devnet, 50 or more; 0 makes blocks when asked to.',
  }),
  TRADERS_PACE: Type.Number({
    minimum: 0,
    maximum: 50,
    default: 1,
    description: 'How lively the simulated traders of the devnet are; 0 sends none.',
  }),
  ORDER_REFUND_AFTER_MS: integer(
    10_000,
    86_400_000,
    1_200_000,
    'Time after which an order that cannot be filled is given back.',
  ),
  BUILD_THREADS: integer(1, 16, 1, 'Threads that build transactions.'),
  CALLERS_COLLATERALS: integer(
    0,
    20,
    3,
    'Outputs of 5 ADA set aside as collateral of callers’ transactions; 0: they bring their own.',
  ),
  KUBO_URL: optionalUrl('Kubo (IPFS), its HTTP API, keeps the logos; empty: a folder in DATA_DIR.'),
  ADA_USD_URL: optionalUrl(
    'JSON with the price of ADA in dollars, asked each minute; #cardano.usd names its place there.',
  ),
  ADA_USD: Type.Optional(
    Type.String({ maxLength: 30, description: 'The price itself, such as 0.45; it stays.' }),
  ),
};

/** Several nodes of one market; unused without NATS_URL. */
const NODES = {
  NATS_URL: optionalUrl('NATS servers that join several nodes, commas between; empty: one node.'),
  NATS_CREDS_FILE: optionalUrl("File with a NATS user's credentials, where the server wants them."),
  NATS_NKEY_FILE: optionalUrl("File with the seed of a NATS user's NKEY, instead of a password."),
  NATS_CA_FILE: optionalUrl('PEM of the authority that signed the certificates of NATS.'),
  NATS_CERT_FILE: optionalUrl('PEM of the certificate by which NATS knows this node.'),
  NATS_KEY_FILE: optionalUrl('PEM of the key of NATS_CERT_FILE.'),
  NATS_REPLICAS: integer(1, 5, 1, 'Copies that NATS keeps of log and snapshots; 3 in production.'),
  MARKET_NAME: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,32}$',
    default: 'upcurve',
    description: 'Nodes with the same name and NATS are one market.',
  }),
  NODE_NAME: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,40}$',
      description: 'Name of this node among several; empty: a new one at each start.',
    }),
  ),
  ROLE: Type.Enum(ROLES, {
    default: 'any',
    description: 'any: may lead; reader: never does, and needs no keys, no Ogmios and no Kupo.',
  }),
  SNAPSHOT_EVERY: integer(
    10,
    1_000_000,
    10_000,
    'Entries of the log from one snapshot of the state to the next.',
  ),
  LEASE_MS: integer(
    500,
    MAX_LEASE_MS,
    5_000,
    'Time after which a leader that is gone is replaced.',
  ),
  STALE_AFTER_MS: integer(
    1_000,
    3_600_000,
    12_000,
    'NATS silent, or no entry applied though there are some, for so long: stale.',
  ),
  CLOCK_BOUND_MS: integer(
    100,
    3_600_000,
    2_000,
    'A node whose clock differs more from those of NATS and the other nodes does not lead.',
  ),
  STALE_MAX_MS: integer(
    1_000,
    86_400_000,
    600_000,
    'NATS or Ogmios silent for so long: unready. Stuck for so long: it ends.',
  ),
  KEYS_FILE: optionalUrl('Keys of the devnet that all nodes share; empty: keys.json in DATA_DIR.'),
};

/** A chain outside this process: its addresses, and where following begins. */
const REAL_CHAIN = {
  NETWORK: Type.Enum(NETWORKS, {
    default: 'devnet',
    description:
      'devnet: a Cardano for tests; none: replays only; the others: that network of Cardano.',
  }),
  OGMIOS_URL: optionalUrl(
    'Ogmios, to follow and submit with: ws://host:1337; empty: starts a devnet.',
  ),
  DEVNET_URL: optionalUrl(
    'Faucet, forks and blocks of the devnet at OGMIOS_URL; empty: http:// on that port.',
  ),
  KUPO_URL: optionalUrl('Kupo, the index of outputs; empty: no wallets, nothing can be built.'),
  START_POINT: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Block to begin after when there is no state, as slot.hash, or origin.',
    }),
  ),
  DEPLOYMENT_FILE: optionalUrl('Deployment that is followed; empty: config/<NETWORK>.json.'),
  FINAL_GRACE_MS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_600_000,
      description:
        'Real networks: a minute without a block is over so long after its end; empty: 10000.',
    }),
  ),
  OGMIOS_PATIENCE_MS: integer(
    100,
    3_600_000,
    30_000,
    'A leader whose Ogmios is away or behind for so long lets another one lead.',
  ),
};

const LOGGING = {
  LOG_LEVEL: Type.Enum(LEVELS, { default: 'info', description: 'Least log level written.' }),
  LOG_FORMAT: Type.Enum(['auto', 'json', 'text'], {
    default: 'auto',
    description: 'json: an object a line; text: for people; auto: text on a terminal, else json.',
  }),
};

export const TABLE = Type.Object({
  ...LISTENING,
  ...KEEPING,
  ...CHAIN,
  ...NODES,
  ...REAL_CHAIN,
  ...LOGGING,
});

export type Settings = Readonly<Static<typeof TABLE>>;
export type SettingKey = keyof Settings;

/** Whether the chain is a public Cardano network. */
export function isPublicNetwork({ NETWORK }: Pick<Settings, 'NETWORK'>): boolean {
  return NETWORK !== 'devnet' && NETWORK !== 'none';
}

/** The host in a URL for a browser on this machine, for a server that listens on `host`. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

const POINT = /^(\d{1,12})\.([0-9a-fA-F]{64})$/;

/** START_POINT: the block after which following begins. null: begin with the first block. */
export function readStart(
  text: string,
): { readonly slot: number; readonly hash: string } | null | 'malformed' {
  if (text === 'origin') return null;
  const [, slot, hash] = POINT.exec(text) ?? [];
  if (slot === undefined || hash === undefined) return 'malformed';
  return { slot: Number(slot), hash: hash.toLowerCase() };
}
