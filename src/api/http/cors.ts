/** CORS as protocol.md section 0 says: every origin, no credentials. */
const EXPOSED =
  'X-Position, X-Slot, X-Block-Hash, X-Next-To, X-Next-Before, ETag, Retry-After, ' +
  'RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, ' +
  'Idempotency-Replayed';

const SENT =
  'Content-Type, If-None-Match, X-Min-Position, Authorization, Idempotency-Key, Last-Event-ID';

/** On every answer: the value of Access-Control-Allow-Origin, and the line after it. */
export const CORS_LINES = `*\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;

/** The same for all paths; `Allow` lists the methods of one path. */
export const PREFLIGHT_LINES = [
  CORS_LINES,
  'Access-Control-Allow-Methods: GET, HEAD, POST, DELETE, OPTIONS',
  `Access-Control-Allow-Headers: ${SENT}`,
  'Access-Control-Max-Age: 86400',
].join('\r\n');
