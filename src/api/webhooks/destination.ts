/**
 * Where a webhook leads. A name is resolved once for each attempt, every address is checked, and
 * the connection goes to a checked address: a name that means another address a moment later (DNS
 * rebinding) reaches nothing.
 */
import { Resolver } from 'node:dns/promises';
import { type BlockList, isIP } from 'node:net';
import { type Failure, invalidField, systemCode } from '../../engine/runtime/errors.ts';
import { isPublicAddress } from './publicAddress.ts';

/** Addresses of a name; rejects with a `code` of node:dns. */
interface AddressResolver {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

export interface Destination {
  readonly url: URL;
  /** That was checked, to connect to. */
  readonly address: string;
}

const MAX_URL_CHARACTERS = 2_048;
const RESOLVE = { timeout: 2_000, tries: 2 };
/** DNS says for certain that there is no such name, or no address of it. */
const NOWHERE: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];
const REFUSED =
  'leads to an address that is not of the public internet: ' +
  'the operator of this server may allow it with WEBHOOK_PRIVATE_RANGES';

export class Destinations {
  /** Networks of the operator that webhooks may reach, also without TLS; null: none. */
  readonly #allowed: BlockList | null;
  readonly #resolver: AddressResolver;

  constructor(allowed: BlockList | null, resolver: AddressResolver = new Resolver(RESOLVE)) {
    this.#allowed = allowed;
    this.#resolver = resolver;
  }

  /**
   * Checks a URL that a person entered. The address of its name may still change later.
   */
  async check(text: string): Promise<URL | Failure> {
    const url = this.#parse(text);
    if (typeof url === 'string') return invalidField('body.url', url);
    const found = await this.of(url, 0);
    // A name server that is away tells nothing about the name.
    if ('address' in found || !found.isCertain) return url;
    return invalidField('body.url', found.why);
  }

  /** For attempt number `attempt`: a host with several addresses gets each of them in turn. */
  async of(
    url: URL,
    attempt: number,
  ): Promise<Destination | { readonly why: string; readonly isCertain: boolean }> {
    const addresses = await this.#addressesOf(url.hostname);
    if ('why' in addresses) return addresses;
    const isSecure = url.protocol === 'https:';
    for (const each of addresses.all) {
      const isAllowed = this.#isAllowed(each);
      if (!isAllowed && !isPublicAddress(each)) return { why: REFUSED, isCertain: true };
      if (!isAllowed && !isSecure) return { why: 'must begin with https://', isCertain: true };
    }
    const address = addresses.all[attempt % addresses.all.length];
    if (address === undefined) return { why: 'has no address', isCertain: true };
    return { url, address };
  }

  #parse(text: string): URL | string {
    if (text.length > MAX_URL_CHARACTERS)
      return `must have ${MAX_URL_CHARACTERS} characters at most`;
    if (!URL.canParse(text)) return 'must be a URL, such as https://bot.example/hook';
    const url = new URL(text);
    const mayBePlain = url.protocol === 'http:' && this.#allowed !== null;
    if (url.protocol !== 'https:' && !mayBePlain) return 'must begin with https://';
    if (url.username !== '' || url.password !== '') return 'must not have a user or a password';
    if (!isWebPort(url.port)) return 'must use port 443, 80 or one from 1024 on';
    url.hash = '';
    return url;
  }

  async #addressesOf(
    hostname: string,
  ): Promise<
    { readonly all: readonly string[] } | { readonly why: string; readonly isCertain: boolean }
  > {
    const bare = hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(bare) !== 0) return { all: [bare] };
    if (/^(.*\.)?localhost\.?$/.test(bare)) return { all: ['127.0.0.1'] };
    const asked = [this.#resolver.resolve4(bare), this.#resolver.resolve6(bare)];
    const answers = await Promise.allSettled(asked);
    const all = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (all.length > 0) return { all };
    const codes = answers.map(
      (answer) => answer.status === 'rejected' && (systemCode(answer.reason) ?? 'no reason'),
    );
    const isCertain = codes.every((code) => NOWHERE.includes(code));
    const why = isCertain
      ? 'names a host that DNS does not know'
      : `DNS failed (${codes.join(', ')})`;
    return { why, isCertain };
  }

  #isAllowed(address: string): boolean {
    return this.#allowed?.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ?? false;
  }
}

/** No service of a machine itself, such as mail or a shell, listens where a webhook may go. */
function isWebPort(port: string): boolean {
  return port === '' || port === '80' || port === '443' || Number(port) >= 1024;
}
