/**
 * Deployments on public networks: `config/<network>.json`, or a file that `deploy` wrote. Reports
 * every fault at once.
 *
 * Unknown fields are null, never guessed. Building that needs one is refused; without the essential
 * ones there is nothing to follow.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import type {
  Deployment,
  KnownScript,
  NetworkDeployment,
  PartialDeployment,
  ReferenceScript,
} from '../../cardano/datums/deployment.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { AMOUNT, type FieldType, integerUpTo, JsonFields, orNull, textLike } from './jsonFields.ts';

type PublicNetwork = Exclude<NetworkDeployment['network'], 'devnet'>;

const NETWORKS = ['mainnet', 'preprod', 'preview'] as const;
const MOST_MS = 30 * 86_400_000;
const MOST_SLOT = 999_999_999_999;

const HASH = textLike(/^[0-9a-f]{56}$/, 'a hash of 56 hex digits');
const BLOCK_HASH = textLike(/^[0-9a-f]{64}$/, 'a block hash of 64 hex digits');
const CODE = textLike(/^(?:[0-9a-f]{2})+$/, 'code in hex');
const ADDRESS: FieldType<string> = {
  read: (value) => (typeof value === 'string' && parseAddress(value) !== null ? value : undefined),
  what: 'an address',
  fallback: '',
};
const REFERENCE: FieldType<OutputRef> = {
  read: (value) => (typeof value === 'string' ? (parseRef(value) ?? undefined) : undefined),
  what: 'an output as <transaction>:<index>',
  fallback: { txHash: '', index: 0 },
};
const NETWORK: FieldType<PublicNetwork> = {
  read: (value) => NETWORKS.find((network) => network === value),
  what: `one of ${NETWORKS.join(', ')}`,
  fallback: 'preview',
};
/** `ours`: the executor of the file; `any`: any that a datum names; or a list of key hashes. */
const EXECUTORS: FieldType<'ours' | 'any' | readonly string[]> = {
  read(value) {
    if (value === 'ours' || value === 'any') return value;
    if (!Array.isArray(value) || value.length === 0) return undefined;
    return value.every((each) => HASH.read(each) !== undefined) ? value.map(String) : undefined;
  },
  what: '"ours", "any" or a list of key hashes',
  fallback: 'ours',
};
const START: FieldType<'start'> = {
  read: (value) => (typeof value === 'object' ? 'start' : undefined),
  what: 'slot and hash',
  fallback: 'start',
};

const FEES = [
  ...['percentFee', 'executorFeeLovelace', 'fixedFeeLovelace', 'refundFeeLovelace'],
  ...['orderDepositLovelace', 'minTradeLovelace', 'creatorFeePer10k', 'platformFeePer10k'],
  ...['lpFeePer10k', 'launchFeeLeastLovelace', 'launchFeeFixedLovelace', 'poolKeepLovelace'],
  ...['overshootPer1000', 'overshootLovelace', 'feeOutputLeastLovelace', 'collectFromLovelace'],
] as const satisfies readonly (keyof FeeParameters)[];

/** `file` replaces the one in `config/`. Throws if it cannot be read or used. */
export function readDeployment(network: PublicNetwork, file?: string): NetworkDeployment {
  const path = file ?? join(import.meta.dirname, `../../../config/${network}.json`);
  return parseDeployment(network, readFileSync(path, 'utf8'), path);
}

export function parseDeployment(
  network: PublicNetwork,
  text: string,
  path: string,
): NetworkDeployment {
  const faults: string[] = [];
  const known = parseFields(new JsonFields(asJson(text, faults), '', faults));
  if (faults.length > 0) throw badDeployment(path, faults);
  const missing = missingOf(known);
  const mismatch = mismatchOf(known, network);
  const partial = partialOf(known);
  const complete = missing.length === 0 && mismatch === null ? completeOf(known, partial) : null;
  return { network, start: known.start, partial, complete, missing, mismatch };
}

type ParsedFile = ReturnType<typeof parseFields>;

/** The fields of the file, not judged yet. */
function parseFields(fields: JsonFields) {
  const known = {
    network: fields.read('network', NETWORK),
    start: readStart(fields),
    curve: readAmounts(fields.object('curve'), ['aNum', 'bNum', 'supply']),
    thresholdLovelace: fields.read('thresholdLovelace', AMOUNT),
    fees: readAmounts(fields.object('fees'), FEES),
    refundAfterMs: fields.read('refundAfterMs', integerUpTo(MOST_MS)),
    executors: fields.read('executors', EXECUTORS),
    executorKeyHash: fields.read('executorKeyHash', orNull(HASH)),
    feeKeyHash: fields.read('feeKeyHash', orNull(HASH)),
    collateralKeyHash: fields.read('collateralKeyHash', orNull(HASH)),
    metadataAddress: fields.read('metadataAddress', orNull(ADDRESS)),
    tokenPolicyTemplate: fields.read('tokenPolicyTemplate', orNull(CODE)),
    ...readScripts(fields.object('scripts')),
  };
  fields.rejectUnknown();
  return known;
}

function readStart(fields: JsonFields): NetworkDeployment['start'] {
  if (fields.read('start', orNull(START)) === null) return null;
  const inside = fields.object('start');
  const slot = inside.read('slot', integerUpTo(MOST_SLOT));
  const hash = inside.read('hash', BLOCK_HASH);
  inside.rejectUnknown();
  return { slot, hash };
}

