/**
 * Which check of each redeemer keeps which known fault away, by the words of its assertion; a text
 * instead of a list says why there is nothing to check. The table is in docs/validators.md, too.
 */
const FAULTS = [
  'double satisfaction',
  'unbounded value',
  'unbounded datum',
  'missing stake part',
  'reference script',
  'time range',
  'authority',
] as const;
export type Fault = (typeof FAULTS)[number];
type Checks = Readonly<Record<Fault, readonly string[] | string>>;
/** By validator and redeemer. */
export type Guards = Readonly<Record<string, Readonly<Record<string, Checks>>>>;

const TIMELESS = 'it depends on no time';
const FREE = 'the owner signs, and decides where it goes';
const PAYMENT = 'a payment to a person: more than is due costs the executor alone';

/** Checks of a redeemer that reads settings. */
const SETTINGS = [
  'settings missing',
  'two settings',
  'settings at another address',
  'settings have extra fields',
] as const;

const TRADE: Checks = {
  'double satisfaction': ['not my index', 'a script is not listed once'],
  'unbounded value': ['wrong value', 'wrong coin', 'wrong tokens'],
  'unbounded datum': ['datum changed'],
  'missing stake part': ['address changed'],
  'reference script': ['reference script on the pool'],
  'time range': TIMELESS,
  authority: [...SETTINGS, 'executor signature missing', 'order of another market'],
};

export const GUARDS: Guards = {
  launchPolicy: {
    Launch: {
      'double satisfaction': ['seed not spent', 'wrong mint'],
      'unbounded value': ['wrong pool value'],
      'unbounded datum': ['wrong pool datum'],
      'missing stake part': ['wrong pool address'],
      'reference script': ['reference script on the pool'],
      'time range': TIMELESS,
      authority: [...SETTINGS, 'creator signature missing'],
    },
  },
  tokenPolicy: {
    Mint: {
      'double satisfaction': ['launch NFT not minted'],
      'unbounded value': ['more than one asset name', 'another asset name', 'wrong supply'],
      'unbounded datum': 'it makes no output',
      'missing stake part': 'it makes no output',
      'reference script': 'it makes no output',
      'time range': TIMELESS,
      authority: ['launch NFT not minted'],
    },
  },
  settingsPolicy: {
    Mint: {
      'double satisfaction': ['seed not spent'],
      'unbounded value': ['more than one asset name', 'another asset name', 'more than one NFT'],
      'unbounded datum': 'it makes no output: readers of the settings compare them',
      'missing stake part': 'it makes no output: readers of the settings compare it',
      'reference script': 'it makes no output',
      'time range': TIMELESS,
      authority: ['seed not spent'],
    },
  },
  curvePool: {
    Trade: { ...TRADE, 'unbounded value': ['wrong value', 'wrong coin', 'wrong tokens'] },
    Graduate: {
      'double satisfaction': ['not my index', 'another script beside it'],
      'unbounded value': ['value changed'],
      'unbounded datum': ['wrong datum'],
      'missing stake part': ['wrong address'],
      'reference script': ['reference script on the pool'],
      'time range': TIMELESS,
      authority: [...SETTINGS, 'executor signature missing', 'cap not reached'],
    },
  },
  ammPool: {
    Trade: TRADE,
    Collect: {
      'double satisfaction': [
        'not my index',
        'payout belongs to an input',
        'another script beside it',
      ],
      'unbounded value': ['wrong value', 'tokens changed'],
      'unbounded datum': ['wrong datum'],
      'missing stake part': ['address changed', 'payout to another'],
      'reference script': ['reference script on the pool'],
      'time range': TIMELESS,
      authority: [...SETTINGS, 'executor signature missing'],
    },
  },
  order: {
    Cancel: {
      'double satisfaction': FREE,
      'unbounded value': FREE,
      'unbounded datum': FREE,
      'missing stake part': FREE,
      'reference script': FREE,
      'time range': TIMELESS,
      authority: ['owner signature missing'],
    },
    Execute: {
      'double satisfaction': ['not my index'],
      'unbounded value': ['below worst price', 'deposit not returned'],
      'unbounded datum': PAYMENT,
      'missing stake part': ['wrong address'],
      'reference script': ['reference script on the payment'],
      'time range': TIMELESS,
      authority: ["not the order's market"],
    },
    Refund: {
      'double satisfaction': ['not my index'],
      'unbounded value': ['wrong refund'],
      'unbounded datum': 'a payment to a person',
      'missing stake part': ['wrong address'],
      'reference script': ['reference script on the refund'],
      'time range': ['too early'],
      authority: 'anybody may, once it is due',
    },
  },
  vesting: {
    Withdraw: {
      'double satisfaction': FREE,
      'unbounded value': FREE,
      'unbounded datum': FREE,
      'missing stake part': FREE,
      'reference script': FREE,
      'time range': ['still locked'],
      authority: ['owner signature missing'],
    },
  },
};

/** Places where a pattern of a fault stands, looked at, with the reason why it is none. */
export const REVIEWED: Readonly<Record<string, string>> = {
  'market: .credential.switch {': 'which inputs are scripts: their stake part does not matter',
  'market: / by': 'quotient, the one place that divides: of numbers that are not negative',
  'launchPolicy: outputs.any((output: TxOutput) -> Bool {':
    'the launch fee: one launch in a transaction, because its mint is exactly one NFT and supply',
  'launchPolicy: outputs.get(launch.pool);': 'the pool: the same',
  'ammPool: outputs.get(payout);':
    'the payout: behind all inputs, and Collect is the only script of its transaction',
  'order: outputs.get(index);': 'the refund: of the own index, which belongs to this input',
};
