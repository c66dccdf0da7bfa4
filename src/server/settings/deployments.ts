/**
 * The deployments on real networks: `config/<network>.json`, or a file that `deploy` wrote. Checked
 * whole: either a deployment, or every fault at once.
 *
 * What is not known is null there, never made up: whatever needs it is then refused, or nothing is
 * there to be followed yet.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { type OutputRef, parseRef } from '../../cardano/codec/output.ts';
import type {
  Deployment,
  KnownScript,
  NetworkDeployment,
  PartialDeployment,
  ReferenceScript,
} from '../../cardano/datums/deployment.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { AMOUNT, FileFields, integerUpTo, type Kind, orNull, textLike } from './fileFields.ts';

export type RealNetwork = Exclude<NetworkDeployment['network'], 'devnet'>;

/** Why a file cannot be used; `message` is for a person and names every fault. */
export class BadDeployment extends Error {
  readonly faults: readonly string[];

  constructor(file: string, faults: readonly string[]) {
    super(`${file} is no deployment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const NETWORKS = ['mainnet', 'preprod', 'preview'] as const;
const MOST_MS = 30 * 86_400_000;
const MOST_SLOT = 999_999_999_999;

const HASH = textLike(/^[0-9a-f]{56}$/, 'a hash of 56 hex digits');
const BLOCK_HASH = textLike(/^[0-9a-f]{64}$/, 'a block hash of 64 hex digits');
const CODE = textLike(/^(?:[0-9a-f]{2})+$/, 'code in hex');
const ADDRESS: Kind<string> = {
  read: (value) => (typeof value === 'string' && parseAddress(value) !== null ? value : undefined),
  what: 'an address',
  standIn: '',
};
const REFERENCE: Kind<OutputRef> = {
  read: (value) => (typeof value === 'string' ? (parseRef(value) ?? undefined) : undefined),
  what: 'an output as <transaction>:<index>',
  standIn: { txHash: '', index: 0 },
};
const NETWORK: Kind<RealNetwork> = {
  read: (value) => NETWORKS.find((network) => network === value),
  what: `one of ${NETWORKS.join(', ')}`,
  standIn: 'preview',
};
/** `ours`: the one executor of the file; `any`: whoever a datum names; or a list of key hashes. */
const EXECUTORS: Kind<'ours' | 'any' | readonly string[]> = {
  read(value) {
    if (value === 'ours' || value === 'any') return value;
    if (!Array.isArray(value) || value.length === 0) return undefined;
    return value.every((each) => HASH.read(each) !== undefined) ? value.map(String) : undefined;
  },
  what: '"ours", "any" or a list of key hashes',
  standIn: 'ours',
};
const START: Kind<'start'> = {
  read: (value) => (typeof value === 'object' ? 'start' : undefined),
  what: 'slot and hash',
  standIn: 'start',
};

const FEES = [
  ...['percentFee', 'executorFeeLovelace', 'fixedFeeLovelace', 'refundFeeLovelace'],
  ...['orderDepositLovelace', 'minTradeLovelace', 'creatorFeePer10k', 'platformFeePer10k'],
  ...['lpFeePer10k', 'launchFeeLeastLovelace', 'launchFeeFixedLovelace', 'poolKeepLovelace'],
  ...['overshootPer1000', 'overshootLovelace', 'feeOutputLeastLovelace', 'collectFromLovelace'],
] as const satisfies readonly (keyof FeeParameters)[];

/** `file` instead of the one in `config/`. Throws `BadDeployment`, or when it cannot be read. */
export function readDeployment(network: RealNetwork, file?: string): NetworkDeployment {
  const path = file ?? join(import.meta.dirname, `../../../config/${network}.json`);
  return parseDeployment(network, readFileSync(path, 'utf8'), path);
}

export function parseDeployment(
  network: RealNetwork,
  text: string,
  path: string,
): NetworkDeployment {
  const faults: string[] = [];
  const known = readKnown(new FileFields(asJson(text, faults), '', faults));
  if (faults.length > 0) throw new BadDeployment(path, faults);
  const missing = missingOf(known);
  const mismatch = mismatchOf(known, network);
  const partial = partialOf(known);
  const complete = missing.length === 0 && mismatch === null ? completeOf(known, partial) : null;
  return { network, start: known.start, partial, complete, missing, mismatch };
}

type Known = ReturnType<typeof readKnown>;

/** The file as it stands. */
function readKnown(fields: FileFields) {
  const known = {
    network: fields.take('network', NETWORK),
    start: readStart(fields),
    curve: readAmounts(fields.inside('curve'), ['aNum', 'bNum', 'supply']),
    thresholdLovelace: fields.take('thresholdLovelace', AMOUNT),
    fees: readAmounts(fields.inside('fees'), FEES),
    refundAfterMs: fields.take('refundAfterMs', integerUpTo(MOST_MS)),
    executors: fields.take('executors', EXECUTORS),
    executorKeyHash: fields.take('executorKeyHash', orNull(HASH)),
    feeKeyHash: fields.take('feeKeyHash', orNull(HASH)),
    collateralKeyHash: fields.take('collateralKeyHash', orNull(HASH)),
    metadataAddress: fields.take('metadataAddress', orNull(ADDRESS)),
    tokenPolicyTemplate: fields.take('tokenPolicyTemplate', orNull(CODE)),
    scripts: readScripts(fields.inside('scripts')),
  };
  fields.done();
  return known;
}

function readStart(fields: FileFields): NetworkDeployment['start'] {
  if (fields.take('start', orNull(START)) === null) return null;
  const inside = fields.inside('start');
  const slot = inside.take('slot', integerUpTo(MOST_SLOT));
  const hash = inside.take('hash', BLOCK_HASH);
  inside.done();
  return { slot, hash };
}

function readAmounts<Name extends string>(
  fields: FileFields,
  names: readonly Name[],
): Record<Name, bigint> {
  const read = names.map((name) => [name, fields.take(name, AMOUNT)]);
  fields.done();
  // trust: every name was read just now
  return Object.fromEntries(read) as Record<Name, bigint>;
}

type ReadScript = { readonly hash: string | null; readonly ref: OutputRef | null };

function readScripts(fields: FileFields) {
  const script = (name: string): ReadScript => {
    const inside = fields.inside(name);
    const found = {
      hash: inside.take('hash', orNull(HASH)),
      ref: inside.take('reference', orNull(REFERENCE)),
    };
    inside.done();
    return found;
  };
  const scripts = {
    launchPolicy: script('launchPolicy'),
    curvePool: script('curvePool'),
    order: script('order'),
    ammPool: script('ammPool'),
    vesting: script('vesting'),
  };
  fields.done();
  return scripts;
}

const KEYS = ['executorKeyHash', 'feeKeyHash', 'collateralKeyHash'] as const;
const PARTS = [...KEYS, 'metadataAddress', 'tokenPolicyTemplate'] as const;

function missingOf(known: Known): string[] {
  const scripts = Object.entries(known.scripts).flatMap(([name, { hash, ref }]) => [
    ...(hash === null ? [`scripts.${name}.hash`] : []),
    ...(ref === null ? [`scripts.${name}.reference`] : []),
  ]);
  return [...PARTS.filter((name) => known[name] === null), ...scripts];
}

/** A file, or an address in it, that is another network's. */
function mismatchOf(known: Known, network: RealNetwork): NetworkDeployment['mismatch'] {
  if (known.network !== network) return 'PROTOCOL_CONFIG_NETWORK_MISMATCH';
  const { metadataAddress } = known;
  const isOther =
    metadataAddress !== null && parseAddress(metadataAddress)?.network !== addressNetwork(network);
  return isOther ? 'CONTRACTS_CONFIG_NETWORK_MISMATCH' : null;
}

function addressNetwork(network: RealNetwork): PartialDeployment['addressNetwork'] {
  return network === 'mainnet' ? 'mainnet' : 'testnet';
}

/** null: without these nothing could be told to be the market's. */
function partialOf(known: Known): PartialDeployment | null {
  const { scripts, executors, executorKeyHash, feeKeyHash, collateralKeyHash } = known;
  const launchPolicyId = scripts.launchPolicy.hash;
  const [curvePool, order] = [hashed(scripts.curvePool), hashed(scripts.order)];
  if (launchPolicyId === null || curvePool === null || order === null) return null;
  if (executors === 'ours' && (executorKeyHash === null || feeKeyHash === null)) return null;
  const { network, curve, fees, thresholdLovelace, refundAfterMs } = known;
  const { metadataAddress, tokenPolicyTemplate } = known;
  return {
    network,
    addressNetwork: addressNetwork(network),
    ...{ curve, fees, thresholdLovelace, refundAfterMs },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    ...(executors === 'ours' ? {} : { executors: executors === 'any' ? null : executors }),
    ...{ metadataAddress, tokenPolicyTemplate, launchPolicyId },
    scripts: {
      ...{ curvePool, order },
      ammPool: hashed(scripts.ammPool),
      vesting: hashed(scripts.vesting),
    },
  };
}

function hashed({ hash, ref }: ReadScript): KnownScript | null {
  return hash === null ? null : { hash, ref };
}

function completeOf(known: Known, partial: PartialDeployment | null): Deployment | null {
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = known;
  const { metadataAddress, tokenPolicyTemplate, scripts } = known;
  if (partial === null || executorKeyHash === null || feeKeyHash === null) return null;
  if (collateralKeyHash === null || metadataAddress === null) return null;
  if (tokenPolicyTemplate === null) return null;
  return {
    ...partial,
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    feeAddress: enterpriseAddress(feeKeyHash, partial.addressNetwork),
    ...{ metadataAddress, tokenPolicyTemplate },
    scripts: {
      launchPolicy: placed(scripts.launchPolicy),
      curvePool: placed(scripts.curvePool),
      order: placed(scripts.order),
      ammPool: placed(scripts.ammPool),
      vesting: placed(scripts.vesting),
    },
  };
}

function placed({ hash, ref }: ReadScript): ReferenceScript {
  assert(hash !== null && ref !== null, 'nothing is missing');
  return { hash, ref };
}

function enterpriseAddress(hash: string, network: PartialDeployment['addressNetwork']): string {
  return formatAddress({ network, payment: { kind: 'key', hash }, stake: null, pointer: false });
}

function asJson(text: string, faults: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    faults.push('the file is no JSON');
    return {};
  }
}
