/** Ours, whole: log, fold, store and sockets. Arguments: port of the feed, and `ACK`. */
import { connect } from 'node:net';
import { startBenchApp } from '../support/marketApp.ts';

const [feedPort = '', ack = 'disk'] = process.argv.slice(2);
const app = await startBenchApp({ ACK: ack });
const input = connect(Number(feedPort), '127.0.0.1');
const fed = app.replay(input, { feed: null, speed: null, latenessMs: 0 });
process.stdout.write(`port ${app.port}\n`);
process.on('SIGTERM', () => process.exit());
await fed;
