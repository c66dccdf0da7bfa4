/** When a server may be asked: it listens before it has applied its log and read its market. */
import { request } from 'node:http';
import { untilAsked } from './until.ts';

export async function untilReady(url: string): Promise<void> {
  const ask = () => statusOf(`${url}/health/ready`);
  await untilAsked(`${url} is ready`, ask, (status) => status === 200);
}

/** Leaves no connection: another server can listen on the port at once when this one is gone. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'keep-alive' };
    const asked = request(url, { agent: false, headers }, (answer) => {
      const { socket, statusCode = 0 } = answer;
      answer.resume().on('end', () => {
        socket.resetAndDestroy();
        resolve(statusCode);
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}
