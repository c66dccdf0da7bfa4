/**
 * Wallets that extensions put into the page. Their answers are not trusted: every answer is checked
 * before it is used, every refusal becomes a message. Source: CIP-30.
 */
import { ApiError } from '../../client/index.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { t } from '../messages.ts';
import { walletError } from './connectedWallet.ts';

/** The interface that an extension offers before the user has agreed. */
export interface Extension {
  /** Its key in `window.cardano`. */
  readonly id: string;
  readonly name: string;
  /** A data URI of an image; null where it gives none. */
  readonly icon: string | null;
  enable(): Promise<ExtensionApi>;
}

export interface ExtensionApi {
  /** 1 is mainnet, 0 any testnet. */
  networkId(): Promise<number>;
  /** Bytes, hex. */
  changeAddress(): Promise<string>;
  /** CBOR of a value, hex. */
  balance(): Promise<string>;
  /** CBOR of `[input, output]` each, hex. */
  utxos(): Promise<readonly string[]>;
  /** CBOR of a witness set, hex. */
  signTx(cbor: string): Promise<string>;
}

/** Wallets hang after a crash of their extension; people take their time to agree. */
const ANSWER_MS = 30_000;
const AGREE_MS = 600_000;
const MAX_EXTENSIONS = 30;
const ICON = /^data:image\/(png|jpeg|gif|svg\+xml|webp)[;,]/;
const HEX = /^([0-9a-fA-F]{2})+$/;

/** The extensions that are in the page now, once each, by name. */
export function extensionsIn(page: object, clock: Clock): Extension[] {
  const offered: unknown = Reflect.get(page, 'cardano');
  if (!isObject(offered)) return [];
  const found = new Map<unknown, Extension>();
  for (const id of Object.keys(offered).slice(0, MAX_EXTENSIONS)) {
    const entry: unknown = Reflect.get(offered, id);
    // Some put themselves in twice, under an old key and a new one.
    if (!isObject(entry) || found.has(entry)) continue;
    if (typeof Reflect.get(entry, 'enable') !== 'function') continue;
    if (typeof Reflect.get(entry, 'apiVersion') !== 'string') continue;
    found.set(entry, extensionOf(id, entry, clock));
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function extensionOf(id: string, entry: object, clock: Clock): Extension {
  const name: unknown = Reflect.get(entry, 'name');
  const icon: unknown = Reflect.get(entry, 'icon');
  return {
    id,
    name: typeof name === 'string' && name.trim() !== '' ? name.slice(0, 40) : id,
    icon: typeof icon === 'string' && ICON.test(icon) ? icon : null,
    async enable() {
      const api = await askerOf(entry, clock)('enable', [], AGREE_MS);
      if (!isObject(api)) throw walletError(t.extension.noApi);
      return apiOf(askerOf(api, clock));
    },
  };
}

function apiOf(ask: Asker): ExtensionApi {
  return {
    async networkId() {
      const answer = await ask('getNetworkId');
      if (typeof answer === 'number') return answer;
      throw walletError(t.extension.noNetwork);
    },
    changeAddress: async () => hexOf(await ask('getChangeAddress'), 'address'),
    balance: async () => hexOf(await ask('getBalance'), 'balance'),
    async utxos() {
      const answer = await ask('getUtxos');
      if (answer === null || answer === undefined) return [];
      if (!Array.isArray(answer)) throw walletError(t.extension.noOutputs);
      return answer.map((each: unknown) => hexOf(each, 'output'));
    },
    // Partly: the server signs for the collateral that it puts in.
    signTx: async (cbor) => hexOf(await ask('signTx', [cbor, true], AGREE_MS), 'signature'),
  };
}

function hexOf(answer: unknown, what: keyof typeof t.extension.unreadable): string {
  if (typeof answer === 'string' && HEX.test(answer)) return answer;
  throw walletError(t.extension.unreadable[what]);
}

type Asker = (method: string, args?: readonly unknown[], limitMs?: number) => Promise<unknown>;

function askerOf(wallet: object, clock: Clock): Asker {
  return async (name, args = [], limitMs = ANSWER_MS) => {
    const method: unknown = Reflect.get(wallet, name);
    if (typeof method !== 'function') throw walletError(t.extension.cannot({ method: name }));
    const late = Promise.withResolvers<never>();
    const timer = clock.after(limitMs, () =>
      late.reject(walletError(t.extension.noAnswer({ method: name }))),
    );
    try {
      return await Promise.race([Reflect.apply(method, wallet, args), late.promise]);
    } catch (error) {
      throw error instanceof ApiError ? error : walletError(wordsOf(error));
    } finally {
      timer.cancel();
    }
  };
}

/** `APIError`, `TxSignError` and whatever else extensions throw. */
function wordsOf(error: unknown): string {
  const code: unknown = isObject(error) ? Reflect.get(error, 'code') : null;
  const texts = isObject(error) ? [Reflect.get(error, 'info'), Reflect.get(error, 'message')] : [];
  const info = texts.find((text) => typeof text === 'string' && text !== '') ?? null;
  const said = info === null ? '' : ` ${t.extension.said({ words: String(info).slice(0, 300) })}`;
  if (code === -3 || code === 2) return `${t.extension.declined}${said}`;
  if (code === -4) return `${t.extension.accountChanged}${said}`;
  if (code === 1) return `${t.extension.noKey}${said}`;
  return info === null
    ? t.extension.failed({ words: String(error).slice(0, 300) })
    : `${t.extension.refused}${said}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
