/**
 * The connection to NATS: the only import of its client. It reconnects for ever. A request made
 * while it is down fails and is not queued: the caller repeats it.
 *
 * Never: puts the secrets of NATS_URL into a message.
 */
import { readFileSync } from 'node:fs';
import {
  type ConnectionOptions,
  connect,
  createInbox,
  credsAuthenticator,
  errors,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { Fault } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { Messages } from './messages.ts';

export type { ConnectionOptions, Msg, MsgHdrs, NatsConnection };
export { createInbox, headers, nanos };

export interface NatsSettings {
  /** `nats://user:password@host:4222` or `tls://…`; servers of a cluster separated by commas. */
  readonly url: string;
  /** The name under which the server lists this connection. */
  readonly name: string;
  /** File with the JWT and seed of a user, where the server requires them. */
  readonly credsFile?: string | undefined;
  /** File with a user's NKEY seed (`SU…`). */
  readonly nkeyFile?: string | undefined;
  /** PEM: the authority of the servers' certificates, unless the system knows it. */
  readonly caFile?: string | undefined;
  /** PEM: our client certificate, and its key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly connectTimeoutMs?: number;
}

/** Makes the connection; a simulation connects in memory. */
export type DialNats = (options: ConnectionOptions) => Promise<NatsConnection>;

type NatsStatus =
  | { readonly status: 'disconnected' }
  | { readonly status: 'reconnected' }
  /** Closed by us, or because the server refuses us for good. */
  | { readonly status: 'closed' };

const CONNECT_TIMEOUT_MS = 5_000;
/** Two pings without an answer are a lost connection: a cut network is noticed within 6 s. */
const PING_EVERY_MS = 2_000;
const RECONNECT_MS = 100;
const RECONNECT_JITTER_MS = 200;
const NEVER = new Promise<never>(() => {});
/** Base 32; the second letter is the kind of the key. */
const NKEY_SEED = /\bSU[A-Z2-7]{56}\b/;

/** Connects once; the Failure says what to do. A connection that is lost later reconnects. */
export async function connectNats(
  settings: NatsSettings,
  rng: Rng,
  dial: DialNats = connect,
): Promise<NatsLink | Failure> {
  const options = optionsOf(settings, rng);
  if (options instanceof Failure) return options;
  try {
    const connection = await dial(options);
    if (connection.info?.jetstream === true) return new NatsLink(connection);
    await connection.close();
    return unusable(settings, 'it runs without JetStream; start it with -js or a jetstream block');
  } catch (error) {
    return unusable(settings, adviceFor(error));
  }
}

export class NatsLink {
  readonly connection: NatsConnection;
  /** Reads what NATS delivers. */
  readonly messages = new Messages();
  readonly #listeners = new Set<(status: NatsStatus) => void>();
  readonly #refusalListeners = new Set<(why: string) => void>();
  #connected = true;

  constructor(connection: NatsConnection) {
    this.connection = connection;
    void this.#listen();
  }

  get connected(): boolean {
    return this.#connected && !this.connection.isClosed();
  }

  /** Answers a function that removes the listener. */
  onStatus(listener: (status: NatsStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The server refused a request, mostly for want of a permission. */
  onRefusal(listener: (why: string) => void): void {
    this.#refusalListeners.add(listener);
  }

  /** The result of `run`. Throws `natsSilent` without an answer, at once without a connection. */
  async whileConnected<T>(run: () => Promise<T>): Promise<T> {
    if (!this.connected) throw silent('there is no connection to NATS');
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = this.onStatus(({ status }) => {
      if (status !== 'reconnected') reject(silent('the connection to NATS was lost'));
    });
    try {
      return await Promise.race([run(), promise]);
    } catch (error) {
      // JetStream says 503 while it, or a stream, has no leader.
      const isUnable = error instanceof Error && 'status' in error && error.status === 503;
      const isSilent = isUnable || SILENCE.some((kind) => error instanceof kind);
      throw isSilent ? silent(String(error), error) : error;
    } finally {
      stop();
    }
  }

  /**
   * Sends pending messages, then closes; requests without an answer reject. Once `givenUp` resolves
   * it closes at once, because a frozen server never takes the pending messages.
   */
  async close(givenUp: Promise<unknown> = NEVER): Promise<void> {
    if (this.connection.isClosed()) return;
    // Messages that were not drained before the connection ended are lost.
    if (this.#connected) await Promise.race([this.connection.drain().catch(() => {}), givenUp]);
    await this.connection.close();
    leaveSocket(this.connection);
  }

  async #listen(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') this.#setStatus({ status: 'disconnected' }, false);
      if (status.type === 'reconnect') this.#setStatus({ status: 'reconnected' }, true);
      if (status.type !== 'error') continue;
      for (const listener of this.#refusalListeners) listener(status.error.message);
    }
    this.#setStatus({ status: 'closed' }, false);
  }

  #setStatus(status: NatsStatus, connected: boolean): void {
    this.#connected = connected;
    for (const listener of [...this.#listeners]) listener(status);
  }
}

/** Errors of the client when the server is away, is late or refuses us. */
const SILENCE = [
  errors.AuthorizationError,
  errors.ClosedConnectionError,
  errors.ConnectionError,
  errors.DrainingConnectionError,
  errors.NoRespondersError,
  errors.PermissionViolationError,
  errors.RequestError,
  errors.TimeoutError,
  errors.UserAuthenticationExpiredError,
];

function silent(message: string, cause?: unknown): Fault {
  return new Fault('natsSilent', message, { cause });
}

/**
 * Ends a connection that is being made, which the client does not do: to a frozen server, or a
 * machine that is gone, it would keep the process alive.
 */
function leaveSocket(connection: NatsConnection): void {
  // trust: where the client has its socket; the version is pinned, and a test checks this
  const made = connection as NatsConnection & {
    readonly protocol?: { readonly transport?: { discard?(): void } };
  };
  made.protocol?.transport?.discard?.();
}

function optionsOf(settings: NatsSettings, rng: Rng): ConnectionOptions | Failure {
  const urls = urlsOf(settings.url);
  const [first] = urls;
  if (first === undefined) {
    return new Failure('NOT_READY', 'NATS_URL is no URL; write it as nats://host:4222');
  }
  const auth = authOf(first, settings);
  if (auth instanceof Failure) return auth;
  const tls = tlsOf(urls, settings);
  if (tls instanceof Failure) return tls;
  return {
    ...auth,
    ...tls,
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '4222' : port}`),
    name: settings.name,
    timeout: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    reconnect: true,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => RECONNECT_MS + Math.floor(rng.unit() * RECONNECT_JITTER_MS),
    pingInterval: PING_EVERY_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
  };
}

function authOf(url: URL, { credsFile, nkeyFile }: NatsSettings): ConnectionOptions | Failure {
  if (credsFile !== undefined) {
    const creds = fileOf('NATS_CREDS_FILE', credsFile);
    return creds instanceof Failure ? creds : { authenticator: credsAuthenticator(creds) };
  }
  if (nkeyFile !== undefined) {
    const found = fileOf('NATS_NKEY_FILE', nkeyFile);
    if (found instanceof Failure) return found;
    const [seed] = NKEY_SEED.exec(found.toString('utf8')) ?? [];
    if (seed !== undefined) return { authenticator: nkeyAuthenticator(Buffer.from(seed)) };
    const advice = `${nkeyFile} has no seed of a user (SU…); make one with: nk -gen user`;
    return new Failure('NOT_READY', `NATS_NKEY_FILE: ${advice}`);
  }
  const user = decodeURIComponent(url.username);
  if (user === '') return {};
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}

/** The files are read again at each connection, so that a certificate can be renewed. */
function tlsOf(
  urls: readonly URL[],
  { caFile, certFile, keyFile }: NatsSettings,
): Pick<ConnectionOptions, 'tls'> | Failure {
  const files = [
    ['NATS_CA_FILE', 'caFile', caFile],
    ['NATS_CERT_FILE', 'certFile', certFile],
    ['NATS_KEY_FILE', 'keyFile', keyFile],
  ] as const;
  const tls: Partial<Record<'caFile' | 'certFile' | 'keyFile', string>> = {};
  for (const [setting, option, path] of files) {
    if (path === undefined) continue;
    const found = fileOf(setting, path);
    if (found instanceof Failure) return found;
    tls[option] = path;
  }
  const isWanted = urls.some(({ protocol }) => protocol === 'tls:') || Object.keys(tls).length > 0;
  return isWanted ? { tls } : {};
}

function fileOf(setting: string, path: string): Buffer | Failure {
  try {
    return readFileSync(path);
  } catch (error) {
    return new Failure('NOT_READY', `${setting}: ${path} cannot be read: ${String(error)}`);
  }
}

function urlsOf(text: string): URL[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .flatMap((part) => {
      const url = URL.parse(part.includes('://') ? part : `nats://${part}`);
      return url === null || url.hostname === '' ? [] : [url];
    });
}

function unusable({ url }: NatsSettings, advice: string): Failure {
  const hosts = urlsOf(url).map(({ host }) => host);
  return new Failure('NOT_READY', `NATS at ${hosts.join(', ')} cannot be used: ${advice}`);
}

function adviceFor(error: unknown): string {
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
  if (/auth/i.test(text)) return 'it refuses our user; correct NATS_URL or the credentials file';
  if (/tls|certificate|ssl/i.test(text)) {
    return `TLS failed (${text}); compare tls:// in NATS_URL with the server's settings`;
  }
  return `${text}; start nats-server there, or correct NATS_URL`;
}
