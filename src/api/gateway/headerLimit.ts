/**
 * Limits the request line and the headers together. uWebSockets.js reads the limit from the
 * environment when it loads, so this file must be imported before it.
 */
export const MAX_HEAD_BYTES = 8_192;

process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(MAX_HEAD_BYTES);
