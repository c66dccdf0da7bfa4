/**
 * The Markdown that our own descriptions use, as HTML: headings of level 2, paragraphs, lists,
 * tables, code and links to http(s). Anything else is text.
 */
import { escapeMarkup } from '../../../engine/runtime/markup.ts';
import { Html, html } from './html.ts';

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
  const heads = cells(head).map((cell) => html`<th>${inline(cell)}</th>`);
  const body = rows.map((row) => {
    return html`<tr>${cells(row).map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`;
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
