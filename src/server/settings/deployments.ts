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
import { scriptHash } from '../../cardano/codec/hash.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import { isOrderLayout, OLDEST_LAYOUT, type OrderLayout } from '../../cardano/datums/datums.ts';
import {
  type Deployment,
  type KnownScript,
  lackingForFills,
  type NetworkDeployment,
  type PartialDeployment,
  type ReferenceScript,
  type SettingsPlace,
  type SplashOrderTerms,
} from '../../cardano/datums/deployment.ts';
import type { Signers } from '../../cardano/datums/signers.ts';
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
/** A script's hash, for auditors. The server reads the script itself on the chain. */
const codeOf = (hash: string | null): FieldType<string> => ({
  read: (value) => {
    const code = CODE.read(value);
    return code !== undefined && scriptHash(code) === hash ? code : undefined;
  },
  what: 'code in hex that has the hash beside it',
  fallback: '',
});
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
const ORDER_LAYOUT: FieldType<OrderLayout> = {
  read: (value) => (isOrderLayout(value) ? value : undefined),
  what: '"01" or "02"',
  fallback: OLDEST_LAYOUT,
};
const MOST_SIGNERS = 20;
const KEY_HASHES: FieldType<readonly string[]> = {
  read(value) {
    if (!Array.isArray(value) || value.length === 0 || value.length > MOST_SIGNERS)
      return undefined;
    const hashes = value.map(String);
    if (hashes.some((each) => HASH.read(each) === undefined)) return undefined;
    return new Set(hashes).size === hashes.length ? hashes : undefined;
  },
  what: `1 to ${MOST_SIGNERS} different key hashes of 56 hex digits`,
  fallback: [],
};
const countUpTo = (most: number): FieldType<number> => ({
  read: (value) => (value === 0 ? undefined : integerUpTo(most).read(value)),
  what: 'how many of keyHashes have to sign, 1 or more',
  fallback: 1,
});
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

/** The keys that may change the settings, from a deployment's file. Throws with all faults. */
export function parseSigners(text: string, path: string): Signers {
  const faults: string[] = [];
  const fields = new JsonFields(asJson(text, faults), '', faults);
  const keyHashes = fields.read('keyHashes', KEY_HASHES);
  const required = fields.read('required', countUpTo(keyHashes.length));
  fields.rejectUnknown();
  if (faults.length > 0) throw badDeployment(path, faults);
  return { required, keyHashes };
}

/** Curve, fees and threshold alone, as a deployment's file has them. Throws with every fault. */
export function parseTerms(text: string, path: string) {
  const faults: string[] = [];
  const fields = new JsonFields(asJson(text, faults), '', faults);
  const terms = readMarketTerms(fields);
  fields.rejectUnknown();
  if (faults.length > 0) throw badDeployment(path, faults);
  return terms;
}

function readMarketTerms(fields: JsonFields) {
  return {
    curve: readAmounts(fields.object('curve'), ['aNum', 'bNum', 'supply']),
    thresholdLovelace: fields.read('thresholdLovelace', AMOUNT),
    fees: readAmounts(fields.object('fees'), FEES),
  };
}

type ParsedFile = ReturnType<typeof parseFields>;

