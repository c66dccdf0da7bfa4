/** The CIP-57 schemas of the blueprint: datums, redeemers and parameters of `onchain.md`. */
import type { ValidatorName } from '../../../src/cardano/validators/deploy.ts';

export type Schema = { readonly [key: string]: unknown };

const int = (title: string): Schema => ({ title, dataType: 'integer' });
const bytes = (title: string): Schema => ({ title, dataType: 'bytes' });
const ref = (title: string, name: string): Schema => ({ title, $ref: `#/definitions/${name}` });
const variant = (title: string, index: number, fields: readonly Schema[]): Schema => ({
  title,
  dataType: 'constructor',
  index,
  fields,
});
/** A choice of constructors, numbered in the order given. */
const oneOf = (title: string, cases: Readonly<Record<string, readonly Schema[]>>): Schema => ({
  title,
  anyOf: Object.entries(cases).map(([name, fields], index) => variant(name, index, fields)),
});
const record = (title: string, ...fields: readonly Schema[]): Schema =>
  oneOf(title, { [title]: fields });

export const DEFINITIONS: Readonly<Record<string, Schema>> = {
  Asset: record('Asset', bytes('policy'), bytes('name')),
  OutputReference: record('OutputReference', ref('transaction', 'TransactionId'), int('index')),
  TransactionId: record('TransactionId', bytes('hash')),
  Credential: oneOf('Credential', { Key: [bytes('hash')], Script: [bytes('hash')] }),
  Stake: oneOf('Stake', {
    Hash: [ref('credential', 'Credential')],
    Pointer: [int('slot'), int('transaction'), int('certificate')],
  }),
  MaybeStake: oneOf('MaybeStake', { Some: [ref('stake', 'Stake')], None: [] }),
  Address: record('Address', ref('payment', 'Credential'), ref('stake', 'MaybeStake')),
  Ratio: record('Ratio', int('numerator'), int('denominator')),
  LaunchId: record(
    'LaunchId',
    ref('seed', 'OutputReference'),
    bytes('creator'),
    bytes('creatorStake'),
  ),
  CurvePool: record(
    'CurvePool',
    ref('nft', 'Asset'),
    ref('coin', 'Asset'),
    ref('token', 'Asset'),
    int('aNum'),
    int('bNum'),
    bytes('executor'),
    int('capLovelace'),
    bytes('ammValidator'),
    bytes('settings'),
  ),
  AmmPool: record(
    'AmmPool',
    ref('nft', 'Asset'),
    ref('coin', 'Asset'),
    ref('token', 'Asset'),
    int('lpFeePer10000'),
    bytes('executor'),
    bytes('creator'),
    bytes('creatorStake'),
    int('owedLovelace'),
    bytes('settings'),
  ),
  Settings: record('Settings', bytes('executor'), ref('fee', 'Address')),
  Once: record('Once', ref('seed', 'OutputReference')),
  Order: record(
    'Order',
    bytes('tag'),
    ref('redeemer', 'Address'),
    ref('input', 'Asset'),
    ref('output', 'Asset'),
    ref('worstPrice', 'Ratio'),
    int('executorFeeLovelace'),
    int('depositLovelace'),
    bytes('executor'),
    int('refundAfterMs'),
    bytes('owner'),
    ref('market', 'Asset'),
  ),
  Lock: record('Lock', int('unlockMs'), bytes('owner')),
  Deployment: record(
    'Deployment',
    ref('pool', 'Address'),
    int('aNum'),
    int('bNum'),
    int('capLovelace'),
    bytes('ammValidator'),
    bytes('settings'),
  ),
  Launch: record('Launch', bytes('launchPolicy'), bytes('nftName')),
};

/** The parts of a validator's blueprint other than its code. */
interface Interface {
  readonly description: string;
  readonly parameters?: readonly Schema[];
  readonly datum?: Schema;
  readonly redeemer: Schema;
}

const argument = (title: string, schema: Schema): Schema => ({ title, schema });
const refTo = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const redeemer = (cases: Readonly<Record<string, readonly Schema[]>>): Schema =>
  argument('redeemer', oneOf('Redeemer', { ...cases, Never: [] }));

const TRADE = [
  int('index'),
  { title: 'orders', dataType: 'list', items: { dataType: 'integer' } },
] as const;

export const INTERFACES: Readonly<Record<ValidatorName, Interface>> = {
  launchPolicy: {
    description: 'Mints the NFT of a new pool. Apply the deployment before use.',
    parameters: [argument('deployment', refTo('Deployment'))],
    redeemer: redeemer({
      Launch: [ref('id', 'LaunchId'), int('poolOutputIndex'), ref('token', 'Asset')],
    }),
  },
  tokenPolicy: {
    description: 'Mints the supply of one launch. Apply launch policy and NFT name before use.',
    parameters: [argument('launch', refTo('Launch'))],
    redeemer: redeemer({ Mint: [bytes('name')] }),
  },
  curvePool: {
    description: 'A pool on its bonding curve, until it graduates.',
    datum: argument('pool', refTo('CurvePool')),
    redeemer: redeemer({ Trade: TRADE, Graduate: [int('index'), ref('id', 'LaunchId')] }),
  },
  order: {
    description: 'An order: executed, refunded, or cancelled by its owner.',
    datum: argument('order', refTo('Order')),
    redeemer: redeemer({
      Cancel: [],
      Execute: [int('index'), int('poolIndex')],
      Refund: [int('index')],
    }),
  },
  ammPool: {
    description: 'A graduated pool: constant product, liquidity locked for ever.',
    datum: argument('pool', refTo('AmmPool')),
    redeemer: redeemer({ Trade: TRADE, Collect: [int('index'), int('payout')] }),
  },
  settingsPolicy: {
    description: 'Mints the NFT of the settings of a deployment. Apply the seed before use.',
    parameters: [argument('once', refTo('Once'))],
    redeemer: redeemer({ Mint: [bytes('name')] }),
  },
  vesting: {
    description: 'Locked until a time, then its owner may withdraw.',
    datum: argument('lock', refTo('Lock')),
    redeemer: redeemer({ Withdraw: [] }),
  },
};
