/** Defines a command that uses a wallet, with the options that all of these have. */
import { createInterface } from 'node:readline';
import type { Slippage } from '../../../engine/market/order.ts';
import { type CliCommand, command, type OptionRow, type Shell, type Values } from '../command.ts';
import {
  BAD_URL,
  serverUrl,
  type TokenName,
  tokenName,
  URL_OPTION,
  WALLET_OPTION,
  walletFileOf,
} from './server.ts';

/** The server and the wallet. */
export interface ClientOptions {
  readonly url: string;
  readonly walletFile: string;
  /** Wait for the block, and for the fill of an order. */
  readonly wait: boolean;
  /** One JSON object instead of text. */
  readonly json: boolean;
}

export type WalletAction =
  | { readonly name: 'wallet new' }
  | { readonly name: 'wallet balance' }
  | { readonly name: 'wallet faucet'; readonly ada: number }
  | LaunchAction
  | {
      readonly name: 'buy';
      readonly token: TokenName;
      /** Lovelace to spend; null where `tokens` are named. */
      readonly lovelace: bigint | null;
      readonly tokens: bigint | null;
      readonly slippage: Slippage;
      /** Tokens; null: the slippage decides. */
      readonly minOutput: bigint | null;
      readonly waitForSeconds: number | null;
    }
  | {
      readonly name: 'sell';
      readonly token: TokenName;
      readonly tokens: bigint | 'all';
      readonly slippage: Slippage;
      /** Lovelace; null: the slippage decides. */
      readonly minOutput: bigint | null;
      readonly waitForSeconds: number | null;
    }
  | { readonly name: 'cancel'; readonly id: string }
  | LockAction
  /** null: show the locks. */
  | { readonly name: 'withdraw'; readonly id: string | null };

/** Links of a token. */
export type SocialName = 'twitter' | 'discord' | 'telegram' | 'website';

export interface LaunchAction {
  readonly name: 'launch';
  readonly tokenName: string;
  readonly ticker: string;
  readonly description: string;
  /** null: a picture is generated from the name. */
  readonly imageFile: string | null;
  readonly initialLovelace: bigint;
  readonly isHyped: boolean;
  readonly isAi: boolean;
  readonly socials: Readonly<Partial<Record<SocialName, string>>>;
}

export interface LockAction {
  readonly name: 'lock';
  readonly token: TokenName;
  readonly tokens: bigint;
  /** Exactly one is set: a duration from now, or a moment. */
  readonly forMs: number | null;
  readonly untilMs: number | null;
  readonly stages: number;
}

export interface WalletCommand {
  readonly name: 'wallet command';
  readonly action: WalletAction;
  readonly client: ClientOptions;
}

const WALLET = {
  ...URL_OPTION,
  ...WALLET_OPTION,
  'no-wait': { about: 'do not wait for the block, or for the fill of an order' },
  json: { about: 'one JSON object instead of text; amounts are texts' },
} as const;

interface WalletDefinition<Option extends string> {
  readonly name: string;
  readonly uses: CliCommand['uses'];
  readonly options: Readonly<Record<Option, OptionRow>>;
  readonly takes?: number;
  /** A string is an error message. */
  parse(rest: readonly string[], values: Values<Option>): WalletAction | string;
}

/** A command that opens the key file and asks a running server. */
export function walletCommand<const Option extends string>(
  definition: WalletDefinition<Option>,
): CliCommand<WalletCommand> {
  return command({
    ...definition,
    group: 'wallet',
    options: { ...definition.options, ...WALLET },
    parse(rest, values): WalletCommand | string {
      const url = serverUrl(values);
      if (url === null) return BAD_URL;
      const wait = values['no-wait'] !== true;
      const client = { url, walletFile: walletFileOf(values), wait, json: values.json === true };
      const action = definition.parse(rest, values);
      return typeof action === 'string' ? action : { name: 'wallet command', action, client };
    },
    async run(args, shell) {
      const { runWalletCommand } = await import('../walletCommands.ts');
      return runWalletCommand(args, { ...shell, confirm: askerOf(shell) });
    },
  });
}

export function parseToken(command: string, text = ''): TokenName | string {
  const missing = `${command} takes a ticker or the id of a token, <56 hex policy>.<hex name>`;
  return tokenName(text) ?? missing;
}

/** Asks the person at the terminal; null: there is no terminal. */
function askerOf({ input, output }: Shell): ((question: string) => Promise<boolean>) | null {
  if (!input.isTTY || !output.isTTY) return null;
  return async (question) => {
    const lines = createInterface({ input, output });
    try {
      // The end of the input is a no.
      return await new Promise((resolve) => {
        lines.once('close', () => resolve(false));
        lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
      });
    } finally {
      lines.close();
    }
  };
}
