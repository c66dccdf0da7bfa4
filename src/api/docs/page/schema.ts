/** Renders a JSON Schema for people: its type in words, and its fields below. */
import type { Json } from '../../../engine/runtime/json.ts';
import { Html, html, NOTHING } from './html.ts';
import { inline } from './markdown.ts';
import { at, entriesAt, listAt, textAt } from './read.ts';

const HOME = '#/components/schemas/';
const BOUNDS: readonly (readonly [keyword: string, words: string])[] = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'length at least'],
  ['maxLength', 'length at most'],
  ['minItems', 'items at least'],
  ['maxItems', 'items at most'],
  ['pattern', 'pattern'],
];

export function schemaOf(schema: Json | undefined): Html {
  return html`<p class="type">${typeOf(schema)}${about(schema)}</p>${fieldsOf(schema)}`;
}

/** The values that it may have, where they can be listed; `null` and `""` are left out. */
export function choicesOf(schema: Json | undefined): readonly string[] {
  const choices = [
    ...listAt(schema, 'enum'),
    ...listAt(schema, 'anyOf').map((each) => at(each, 'const')),
  ];
  return choices.filter((choice): choice is string => typeof choice === 'string' && choice !== '');
}

export function typeOf(schema: Json | undefined): Html {
  const ref = textAt(schema, '$ref');
  if (ref !== '') {
    const name = ref.slice(HOME.length);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const constant = at(schema, 'const');
  if (constant !== undefined) return html`<code>${JSON.stringify(constant)}</code>`;
  const choices = listAt(schema, 'enum').map((each) => html`<code>${JSON.stringify(each)}</code>`);
  if (choices.length > 0) return joined(choices);
  const several = listAt(schema, 'anyOf').map(typeOf);
  if (several.length > 0) return joined(several);
  const type = textAt(schema, 'type');
  const places = [...listAt(schema, 'prefixItems'), ...listAt(schema, 'items')].map(typeOf);
  if (places.length > 0) return html`[${joined(places, ', ')}]`;
  if (type === 'array') return html`array of ${typeOf(at(schema, 'items'))}`;
  const format = textAt(schema, 'format');
  return html`${type === '' ? 'anything' : type}${format === '' ? '' : ` (${format})`}`;
}

function joined(parts: readonly Html[], between = ' or '): Html {
  return new Html(parts.map(({ text }) => text).join(between));
}

function about(schema: Json | undefined): Html {
  const description = textAt(schema, 'description');
  const words =
    description === '' ? NOTHING : html` <span class="about">${inline(description)}</span>`;
  return html`${words}${boundsOf(schema)}`;
}

export function boundsOf(schema: Json | undefined): Html {
  const bounds = BOUNDS.flatMap(([keyword, words]) => {
    const bound = at(schema, keyword);
    return bound === undefined
      ? []
      : [html` <span class="bound">${words} <code>${String(bound)}</code></span>`];
  });
  return html`${bounds}`;
}

function fieldsOf(schema: Json | undefined): Html {
  const inside = [at(schema, 'items'), ...listAt(schema, 'anyOf'), ...patternsOf(schema)];
  const deeper = inside.filter((each) => each !== undefined).map(fieldsOf);
  const required = new Set(listAt(schema, 'required'));
  const fields = entriesAt(schema, 'properties').map(([name, field]) => {
    const optional = required.has(name) ? NOTHING : html` <span class="optional">optional</span>`;
    const type = html`<span class="type">${typeOf(field)}</span>`;
    return html`<li><code>${name}</code>${optional} ${type}${about(field)}${fieldsOf(field)}</li>`;
  });
  return html`${fields.length === 0 ? NOTHING : html`<ul class="fields">${fields}</ul>`}${deeper}`;
}

function patternsOf(schema: Json | undefined): readonly Json[] {
  return entriesAt(schema, 'patternProperties').map(([, each]) => each);
}
