/** How a delivery is signed: our own header, and that of Standard Webhooks 1.0. */
import { createHmac } from 'node:crypto';

/** `t=<Unix seconds>,v1=<HMAC-SHA256 of "<t>.<body>" in hex>`. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}

/** `v1,<HMAC-SHA256 of "<id>.<t>.<body>" in base64>`, one for each reading of the secret. */
export function standardSignature(
  secret: string,
  messageId: string,
  seconds: number,
  body: string,
): string {
  const signed = `${messageId}.${seconds}.${body}`;
  const macOf = (key: Buffer) => createHmac('sha256', key).update(signed).digest('base64');
  return keysOf(secret)
    .map((key) => `v1,${macOf(key)}`)
    .join(' ');
}

const PREFIX = 'whsec_';

/**
 * The standard's libraries read a secret as base64, after `whsec_` where it has that. A receiver
 * can also ask for the bytes of the text (`format: 'raw'`). A secret that a user chose can be meant
 * in both ways, so it signs in both.
 */
function keysOf(secret: string): Buffer[] {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const decoded = Buffer.from(text, 'base64');
  const isBase64 = decoded.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!isBase64) return [Buffer.from(secret)];
  return text === secret ? [decoded, Buffer.from(secret)] : [decoded];
}
