/** One topic on the page: its frame to copy, what comes, and a box that listens. */
import type { Json } from '../../../engine/runtime/json.ts';
import { type Html, html, NOTHING } from './html.ts';
import { inline } from './markdown.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';
import { schemaOf } from './schema.ts';
import { code, example, pretty } from './snippets.ts';

const DATA = html`<p>Its <code>data</code>:</p>`;

/** Frames of no topic. */
export const COMMON = 'socket';

export function topicId(name: string): string {
  return `topic-${name}`;
}

export function topicHtml(name: string, channel: Json): Html {
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
    const copied = frame === undefined ? NOTHING : code(JSON.stringify(frame));
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
