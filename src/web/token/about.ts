/** What the launch said about the token. It is text by strangers: nothing of it is HTML. */
import type { AssetInfo } from '../../client/types.ts';
import type { PageContext, Unmount } from '../context.ts';
import { el, outLink, webLink } from '../dom.ts';
import { ends, moment } from '../format.ts';
import { watch } from '../signal.ts';

const SOCIALS = ['website', 'twitter', 'telegram', 'discord'] as const;

export function mountAbout(container: HTMLElement, { pool }: PageContext): Unmount {
  const inside = el('div', { class: 'inside stack' });
  container.append(el('header', {}, el('h2', {}, 'About')), inside);
  let shown = '';
  return watch(pool, (info) => {
    if (info === null) return;
    const { createdOn, poolAuthor } = info.pool;
    // The pool moves all the time, and this hardly ever.
    const key = JSON.stringify([info.info, createdOn]);
    if (key === shown) return;
    shown = key;
    const about = info.info;
    const text = about.description.trim();
    inside.replaceChildren(
      el('p', { class: text === '' ? 'dim' : 'description' }, text || 'No description.'),
      socialsOf(about),
      factsOf([
        ['Launched', moment(createdOn)],
        ['Kind', about.launchType === 1 ? `${about.assetType}, hyped` : about.assetType],
        ['Author', poolAuthor === '' ? 'unknown' : ends(poolAuthor, 8)],
      ]),
    );
  });
}

function socialsOf({ socials }: AssetInfo): HTMLElement {
  const links = SOCIALS.flatMap((name) => {
    const text = socials[name];
    const url = text === null ? null : webLink(text);
    return url === null ? [] : [el('li', {}, outLink(url, name))];
  });
  return el('ul', { class: 'socials', hidden: links.length === 0 }, ...links);
}

function factsOf(facts: readonly (readonly [name: string, value: string])[]): HTMLElement {
  const parts = facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);
  return el('dl', { class: 'facts' }, ...parts);
}
