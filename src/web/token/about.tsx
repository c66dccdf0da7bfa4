/**
 * The launch's texts about the token. It is text by strangers: the page never renders it as HTML.
 */
import type { AssetInfo } from '../../client/types.ts';
import { withoutDirections } from '../../engine/market/tokenName.ts';
import { ends, moment } from '../format.ts';
import { t } from '../messages.ts';
import { usePage } from '../page.tsx';
import { TabPart } from './tabPart.tsx';

const SOCIALS = ['website', 'twitter', 'telegram', 'discord'] as const;

export function About() {
  const pool = usePage().pool.value;
  if (pool === null) return null;
  const { info } = pool;
  const { since } = pool.metrics;
  const { createdOn, poolAuthor } = pool.pool;
  const text = withoutDirections(info.description).trim();
  const isHyped = info.launchType === 1;
  const kind = kindOf(info.assetType);
  return (
    <TabPart class="about" title={t.about.title}>
      <div class="inside stack">
        <p class={text === '' ? 'dim' : 'description'}>{text || t.about.none}</p>
        <Socials socials={info.socials} />
        <dl class="facts">
          <dt>{t.about.launched}</dt>
          <dd>
            {createdOn === null ? '–' : moment(createdOn)}
            {since !== null && <p class="dim">{t.about.unknownBefore({ slot: since })}</p>}
          </dd>
          <dt>{t.about.kind}</dt>
          <dd>{isHyped ? t.about.hyped({ kind }) : kind}</dd>
          <dt>{t.about.author}</dt>
          <dd>{poolAuthor === '' ? t.about.unknownAuthor : ends(poolAuthor, 8)}</dd>
        </dl>
      </div>
    </TabPart>
  );
}

/** The kinds of this launchpad are translated; another one's stay as they are. */
function kindOf(assetType: string): string {
  const { Meme, AI } = t.launch.assetTypes;
  return assetType === 'Meme' ? Meme : assetType === 'AI' ? AI : assetType;
}

export function Socials({ socials }: Pick<AssetInfo, 'socials'>) {
  const links = SOCIALS.flatMap((name) => {
    const text = socials[name];
    const url = text === null ? null : safeLink(text);
    return url === null ? [] : [{ name, url }];
  });
  if (links.length === 0) return null;
  return (
    <ul class="socials">
      {links.map(({ name, url }) => (
        <li key={name}>
          <a href={url} target="_blank" rel="noopener noreferrer nofollow">
            {t.about.socials[name]}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** null unless it leads to the web and to the host that a reader sees in it. */
function safeLink(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.username === '' && url.password === '' ? url.href : null;
}
