/** A server's info for a client that connects. */
import type { ServerInfo } from '@nats-io/transport-node';
import type { ModelServer } from './server.ts';

const MAX_PAYLOAD = 1024 * 1024;

export function infoOf(
  { place, index }: ModelServer,
  version: '2.9' | '2.12',
  servers: number,
  client: number,
): ServerInfo {
  return {
    server_id: `MODEL${index + 1}`,
    server_name: place,
    version: version === '2.9' ? '2.9.10' : '2.12.8',
    go: 'none',
    host: place,
    port: 4222,
    headers: true,
    jetstream: true,
    max_payload: MAX_PAYLOAD,
    proto: 1,
    client_id: client,
    ...(servers > 1 ? { cluster: 'model' } : {}),
    ...(version === '2.9' ? {} : { api_lvl: 3 }),
  };
}
