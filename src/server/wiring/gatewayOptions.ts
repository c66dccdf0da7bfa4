import type { GatewayOptions } from '../../api/gateway/options.ts';
import type { Settings } from '../settings/table.ts';

/** The gateway's settings, in the gateway's own names and units. */
export function gatewayOptionsOf(settings: Settings) {
  const { RATE_READS_PER_S, RATE_READS_BURST, RATE_BUILDS_PER_S, RATE_LAUNCHES_PER_MIN } = settings;
  return {
    sharePort: settings.PORT_SHARED,
    trustedProxies: settings.TRUSTED_PROXIES,
    publicUrl: settings.PUBLIC_URL ?? '',
    limitLoopback: settings.RATE_LIMIT_LOOPBACK,
    reads: { perSecond: RATE_READS_PER_S, burst: RATE_READS_BURST },
    builds: { perSecond: RATE_BUILDS_PER_S, burst: RATE_BUILDS_PER_S },
    launches: { perSecond: RATE_LAUNCHES_PER_MIN / 60, burst: RATE_LAUNCHES_PER_MIN },
    maxSocketsPerAddress: settings.MAX_SOCKETS_PER_ADDRESS,
  } satisfies Partial<GatewayOptions>;
}
