/**
 * Deployments on public networks: `config/<network>.json`, or a file that `deploy` wrote. Reports
 * every fault at once.
 *
 * Unknown fields are null, never guessed. Building that needs one is refused; without the essential
 * ones there is nothing to follow.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type TSchema } from 'typebox';
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { scriptHash } from '../../cardano/codec/hash.ts';
import { type OutputRef, parseRef, refText } from '../../cardano/codec/output.ts';
import { OLDEST_LAYOUT, type OrderLayout } from '../../cardano/datums/datums.ts';
import {
  type Deployment,
  type KnownScript,
  lackingForFills,
  type NetworkDeployment,
  type PartialDeployment,
  type ReferenceScript,
  type SettingsPlace,
} from '../../cardano/datums/deployment.ts';
import type { Signers } from '../../cardano/datums/signers.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { parseJsonFile } from './jsonFile.ts';

type PublicNetwork = Exclude<NetworkDeployment['network'], 'devnet'>;

const NETWORKS = ['mainnet', 'preprod', 'preview'] as const;
const MAX_MS = 30 * 86_400_000;
const MAX_SLOT = 999_999_999_999;
const MAX_SIGNERS = 20;
const EXACT = { additionalProperties: false };

const textLike = (pattern: string, description: string) => Type.String({ pattern, description });
const integerUpTo = (maximum: number) =>
  Type.Integer({ minimum: 0, maximum, description: `an integer from 0 to ${maximum}` });
const orNull = <const Schema extends TSchema>(schema: Schema, what: string) =>
  Type.Union([schema, Type.Null()], { description: `${what}, or null,` });

const WHAT = { hash: 'a hash of 56 hex digits', output: 'an output as <transaction>:<index>' };
const HASH = textLike('^[0-9a-f]{56}$', WHAT.hash);
const BLOCK_HASH = textLike('^[0-9a-f]{64}$', 'a block hash of 64 hex digits');
const CODE = textLike('^(?:[0-9a-f]{2})+$', 'code in hex');
/** As text: JSON numbers are not exact. */
const AMOUNT = Type.Decode(textLike('^(0|[1-9][0-9]{0,23})$', 'an integer as text'), BigInt);
const REFERENCE = Type.Decode(
  Type.Refine(Type.String({ description: WHAT.output }), (text) => parseRef(text) !== null),
  readRef,
);
const ADDRESS = Type.Refine(
  Type.String({ description: 'an address' }),
  (text) => parseAddress(text) !== null,
);

const SIGNERS = {
  keyHashes: Type.Array(HASH, {
    ...{ minItems: 1, maxItems: MAX_SIGNERS, uniqueItems: true },
    description: `1 to ${MAX_SIGNERS} different key hashes of 56 hex digits`,
  }),
  required: Type.Integer({ minimum: 1, description: 'an integer of at least 1' }),
};
const signersFit = ({ keyHashes, required }: Signers) => required <= keyHashes.length;
const signersFault = () => 'required: at most as many as there are keyHashes was expected';

const SIGNERS_FILE = Type.Refine(Type.Object(SIGNERS, EXACT), signersFit, signersFault);

const amounts = <const Name extends string>(names: readonly Name[]) =>
  // trust: every name gets the same schema
  Object.fromEntries(names.map((name) => [name, AMOUNT])) as Record<Name, typeof AMOUNT>;

const FEES = [
  ...['percentFee', 'executorFeeLovelace', 'fixedFeeLovelace', 'refundFeeLovelace'],
  ...['orderDepositLovelace', 'minTradeLovelace', 'creatorFeePer10k', 'platformFeePer10k'],
  ...['lpFeePer10k', 'launchFeeLeastLovelace', 'launchFeeFixedLovelace', 'poolKeepLovelace'],
  ...['overshootPer1000', 'overshootLovelace', 'feeOutputLeastLovelace', 'collectFromLovelace'],
] as const satisfies readonly (keyof FeeParameters)[];

const TERMS = {
  curve: Type.Object(amounts(['aNum', 'bNum', 'supply']), EXACT),
  thresholdLovelace: AMOUNT,
  fees: Type.Object(amounts(FEES), EXACT),
};

const SCRIPT = Type.Refine(
  Type.Object(
    {
      hash: orNull(HASH, WHAT.hash),
      reference: orNull(REFERENCE, WHAT.output),
      /** For auditors. The server reads the script itself on the chain. */
      code: Type.Optional(CODE),
    },
    EXACT,
  ),
  ({ hash, code }) => code === undefined || scriptHash(code) === hash,
  () => 'code: code in hex that has the hash beside it was expected',
);

const START = { slot: integerUpTo(MAX_SLOT), hash: BLOCK_HASH };

const FILE = Type.Object(
  {
    network: Type.Enum([...NETWORKS], { description: `one of ${NETWORKS.join(', ')}` }),
    start: orNull(Type.Object(START, EXACT), 'slot and hash'),
    ...TERMS,
    refundAfterMs: integerUpTo(MAX_MS),
    orderLayout: Type.Optional(Type.Enum(['01', '02'], { description: '"01" or "02"' })),
    /** `ours`: the executor of the file; `any`: any that a datum names; or a list. */
    executors: Type.Union(
      [Type.Literal('ours'), Type.Literal('any'), Type.Array(HASH, { minItems: 1 })],
      { description: '"ours", "any" or a list of key hashes' },
    ),
    executorKeyHash: orNull(HASH, WHAT.hash),
    feeKeyHash: orNull(HASH, WHAT.hash),
    collateralKeyHash: orNull(HASH, WHAT.hash),
    metadataAddress: orNull(ADDRESS, 'an address'),
    tokenPolicyTemplate: orNull(CODE, 'code in hex'),
    settings: Type.Optional(
      Type.Refine(
        Type.Object({ ...SIGNERS, policyId: HASH, seed: REFERENCE, reference: REFERENCE }, EXACT),
        signersFit,
        signersFault,
      ),
    ),
    splashOrder: Type.Optional(
      Type.Object({ executor: HASH, ...amounts(['stepLovelace', 'feeLovelace']) }, EXACT),
    ),
    scripts: Type.Object(
      {
        ...{ launchPolicy: SCRIPT, curvePool: SCRIPT, order: SCRIPT, ammPool: SCRIPT },
        vesting: SCRIPT,
        // Only where there are orders of earlier validators, or pools of another protocol.
        limitOrder: Type.Optional(SCRIPT),
        firstInstantOrder: Type.Optional(SCRIPT),
        splashPool: Type.Optional(SCRIPT),
      },
      EXACT,
    ),
  },
  EXACT,
);

