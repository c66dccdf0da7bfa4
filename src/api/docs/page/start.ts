/** The first five minutes: from nothing to a subscription, by copy and paste. */
import { type Html, html } from './html.ts';
import { code, ORIGIN } from './snippets.ts';

const LIST = `curl '${ORIGIN}/v1/pools-main-page/initial/state?filter=Latest'`;

/** Runs as it is in the console of a browser and in Node 22; nothing is to be installed. */
const SUBSCRIBE = `const server = '${ORIGIN}';
const list = await fetch(server + '/v1/pools-main-page/initial/state?filter=Latest');
const [newest] = await list.json();
if (newest === undefined) throw new Error('nothing was launched here yet');
const pair = { base: newest.info.asset, quote: '.' };

const socket = new WebSocket(server.replace('http', 'ws') + '/ws');
const send = (frame) => socket.send(JSON.stringify(frame));
const data = { pair, interval: 'min1' };
socket.onopen = () =>
  send({ messageType: 'subscribe', requestId: 'bars', topic: 'LastBar', data });
socket.onmessage = ({ data }) => {
  const frame = JSON.parse(data);
  if (frame.event === 'Ping') send({ messageType: 'pong', requestId: null });
  else console.log(frame.event, frame.snapshot ? 'snapshot' : 'update', frame.data);
};
socket.onclose = ({ code, reason }) => console.log('closed', code, reason);`;

export function start(): Html {
  return html`<section id="start"><h2>Five minutes</h2>
<p>No key, no account, nothing to install. First, the tokens that traded last:</p>
${code(LIST, 'start-list')}
<p>Each row is a pool; <code>info.asset</code> names its token. Now its candlesticks, live. Paste
this into the console of this page (F12), or save it as <code>bars.mjs</code> and run
<code>node bars.mjs</code> with Node 22 or later:</p>
${code(SUBSCRIBE, 'start-subscribe')}
<p>The first frame is a snapshot: the newest bar. Each trade then sends an update, and each minute
ends with one whose bar is <code>final</code>. To lose nothing over a reconnect, keep
<code>epoch</code> and <code>seq</code> of the last frame and subscribe with
<code>since</code>: see <a href="#positions-http-and-websocket-together">Positions</a>.</p>
<p>Machines read the same as <a href="/v1/docs/openapi">OpenAPI 3.1</a> and
<a href="/v1/docs/asyncapi">AsyncAPI 3</a> in YAML, or in JSON with <code>.json</code> appended.
Examples below were recorded from a running market;
long lists are cut to three rows.</p></section>`;
}
