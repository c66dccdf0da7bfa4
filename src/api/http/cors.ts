/** CORS as api.md section 0 says: every origin, no credentials. Lines start with CRLF. */
const EXPOSED =
  'X-Position, X-Slot, X-Block-Hash, X-Next-To, ETag, Retry-After, ' +
  'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset';

/** On every answer, after `Access-Control-Allow-Origin: *`. */
export const CORS_LINES = `\r\nAccess-Control-Expose-Headers: ${EXPOSED}`;

export function preflightLines(methods: string): string {
  return [
    CORS_LINES,
    `Access-Control-Allow-Methods: ${methods}`,
    'Access-Control-Allow-Headers: Content-Type, If-None-Match',
    'Access-Control-Max-Age: 86400',
  ].join('\r\n');
}
