/**
 * The API reference as one page, rendered from the two documents: a route or topic that is in them
 * is here, and nothing else is. Needs nothing but this server; works without its script too, but
 * for the buttons.
 */
import type { Json } from '../../../engine/runtime/json.ts';
import { type Html, html, NOTHING } from './html.ts';
import { inline, markdown, slug } from './markdown.ts';
import { type Operation, operationHtml, operationId, operationsOf } from './operation.ts';
import { entriesAt, listAt, textAt } from './read.ts';
import { schemaOf } from './schema.ts';
import { start } from './start.ts';
import { COMMON, topicHtml, topicId } from './topic.ts';

export const STYLE_PATH = '/docs/style.css';
export const SCRIPT_PATH = '/docs/page.js';

interface Group {
  readonly name: string;
  readonly description: string;
  readonly routes: readonly Operation[];
}

/** `ids` are those of the examples, which the script replaces by ones of this market. */
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
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${STYLE_PATH}">
<script type="module" src="${SCRIPT_PATH}"></script></head>
<body${data}><a class="skip" href="#start">Skip to the text</a>
<header><h1>${title}</h1><span class="optional">${textAt(openapi, 'info', 'version')}</span>
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
  return html`<nav aria-label="Contents"><label class="filter" hidden>Filter
<input type="search" id="filter" placeholder="path or topic" autocomplete="off"></label>
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
