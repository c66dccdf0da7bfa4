/**
 * The Markdown that our own descriptions use, as HTML: headings of level 2, paragraphs, lists,
 * tables, code and links to http(s). Anything else is text.
 */
import { escapeMarkup } from '../../../engine/runtime/markup.ts';
import { Html, html, NOTHING } from './html.ts';

export function inline(text: string): Html {
  const parts = text.split(/(`[^`]+`)/).map((part) => {
    const isCode = part.length > 2 && part.startsWith('`') && part.endsWith('`');
    return isCode ? `<code>${escapeMarkup(part.slice(1, -1))}</code>` : escapeMarkup(part);
  });
  return new Html(parts.join(''));
}

export function markdown(text: string): Html {
  const blocks = text.trim().split(/\n{2,}/);
  return html`${blocks.map(block)}`;
}

export function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function block(text: string): Html {
  const lines = text.split('\n');
  const [first = ''] = lines;
  if (first.startsWith('## ')) {
    const title = first.slice(3);
    return html`<h3 id="${slug(title)}">${inline(title)}</h3>`;
  }
  if (first.startsWith('- ')) return html`<ul>${items(lines)}</ul>`;
  if (first.startsWith('|')) return table(lines);
  return html`<p>${inline(lines.join(' '))}</p>`;
}

function items(lines: readonly string[]): Html[] {
  const texts: string[] = [];
  for (const line of lines) {
    if (line.startsWith('- ')) texts.push(line.slice(2));
    else texts.push(`${texts.pop() ?? ''} ${line.trim()}`);
  }
  return texts.map((item) => html`<li>${inline(item)}</li>`);
}

function table([head = '', _rule, ...rows]: readonly string[]): Html {
  const names = cells(head);
  // A heading without words would be read out as one.
  const heads = names.map((cell) =>
    cell === '' ? html`<td></td>` : html`<th>${inline(cell)}</th>`,
  );
  // Problem details link to the row of their cause.
  const causeAt = names.indexOf('cause');
  const body = rows.map((row) => {
    const texts = cells(row);
    const cause = texts[causeAt]?.replaceAll('`', '');
    const id = cause === undefined ? NOTHING : html` id="cause-${cause}"`;
    return html`<tr${id}>${texts.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`;
  });
  return html`<div class="wide"><table><thead><tr>${heads}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}

function cells(row: string): string[] {
  return row
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}
