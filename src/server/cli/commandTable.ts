/**
 * Every command of the command line with its options. The parser, `help` and the completion of
 * shells read this table.
 */

interface OptionRow {
  /** Name of the value, in the help; absent: a flag. */
  readonly value?: string;
  readonly about: string;
}

interface CommandRow {
  /** The help lists commands by group. */
  readonly group: 'data' | 'server' | 'wallet';
  /** Each way to call it, without its name: its arguments, and a description. */
  readonly uses: readonly (readonly [args: string, about: string])[];
  readonly options: Readonly<Record<string, OptionRow>>;
}

const PACE = {
  pace: { value: 'N', about: "pace of a devnet's simulated traders (default 1, 0 is none)" },
  'no-traders': { about: 'the same as --pace 0' },
} as const;

const URL_OPTION = {
  url: { value: 'URL', about: 'the server (default http://127.0.0.1:8080)' },
} as const;

const WALLET = {
  ...URL_OPTION,
  wallet: { value: 'FILE', about: 'the key file (default ./wallet.json)' },
  'no-wait': { about: 'do not wait for the block, or for the fill of an order' },
  json: { about: 'one JSON object instead of text; amounts are texts' },
} as const;

const TERMS = {
  slippage: { value: '15', about: 'percent that the price may fall: 15, 30, 50, 75, infinity' },
  'min-output': { value: 'N', about: 'instead: the least you take, in tokens (buy) or ADA (sell)' },
  'wait-for': {
    value: '7d',
    about: 'wait so long for a price that gives --min-output: 10m to 30d',
  },
} as const;

