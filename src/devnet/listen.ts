/** Opens a port of the devnet, or says why it cannot and what to do. */
import type { Server } from 'node:http';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it: stop that one, or choose another port',
  EACCES: 'this user may not use it: choose one above 1023',
  EADDRNOTAVAIL: 'it is no address of this machine: choose another HOST',
};

export async function listen(
  server: Server,
  what: string,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    const reason = REASONS[String(code)] ?? String(error);
    throw new Error(`the devnet's ${what} cannot listen on ${host}:${port}: ${reason}`);
  }
}
