/**
 * A separate program, because NODE_EXTRA_CA_CERTS counts from the start of a process only: sends
 * an empty delivery to URL_TO, whose name means the loopback, and again on the kept connection;
 * prints what was refused.
 */
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { Sender } from '../../../src/api/webhooks/sender.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { NameServer } from './nameServer.ts';

const url = process.env.URL_TO ?? '';
const ends: (() => void)[] = [];
const dns = await NameServer.start({ after: (run) => void ends.push(run) });
dns.names.set(new URL(url).hostname, ['127.0.0.1']);
const destinations = new Destinations(rangesOf(['127.0.0.1']), dns.resolver());
const sender = new Sender({ destinations, clock: systemClock });
const webhook = { id: 'wh_1', owner: 'bot', url, secret: 's', topics: [], createdMs: 0 };
const send = () => sender.send(webhook, { body: '[]', position: '1-a:1', digest: '0', attempt: 0 });
const first = await send();
process.stdout.write(first ?? `accepted, then ${(await send()) ?? 'accepted'}`);
sender.close();
for (const end of ends) end();