const COMMANDS = {
  serve: {
    group: 'data',
    uses: [['', 'serve what is in DATA_DIR (also without its name)']],
    options: {
      ...PACE,
      from: {
        value: 'SLOT.HASH',
        about: 'follow mainnet, preprod or preview from behind this block (or: origin)',
      },
      verify: { about: 'the same as the command verify' },
    },
  },
  cluster: {
    group: 'data',
    uses: [['', 'a nats-server and nodes of one market, from PORT on']],
    options: {
      nodes: { value: '3', about: 'how many, 1 to 50 (default 3)' },
      readers: {
        value: '0',
        about: 'so many never lead and have no keys and no chain (default 0)',
      },
      'one-port': { about: 'all serve on PORT, and say how they are on the ports after it' },
      ...PACE,
    },
  },
  devnet: {
    group: 'data',
    uses: [['', 'a Cardano devnet alone, for any program: Ogmios, Kupo']],
    options: {
      'ogmios-port': { value: '1337', about: 'of Ogmios (default 1337)' },
      'kupo-port': { value: '1442', about: 'of Kupo (default 1442)' },
      ogmios: { value: '6|7', about: 'the version of Ogmios that it speaks as (default 6)' },
      pace: { value: '1000', about: 'ms between blocks; 0: on demand' },
      genesis: { value: 'FILE', about: 'what a new chain begins with (default: three wallets)' },
      launchpad: { about: 'or with what a market needs: scripts, and wallets of KEYS_FILE' },
      parameters: {
        value: 'FILE',
        about: "protocol parameters: Ogmios' JSON (default: mainnet's)",
      },
      'allow-host': { value: 'NAME', about: 'another host name under which programs reach it' },
    },
  },
  replay: {
    group: 'data',
    uses: [['FILE', 'feed trades (NDJSON, .gz too; - is stdin), then serve']],
    options: {
      speed: { value: 'N|max', about: 'feed time per wall time (default max)' },
      lateness: { value: '60s', about: 'how late a trade may come: 500ms, 60s, 5m (default 60s)' },
      'allow-future': { about: 'take trades of a time more than a day ahead of the clock' },
      'allow-past': { about: 'take trades of a time before 2009' },
      strict: { about: 'end with code 1 if any line is refused, not only if most are' },
      exit: { about: 'stop after the file' },
    },
  },
  import: {
    group: 'data',
    uses: [['DIR', 'the same with the trades of an export, checked first']],
    options: { exit: { about: 'stop after the last trade' } },
  },
  deploy: {
    group: 'data',
    uses: [['', 'put our validators on a test network']],
    options: {
      network: { value: 'NAME', about: 'preprod or preview; its keys are named as below' },
      key: { value: 'FILE', about: 'who pays: .skey of cardano-cli, or hex (default: executor)' },
      'dry-run': { about: 'show the transactions and what they cost, and send none' },
      out: { value: 'FILE', about: 'where to write it (default ./deployment.NAME.json)' },
      parameters: {
        value: 'FILE',
        about: 'curve, thresholdLovelace and fees (default: the usual)',
      },
      signers: {
        value: 'FILE',
        about: 'who may rotate executor and fee address: required, keyHashes',
      },
      check: { value: 'FILE', about: 'instead: is what it names what the sources compile to?' },
    },
  },
  refund: {
    group: 'data',
    uses: [['[ORDER]', 'give an order that is due (TX:INDEX; or all) back']],
    options: {
      network: { value: 'NAME', about: 'preprod, preview (DEPLOYMENT_FILE) or devnet' },
      key: { value: 'FILE', about: 'any key with 5 ADA as collateral; a devnet: fee' },
      'dry-run': { about: 'show what is due, and send nothing' },
    },
  },
  rotate: {
    group: 'data',
    uses: [
      ['make', 'write a transaction: another executor or fee address'],
      ['sign FILE', 'add a signature of one of the signers; needs no node'],
      ['submit FILE...', 'send it, with the signatures of all these files'],
    ],
    options: {
      network: { value: 'NAME', about: 'preprod, preview (DEPLOYMENT_FILE) or devnet' },
      key: {
        value: 'FILE',
        about: 'who pays or signs; a devnet: fee pays; executor, fee, faucet sign',
      },
      executor: { value: 'HASH', about: 'key hash of the executor from now on' },
      'fee-address': { value: 'ADDRESS', about: 'where fees go from now on' },
      'no-funding': { about: 'without the outputs of 20 ADA that batches need at the fee address' },
      out: { value: 'FILE', about: 'where to write it (default ./rotation.json)' },
    },
  },
  verify: {
    group: 'data',
    uses: [['', 'compare the state with a rebuild from the log']],
    options: { verify: { about: 'itself, as an option' } },
  },
  reset: {
    group: 'data',
    uses: [['', "move a devnet's chain and market aside, to begin again"]],
    options: {},
  },
  help: {
    group: 'data',
    uses: [['[COMMAND]', 'commands and settings, or one command with its options']],
    options: {},
  },
  completion: {
    group: 'data',
    uses: [['bash|zsh', 'a shell function `upcurve` that completes what follows']],
    options: {},
  },
  watch: {
    group: 'server',
    uses: [['[TOKEN]', 'a list of pools, or candles of a token, live; q ends it']],
    options: {
      list: {
        value: 'Latest',
        about: 'New, Latest, Trending, MCapDesc, CompletedCreateOn or CompletedMCap',
      },
      once: { about: 'one picture, then exit' },
      ...URL_OPTION,
    },
  },
  book: {
    group: 'server',
    uses: [['TOKEN', 'depth of its pool and limit orders, live; q ends it']],
    options: {
      digits: { value: '3', about: 'significant digits of the prices: 3 or 4' },
      once: { about: 'one picture, then exit' },
      ...URL_OPTION,
    },
  },
  load: {
    group: 'server',
    uses: [['URL', 'a load tester that checks each frame; writes JSON and HTML']],
    options: {
      scenario: { value: 'FILE', about: 'the load as YAML, instead of the next five options' },
      sockets: { value: '100', about: 'connections (default 100; with --routes 0)' },
      transport: { value: 'websocket', about: 'websocket, msgpack, sse; several with commas' },
      topics: { value: 'LastBar', about: 'of each connection (default LastBar,Trades,OrderBook)' },
      routes: { value: '/PATH', about: 'paths to ask for; {hot} is one of the busiest tokens' },
      rate: { value: '100', about: 'requests a second, of all routes together' },
      duration: { value: '30s', about: 'behind the ramp (default 30s)' },
      ramp: { value: '5s', about: 'connections open over this time (default 5s)' },
      threads: { value: '2', about: 'that share the load, 1 to 64 (default 2)' },
      'api-key': { value: 'KEY', about: 'for the limits of a key' },
      metrics: { value: 'URL', about: "where the server's CPU is read (default URL/metrics)" },
      out: { value: 'NAME', about: 'writes NAME.json and NAME.html (default ./load)' },
    },
  },
  conform: {
    group: 'server',
    uses: [['URL', 'which promises of the documents a server keeps; a table']],
    options: {
      devnet: { about: "also what needs a devnet's faucet and forks, which change its chain" },
      wait: { value: '20s', about: 'how long it waits for a change of the market (default 20s)' },
      badge: { value: 'FILE', about: 'writes an SVG for a README' },
    },
  },
  export: {
    group: 'server',
    uses: [['--pair TOKEN', 'its trades, a file and its SHA-256 for each day']],
    options: {
      pair: { value: 'TOKEN', about: 'ticker or id, or several with commas between' },
      resolution: { value: 'min1', about: 'bars instead; or min3, min5, … month1' },
      format: { value: 'csv', about: 'csv, ndjson or parquet (default csv)' },
      from: { value: 'DAY', about: 'first day, UTC: 2026-11-01 (default: all)' },
      to: { value: 'DAY', about: 'last day' },
      out: { value: 'DIR', about: 'where to write (default ./dump)' },
      ...URL_OPTION,
    },
  },
  mcp: {
    group: 'server',
    uses: [['', 'tools for agents (MCP) on stdin and stdout; asks first']],
    options: {
      ...URL_OPTION,
      wallet: { value: 'FILE', about: 'the key file (default ./wallet.json)' },
    },
  },
  wallet: {
    group: 'wallet',
    uses: [
      ['new', 'make a key file; an existing one is never written over'],
      ['faucet [ADA]', 'coins of a devnet (default 1000)'],
      ['balance', 'what the wallet holds'],
    ],
    options: WALLET,
  },
  launch: {
    group: 'wallet',
    uses: [['--name N --ticker T', 'a new token']],
    options: {
      name: { value: 'NAME', about: 'up to 16 characters' },
      ticker: { value: 'TICKER', about: 'up to 6 letters and digits' },
      initial: { value: 'ADA', about: 'buy the first tokens in the same transaction' },
      description: { value: 'TEXT', about: 'what it is about' },
      image: { value: 'FILE', about: 'PNG, JPEG or GIF (default: one made from the name)' },
      hyped: { about: 'the hyped curve' },
      ai: { about: 'list it as AI' },
      twitter: { value: 'URL', about: 'a link, as the next three' },
      discord: { value: 'URL', about: '' },
      telegram: { value: 'URL', about: '' },
      website: { value: 'URL', about: '' },
      ...WALLET,
    },
  },
  buy: {
    group: 'wallet',
    uses: [
      ['TOKEN ADA', 'spend so much; TOKEN is an id or a ticker'],
      ['TOKEN --tokens N', 'buy exactly so many'],
    ],
    options: { tokens: { value: 'N', about: 'exactly so many' }, ...TERMS, ...WALLET },
  },
  sell: {
    group: 'wallet',
    uses: [['TOKEN N|all', 'sell so many']],
    options: { ...TERMS, ...WALLET },
  },
  cancel: {
    group: 'wallet',
    uses: [['ORDER', 'take an open order back; ORDER is <tx>:<index>']],
    options: WALLET,
  },
  lock: {
    group: 'wallet',
    uses: [['TOKEN N', 'lock so many in vesting']],
    options: {
      for: { value: '90s', about: 'how long: 90s, 30m, 2h, 7d' },
      until: { value: 'MOMENT', about: 'or until when: 2030-01-31T12:00Z' },
      stages: { value: 'N', about: 'unlock in so many equal steps (default 1)' },
      ...WALLET,
    },
  },
  withdraw: {
    group: 'wallet',
    uses: [['[LOCK]', 'take an open lock back; without an id, list them']],
    options: WALLET,
  },
} as const satisfies Readonly<Record<string, CommandRow>>;

export type CommandName = keyof typeof COMMANDS;

/** Of any command. */
export type OptionName = {
  [Name in CommandName]: keyof (typeof COMMANDS)[Name]['options'];
}[CommandName];

export const COMMAND_NAMES = Object.keys(COMMANDS);

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

export function commandRow(name: CommandName): CommandRow {
  return COMMANDS[name];
}