type ParsedFile = Omit<Type.StaticDecode<typeof FILE>, 'orderLayout'> & {
  readonly orderLayout: OrderLayout;
};
type ReadScript = ParsedFile['scripts']['order'];

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
  const file = parseJsonFile(FILE, text, { path, what: 'deployment' });
  const known = { ...file, orderLayout: file.orderLayout ?? OLDEST_LAYOUT };
  const missing = missingOf(known);
  const mismatch = mismatchOf(known, network);
  const partial = partialOf(known);
  const complete = missing.length === 0 && mismatch === null ? completeOf(known, partial) : null;
  return { network, start: known.start, partial, complete, missing, mismatch };
}

/** The keys that may change the settings, from a deployment's file. Throws with all faults. */
export function parseSigners(text: string, path: string): Signers {
  return parseJsonFile(SIGNERS_FILE, text, { path, what: 'list of signers' });
}

/** Curve, fees and threshold alone, as a deployment's file has them. Throws with every fault. */
export function parseTerms(text: string, path: string) {
  return parseJsonFile(Type.Object(TERMS, EXACT), text, { path, what: 'set of terms' });
}

/** Throws if it is none. */
function readRef(text: string): OutputRef {
  const ref = parseRef(text);
  assert(ref !== null, 'the schema says so');
  return ref;
}

const KEYS = ['executorKeyHash', 'feeKeyHash', 'collateralKeyHash'] as const;
const PARTS = [...KEYS, 'metadataAddress', 'tokenPolicyTemplate'] as const;

function missingOf(known: ParsedFile): string[] {
  const scripts = Object.entries(mainScripts(known)).flatMap(([name, { hash, reference }]) => [
    ...(hash === null ? [`scripts.${name}.hash`] : []),
    ...(reference === null ? [`scripts.${name}.reference`] : []),
  ]);
  const { executors, orderLayout, settings } = known;
  const place = settings === undefined ? {} : { settings: settingsPlace(settings) };
  const lacking = executors === 'ours' ? lackingForFills({ orderLayout, ...place }) : [];
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
  const { limitOrder, firstInstantOrder, splashPool } = scripts;
  return {
    network,
    addressNetwork: addressNetwork(network),
    ...{ curve, fees, thresholdLovelace, refundAfterMs, orderLayout },
    ...{ executorKeyHash, feeKeyHash, collateralKeyHash },
    ...(executors === 'ours' ? {} : { executors: executors === 'any' ? null : executors }),
    ...{ metadataAddress, tokenPolicyTemplate, launchPolicyId },
    ...(known.settings === undefined ? {} : { settings: settingsPlace(known.settings) }),
    ...(known.splashOrder === undefined ? {} : { splashOrder: known.splashOrder }),
    scripts: {
      ...{ curvePool, order },
      ammPool: knownScript(scripts.ammPool),
      vesting: knownScript(scripts.vesting),
      ...knownScripts({ limitOrder, firstInstantOrder, splashPool }),
    },
  };
}

function knownScripts<Name extends string>(
  scripts: Readonly<Record<Name, ReadScript | undefined>>,
): Partial<Record<Name, KnownScript | null>> {
  const found: Partial<Record<Name, KnownScript | null>> = {};
  for (const name in scripts) {
    const script = scripts[name];
    if (script !== undefined) found[name] = knownScript(script);
  }
  return found;
}

function knownScript({ hash, reference }: ReadScript): KnownScript | null {
  return hash === null ? null : { hash, ref: reference };
}

function settingsPlace(found: NonNullable<ParsedFile['settings']>): SettingsPlace {
  const { reference: ref, ...others } = found;
  return { ...others, ref };
}

function mainScripts({ scripts }: ParsedFile) {
  const { limitOrder: _, firstInstantOrder: __, splashPool: ___, ...main } = scripts;
  return main;
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
    ...{ metadataAddress, tokenPolicyTemplate, settings: settingsPlace(settings) },
    scripts: {
      launchPolicy: referenceScript(scripts.launchPolicy),
      curvePool: referenceScript(scripts.curvePool),
      order: referenceScript(scripts.order),
      ammPool: referenceScript(scripts.ammPool),
      vesting: referenceScript(scripts.vesting),
    },
  };
}

function referenceScript({ hash, reference }: ReadScript): ReferenceScript {
  assert(hash !== null && reference !== null, 'nothing is missing');
  return { hash, ref: reference };
}

function enterpriseAddress(hash: string, network: PartialDeployment['addressNetwork']): string {
  return formatAddress({ network, payment: { kind: 'key', hash }, stake: null, pointer: false });
}

/** The code of the scripts, hex, by name. */
type Code = Readonly<Record<keyof Deployment['scripts'], string>>;

/**
 * The file that `readDeployment` reads. `start`: following begins after this block. `code`: the
 * scripts, to compare with the compiled sources; absent: not written.
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
