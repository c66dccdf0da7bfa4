/**
 * Whether the ports are free, asked before a start changes anything: a start that fails late has
 * made a chain by then. A port taken in between is refused when the gateway listens.
 */
import { createServer } from 'node:net';
import type { Settings } from '../settings/table.ts';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it. Stop that one, or choose another port with',
  EACCES: 'this user may not use it. Choose one above 1023 with',
};

/** Throws with the port, why it cannot be used, and what to do. */
export async function requireFreePorts(settings: Settings): Promise<void> {
  const { HOST, ADMIN_PORT, PORT_SHARED } = settings;
  // Other nodes of this machine may listen on a shared port already.
  const PORT = PORT_SHARED ? undefined : settings.PORT;
  for (const [key, port] of Object.entries({ PORT, ADMIN_PORT })) {
    // 0 takes any free one.
    if (port === undefined || port === 0) continue;
    const code = await listenErrorCode(HOST, port);
    if (code === null) continue;
    const reason = REASONS[code];
    if (reason === undefined) {
      throw new Error(`cannot listen on HOST=${HOST}: ${code}. Is it an address of this machine?`);
    }
    throw new Error(`cannot listen on ${HOST}:${port}: ${reason} ${key}=…`);
  }
}

/** The code of the system's error, such as EADDRINUSE; null when it can be listened on. */
function listenErrorCode(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
