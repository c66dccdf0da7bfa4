/**
 * Renders the API reference as one page from the two documents: exactly the routes and topics in
 * them. The page needs only this server, and without its script it lacks only the buttons.
 */
import type { Json } from '../../../engine/runtime/json.ts';
import { PROBLEM_TYPE } from '../../http/accept.ts';
import { type Html, html, NOTHING } from './html.ts';
import { inline, markdown, slug } from './markdown.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';
import { boundsOf, choicesOf, schemaOf, typeOf } from './schema.ts';
import { code, example, listenSamples, ORIGIN, pretty, samples } from './snippets.ts';

export const STYLE_PATH = '/docs/style.css';
export const SCRIPT_PATH = '/docs/page.js';

interface Group {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Operation[];
}

/** `ids` are in the examples; the script replaces them by ids of this market. */
export function page(openapi: Json, asyncapi: Json, ids: Json): string {
  const groups = groupsOf(openapi);
  const channels = entriesAt(asyncapi, 'channels');
  const topics = [
    ...channels.filter(([name]) => name !== COMMON),
    ...channels.filter(([name]) => name === COMMON),
  ];
  const guide = textAt(openapi, 'info', 'description');
  const title = `${textAt(openapi, 'info', 'title')} API`;
  const data = entriesAt(ids).map(([name, id]) => html` data-${name}="${String(id)}"`);
  const whole = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${STYLE_PATH}">
<script type="module" src="${SCRIPT_PATH}"></script></head>
<body${data}><a class="skip" href="#start">Skip to the text</a>
<header><a class="back" href="/">← Market</a>
<h1>${title}</h1><span class="optional">${textAt(openapi, 'info', 'version')}</span>
</header>
<div class="columns">${navigation(chaptersOf(guide), groups, topics)}
<main>${start()}
<section id="guide"><h2>Guide</h2>${markdown(guide)}</section>
${groups.map(groupHtml)}
<section id="websocket"><h2>WebSocket</h2>${markdown(textAt(asyncapi, 'info', 'description'))}
${topics.map(([name, channel]) => topicHtml(name, channel))}</section>
<section id="schemas"><h2>Schemas</h2>${schemas(openapi, asyncapi)}</section>
</main></div></body></html>
`;
  return whole.text;
}

function chaptersOf(guide: string): string[] {
  return Array.from(guide.matchAll(/^## (.+)$/gm), ([, title = '']) => title);
}

function groupsOf(openapi: Json): Group[] {
  const operations = operationsOf(openapi);
  return listAt(openapi, 'tags').map((tag) => {
    const name = textAt(tag, 'name');
    const routes = operations.filter(({ operation }) => listAt(operation, 'tags').includes(name));
    return { name, description: textAt(tag, 'description'), routes };
  });
}

function groupHtml({ name, description, routes }: Group): Html {
  return html`<section id="${slug(name)}"><h2>${name}</h2><p>${inline(description)}</p>
${routes.map(operationHtml)}</section>`;
}

function navigation(
  chapters: readonly string[],
  groups: readonly Group[],
  topics: readonly (readonly [string, Json])[],
): Html {
  const link = (target: string, text: string) => html`<li><a href="#${target}">${text}</a></li>`;
  const part = (target: string, text: string, below: readonly Html[] = []) => {
    const list = below.length === 0 ? NOTHING : html`<ul>${below}</ul>`;
    return html`<li><a href="#${target}">${text}</a>${list}</li>`;
  };
  const routes = groups.map(({ name, routes: inside }) =>
    part(
      slug(name),
      name,
      inside.map((route) => link(operationId(route), `${route.method} ${route.path}`)),
    ),
  );
  const guide = chapters.map((title) => html`<li><a href="#${slug(title)}">${title}</a></li>`);
  const streams = topics.map(([name]) => link(topicId(name), name));
  return html`<nav aria-label="Contents"><label class="filter" hidden>Search
<input type="search" id="filter" placeholder="path, topic, field, words" autocomplete="off"></label>
<p id="found" class="optional" role="status"></p>
<ul>${part('start', 'Five minutes')}${part('guide', 'Guide', guide)}${routes}
${part('websocket', 'WebSocket', streams)}
${part('schemas', 'Schemas')}</ul></nav>`;
}

function schemas(openapi: Json, asyncapi: Json): Html {
  const all = [openapi, asyncapi].flatMap((each) => entriesAt(each, 'components', 'schemas'));
  const named = new Map(all);
  const shown = Array.from(named).sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = shown.map(
    ([name, schema]) =>
      html`<details class="entry" id="schema-${name}"><summary><code>${name}</code></summary>
<div class="inside">${schemaOf(schema)}</div></details>`,
  );
  return html`${entries}`;
}

const LIST = `curl '${ORIGIN}/v1/pools-main-page/initial/state?filter=Latest'`;

/** Runs in a browser's console and in Node 22, without installing anything. */
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

/** The first five minutes: from nothing to a subscription, by copy and paste. */
function start(): Html {
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

const DATA = html`<p>Its <code>data</code>:</p>`;

/** Frames of no topic. */
const COMMON = 'socket';

function topicId(name: string): string {
  return `topic-${name}`;
}

function topicHtml(name: string, channel: Json): Html {
  const messages = entriesAt(channel, 'messages');
  const shown = messages.map(([title, message]) => messageHtml(name, title, message));
  const kind = name === COMMON ? 'FRAMES' : 'TOPIC';
  return html`<details class="entry" id="${topicId(name)}"><summary>
<span class="method topic">${kind}</span> <code>${name}</code>
<span class="what">${inline(textAt(channel, 'description'))}</span></summary>
<div class="inside">${shown}</div></details>`;
}

function messageHtml(topic: string, title: string, message: Json): Html {
  const payload = at(message, 'payload');
  const [recorded] = listAt(message, 'examples');
  const frame = at(recorded, 'payload');
  if (topic !== COMMON && title === 'subscribe') {
    const data = at(payload, 'properties', 'data');
    const copied = frame === undefined ? NOTHING : listenSamples(frame);
    const box = frame === undefined ? NOTHING : listen(frame);
    return html`<h4>Subscribe</h4>${copied}${DATA}${schemaOf(data)}${box}`;
  }
  const isOurs = at(payload, 'properties', 'event') === undefined;
  const schema = isOurs ? payload : at(payload, 'properties', 'data');
  const what = isOurs ? NOTHING : DATA;
  return html`<h4><code>${title}</code></h4>${what}${schemaOf(schema)}${example('Example', frame)}`;
}

function listen(frame: Json): Html {
  return html`<form class="listen" hidden><h4>Listen</h4><label>Frame
<textarea class="live" rows="8" spellcheck="false">${pretty(frame)}</textarea></label>
<button type="submit">Subscribe</button> <button type="button" class="stop" disabled>Stop</button>
<span class="state" role="status"></span>
<pre class="frames" tabindex="0" aria-label="Frames, newest first"></pre></form>`;
}

interface Operation {
  readonly method: string;
  /** As OpenAPI writes it: `/ipfs/{cid}`. */
  readonly path: string;
  readonly operation: Json;
}

function operationsOf(openapi: Json): Operation[] {
  return entriesAt(openapi, 'paths').flatMap(([path, methods]) =>
    entriesAt(methods).map(([method, operation]) => {
      return { method: method.toUpperCase(), path, operation };
    }),
  );
}

function operationId({ operation }: Operation): string {
  return `route-${textAt(operation, 'operationId')}`;
}

function operationHtml(route: Operation): Html {
  const { method, path, operation } = route;
  const summary = textAt(operation, 'summary');
  const description = textAt(operation, 'description');
  const isSaid = description === '' || description === `${summary}.`;
  // Its answer does not end.
  const isStream = listAt(operation, 'tags').includes('Streams');
  return html`<details class="entry" id="${operationId(route)}"><summary>
<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>
<span class="what">${inline(summary)}</span></summary>
<div class="inside">${isSaid ? NOTHING : markdown(description)}
${parameters(listAt(operation, 'parameters'))}
${bodies(operation)}
<h4>Request</h4>${samples(method, path, operation)}
${method === 'GET' && !isStream ? tryIt(route) : NOTHING}
<h4>Answers</h4>${entriesAt(operation, 'responses').map(([status, each]) => answer(status, each))}
</div></details>`;
}

function parameters(list: readonly Json[]): Html {
  if (list.length === 0) return NOTHING;
  const rows = list.map((each) => {
    const optional = at(each, 'required') === true ? '' : 'optional';
    const schema = at(each, 'schema');
    const where = html`<span class="optional">${textAt(each, 'in')} ${optional}</span>`;
    return html`<tr><td><code>${textAt(each, 'name')}</code><br>${where}</td>
<td><span class="type">${typeOf(schema)}</span></td>
<td>${inline(textAt(each, 'description'))}${boundsOf(schema)}</td></tr>`;
  });
  return html`<h4>Parameters</h4><div class="wide"><table><tbody>${rows}</tbody></table></div>`;
}

function bodies(operation: Json): Html {
  const contents = entriesAt(operation, 'requestBody', 'content').map(([type, media]) => {
    const description = textAt(operation, 'requestBody', 'description');
    const about = description === '' ? NOTHING : html`<p>${inline(description)}</p>`;
    const title = html`<h4>Body <span class="optional">${type}</span></h4>`;
    return html`${title}${about}${schemaOf(at(media, 'schema'))}`;
  });
  return html`${contents}`;
}

function answer(status: string, response: Json): Html {
  const description = textAt(response, 'description');
  const isError = Number(status) >= 400;
  const causes = isError && /^[A-Za-z_]+(, [A-Za-z_]+)*$/.test(description);
  const about = causes
    ? html`${description.split(', ').map((cause) => html`<code>${cause}</code> `)}`
    : inline(description);
  // Problem details say the same as JSON; the guide describes them once.
  const forms = entriesAt(response, 'content').filter(([type]) => type !== PROBLEM_TYPE);
  const contents = forms.map(([type, media]) => {
    const several = entriesAt(media, 'examples').map(([name, each]) =>
      example(`Example: ${name}`, at(each, 'value')),
    );
    const shown = [example('Example', at(media, 'example')), ...several].filter(
      (each) => each !== null,
    );
    const schema = causes ? NOTHING : schemaOf(at(media, 'schema'));
    const name =
      type === 'application/json' ? NOTHING : html`<span class="optional">${type}</span>`;
    return html`${name}${schema}${shown}`;
  });
  const head = html`<p><strong class="status">${status}</strong> ${about}</p>`;
  return html`<div class="answer">${head}${contents}</div>`;
}

/** Headers are omitted: a person has no use for them. */
function tryIt({ path, operation }: Operation): Html {
  const name = textAt(operation, 'operationId');
  const asked = listAt(operation, 'parameters').filter((each) => textAt(each, 'in') !== 'header');
  const about = html` data-path="${path}" data-name="${name}"`;
  return html`<form class="try"${about} hidden><h4>Try it</h4>${asked.map(field)}
<button type="submit">Send</button><output></output></form>`;
}

function field(parameter: Json): Html {
  const name = textAt(parameter, 'name');
  const given = at(parameter, 'example');
  const value = given === undefined ? '' : String(given);
  const choices = choicesOf(at(parameter, 'schema'));
  const isRequired = at(parameter, 'required') === true;
  const where = textAt(parameter, 'in');
  if (choices.length === 0) {
    return html`<label>${name}<input name="${name}" data-in="${where}" value="${value}"
autocomplete="off" spellcheck="false"></label>`;
  }
  const none = isRequired ? NOTHING : html`<option value=""></option>`;
  const options = choices.map((choice) => {
    return html`<option${choice === value ? html` selected` : NOTHING}>${choice}</option>`;
  });
  const select = html`<select name="${name}" data-in="${where}">${none}${options}</select>`;
  return html`<label>${name}${select}</label>`;
}
