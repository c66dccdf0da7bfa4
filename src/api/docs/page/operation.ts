/** One route on the page. */
import type { Json } from '../../../engine/runtime/json.ts';
import { type Html, html, NOTHING } from './html.ts';
import { inline, markdown } from './markdown.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';
import { boundsOf, choicesOf, schemaOf, typeOf } from './schema.ts';
import { code, curl, example } from './snippets.ts';

export interface Operation {
  readonly method: string;
  /** As OpenAPI writes it: `/ipfs/{cid}`. */
  readonly path: string;
  readonly operation: Json;
}

export function operationsOf(openapi: Json): Operation[] {
  return entriesAt(openapi, 'paths').flatMap(([path, methods]) =>
    entriesAt(methods).map(([method, operation]) => {
      return { method: method.toUpperCase(), path, operation };
    }),
  );
}

export function operationId({ operation }: Operation): string {
  return `route-${textAt(operation, 'operationId')}`;
}

export function operationHtml(route: Operation): Html {
  const { method, path, operation } = route;
  const summary = textAt(operation, 'summary');
  const description = textAt(operation, 'description');
  return html`<details class="entry" id="${operationId(route)}"><summary>
<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>
<span class="what">${inline(summary)}</span></summary>
<div class="inside">${description === '' ? NOTHING : markdown(description)}
${parameters(listAt(operation, 'parameters'))}
${bodies(operation)}
<h4>Request</h4>${code(curl(method, path, operation))}
${method === 'GET' ? tryIt(route) : NOTHING}
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
  const contents = entriesAt(response, 'content').map(([type, media]) => {
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

/** Headers are left to those who write programs. */
function tryIt({ path, operation }: Operation): Html {
  const asked = listAt(operation, 'parameters').filter((each) => textAt(each, 'in') !== 'header');
  return html`<form class="try" data-path="${path}" hidden><h4>Try it</h4>${asked.map(field)}
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