/** The fields of the file, not judged yet. */
function parseFields(fields: JsonFields) {
  const known = {
    network: fields.read('network', NETWORK),
    start: readStart(fields),
    ...readMarketTerms(fields),
    refundAfterMs: fields.read('refundAfterMs', integerUpTo(MOST_MS)),
    orderLayout: fields.has('orderLayout')
      ? fields.read('orderLayout', ORDER_LAYOUT)
      : OLDEST_LAYOUT,
    executors: fields.read('executors', EXECUTORS),
    executorKeyHash: fields.read('executorKeyHash', orNull(HASH)),
    feeKeyHash: fields.read('feeKeyHash', orNull(HASH)),
    collateralKeyHash: fields.read('collateralKeyHash', orNull(HASH)),
    metadataAddress: fields.read('metadataAddress', orNull(ADDRESS)),
    tokenPolicyTemplate: fields.read('tokenPolicyTemplate', orNull(CODE)),
    ...(fields.has('settings') ? { settings: readSettings(fields) } : {}),
    ...(fields.has('splashOrder') ? { splashOrder: readSplashOrder(fields) } : {}),
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

function readSettings(fields: JsonFields): SettingsPlace {
  const inside = fields.object('settings');
  const keyHashes = inside.read('keyHashes', KEY_HASHES);
  const found = {
    keyHashes,
    required: inside.read('required', countUpTo(keyHashes.length)),
    policyId: inside.read('policyId', HASH),
    seed: inside.read('seed', REFERENCE),
    ref: inside.read('reference', REFERENCE),
  };
  inside.rejectUnknown();
  return found;
}

function readSplashOrder(fields: JsonFields): SplashOrderTerms {
  const inside = fields.object('splashOrder');
  const executor = inside.read('executor', HASH);
  return { executor, ...readAmounts(inside, ['stepLovelace', 'feeLovelace']) };
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
    if (inside.has('code')) inside.read('code', codeOf(found.hash));
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
  const { executors, ...rest } = known;
  const lacking = executors === 'ours' ? lackingForFills(rest) : [];
  return [...PARTS.filter((name) => known[name] === null), ...lacking, ...scripts];
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

/** null: the file has too little to recognise any transaction of the market. */
function partialOf(known: ParsedFile): PartialDeployment | null {
  const { scripts, executors, executorKeyHash, feeKeyHash, collateralKeyHash } = known;
  const launchPolicyId = scripts.launchPolicy.hash;
  const [curvePool, order] = [knownScript(scripts.curvePool), knownScript(scripts.order)];
  if (launchPolicyId === null || curvePool === null || order === null) return null;
  if (executors === 'ours' && (executorKeyHash === null || feeKeyHash === null)) return null;
  const { network, curve, fees, thresholdLovelace, refundAfterMs, orderLayout } = known;
  const { metadataAddress, tokenPolicyTemplate } = known;
  return {
    network,
    addressNetwork: addressNetwork(network),
    ...{ curve, fees, thresholdLovelace, refundAfterMs, orderLayout },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    ...(executors === 'ours' ? {} : { executors: executors === 'any' ? null : executors }),
    ...{ metadataAddress, tokenPolicyTemplate, launchPolicyId },
    ...(known.settings === undefined ? {} : { settings: known.settings }),
    ...(known.splashOrder === undefined ? {} : { splashOrder: known.splashOrder }),
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
  const { metadataAddress, tokenPolicyTemplate, scripts, settings } = known;
  if (settings === undefined || partial === null) return null;
  if (executorKeyHash === null || feeKeyHash === null || collateralKeyHash === null) return null;
  if (metadataAddress === null || tokenPolicyTemplate === null) return null;
  return {
    ...partial,
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    feeAddress: enterpriseAddress(feeKeyHash, partial.addressNetwork),
    ...{ metadataAddress, tokenPolicyTemplate, settings },
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

/** The code of the scripts, hex, by name. */
type Code = Readonly<Record<keyof Deployment['scripts'], string>>;

/**
 * The file that `readDeployment` reads. `start`: following begins after this block. `code`: to
 * be compared with what the sources compile to; absent: not written.
 */
export function deploymentText(
  deployment: Deployment,
  start: NetworkDeployment['start'],
  code?: Code,
): string {
  const { network, curve, fees, thresholdLovelace, refundAfterMs, orderLayout } = deployment;
  const { executorKeyHash, feeKeyHash, collateralKeyHash } = deployment;
  const { metadataAddress, tokenPolicyTemplate, scripts, settings } = deployment;
  const { required, keyHashes, policyId, seed, ref } = settings;
  const file = {
    ...{ network, start, curve, thresholdLovelace, fees, refundAfterMs, orderLayout },
    executors: 'ours',
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash, metadataAddress, tokenPolicyTemplate },
    settings: { required, keyHashes, policyId, seed: refText(seed), reference: refText(ref) },
    scripts: Object.fromEntries(
      Object.entries(scripts).map(([name, { hash, ref }]) => [
        name,
        { hash, reference: refText(ref), ...codeNamed(name, code) },
      ]),
    ),
  };
  const amount = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value;
  return `${JSON.stringify(file, amount, 2)}\n`;
}

function codeNamed(name: string, code: Partial<Record<string, string>> = {}) {
  const found = code[name];
  return found === undefined ? {} : { code: found };
}

/** Names every fault for a person. */
function badDeployment(file: string, faults: readonly string[]): Error {
  return new Error(`${file} is no deployment:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
}