function readAmounts<Name extends string>(
  fields: JsonFields,
  names: readonly Name[],
): Record<Name, bigint> {
  const read = names.map((name) => [name, fields.read(name, AMOUNT)]);
  fields.rejectUnknown();
  // trust: every name was read just now
  return Object.fromEntries(read) as Record<Name, bigint>;
}

type ReadScript = { readonly hash: string | null; readonly ref: OutputRef | null };

function readScripts(fields: JsonFields) {
  const script = (name: string): ReadScript => {
    const inside = fields.object(name);
    const found = {
      hash: inside.read('hash', orNull(HASH)),
      ref: inside.read('reference', orNull(REFERENCE)),
    };
    inside.rejectUnknown();
    return found;
  };
  const scripts = {
    launchPolicy: script('launchPolicy'),
    curvePool: script('curvePool'),
    order: script('order'),
    ammPool: script('ammPool'),
    vesting: script('vesting'),
  };
  // Only where there are orders of earlier validators, or pools of another protocol.
  const earlier = {
    limitOrder: fields.has('limitOrder') ? script('limitOrder') : null,
    firstInstantOrder: fields.has('firstInstantOrder') ? script('firstInstantOrder') : null,
    splashPool: fields.has('splashPool') ? script('splashPool') : null,
  };
  fields.rejectUnknown();
  return { scripts, earlier };
}

const KEYS = ['executorKeyHash', 'feeKeyHash', 'collateralKeyHash'] as const;
const PARTS = [...KEYS, 'metadataAddress', 'tokenPolicyTemplate'] as const;

function missingOf(known: ParsedFile): string[] {
  const scripts = Object.entries(known.scripts).flatMap(([name, { hash, ref }]) => [
    ...(hash === null ? [`scripts.${name}.hash`] : []),
    ...(ref === null ? [`scripts.${name}.reference`] : []),
  ]);
  return [...PARTS.filter((name) => known[name] === null), ...scripts];
}

/** The file, or an address in it, belongs to another network. */
function mismatchOf(known: ParsedFile, network: PublicNetwork): NetworkDeployment['mismatch'] {
  if (known.network !== network) return 'PROTOCOL_CONFIG_NETWORK_MISMATCH';
  const { metadataAddress } = known;
  const isOther =
    metadataAddress !== null && parseAddress(metadataAddress)?.network !== addressNetwork(network);
  return isOther ? 'CONTRACTS_CONFIG_NETWORK_MISMATCH' : null;
}

function addressNetwork(network: PublicNetwork): PartialDeployment['addressNetwork'] {
  return network === 'mainnet' ? 'mainnet' : 'testnet';
}

/** null: too little is known to recognise anything of the market. */
function partialOf(known: ParsedFile): PartialDeployment | null {
  const { scripts, executors, executorKeyHash, feeKeyHash, collateralKeyHash } = known;
  const launchPolicyId = scripts.launchPolicy.hash;
  const [curvePool, order] = [knownScript(scripts.curvePool), knownScript(scripts.order)];
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
      ammPool: knownScript(scripts.ammPool),
      vesting: knownScript(scripts.vesting),
      ...knownScripts(known.earlier),
    },
  };
}

function knownScripts<Name extends string>(
  scripts: Readonly<Record<Name, ReadScript | null>>,
): Partial<Record<Name, KnownScript | null>> {
  const found: Partial<Record<Name, KnownScript | null>> = {};
  for (const name in scripts) {
    const script = scripts[name];
    if (script !== null) found[name] = knownScript(script);
  }
  return found;
}

function knownScript({ hash, ref }: ReadScript): KnownScript | null {
  return hash === null ? null : { hash, ref };
}

function completeOf(known: ParsedFile, partial: PartialDeployment | null): Deployment | null {
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
      launchPolicy: referenceScript(scripts.launchPolicy),
      curvePool: referenceScript(scripts.curvePool),
      order: referenceScript(scripts.order),
      ammPool: referenceScript(scripts.ammPool),
      vesting: referenceScript(scripts.vesting),
    },
  };
}

function referenceScript({ hash, ref }: ReadScript): ReferenceScript {
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
    faults.push('the file is not JSON');
    return {};
  }
}

/** The file that `readDeployment` reads. `start`: following begins after this block. */
export function deploymentText(deployment: Deployment, start: NetworkDeployment['start']): string {
  const { network, curve, fees, thresholdLovelace, refundAfterMs } = deployment;
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = deployment;
  const { metadataAddress, tokenPolicyTemplate, scripts } = deployment;
  const file = {
    ...{ network, start, curve, thresholdLovelace, fees, refundAfterMs, executors: 'ours' },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash, metadataAddress, tokenPolicyTemplate },
    scripts: Object.fromEntries(
      Object.entries(scripts).map(([name, { hash, ref }]) => [
        name,
        { hash, reference: refText(ref) },
      ]),
    ),
  };
  const amount = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value;
  return `${JSON.stringify(file, amount, 2)}\n`;
}

/** Names every fault for a person. */
function badDeployment(file: string, faults: readonly string[]): Error {
  return new Error(`${file} is no deployment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}
