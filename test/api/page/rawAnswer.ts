/** An answer as it came over the wire: `fetch` decompresses bodies by itself. */
import { get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export function rawAnswer(url: string, acceptEncoding: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Accept-Encoding': acceptEncoding };
    const request = get(url, { headers }, (answer) => {
      const { statusCode: status, headers } = answer;
      buffer(answer).then((body) => resolve({ status, headers, body }), reject);
    });
    request.on('error', reject);
  });
}
