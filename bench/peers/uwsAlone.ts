/** uWebSockets.js alone: a topic of the library for each pair. Argument: the port of the feed. */
import { App, us_socket_local_port } from 'uWebSockets.js';
import { follow } from './tradeFeed.ts';

const [feedPort = ''] = process.argv.slice(2);
const app = App();

app.ws('/ws', {
  message(socket, bytes) {
    socket.subscribe(Buffer.from(bytes).toString());
    socket.send('"subscribed"');
  },
});
follow(Number(feedPort), (base, message) => {
  app.publish(base, JSON.stringify(message));
});
app.listen('127.0.0.1', 0, (token) => {
  if (token === false) throw new Error('no port is free');
  process.stdout.write(`port ${us_socket_local_port(token)}\n`);
});
