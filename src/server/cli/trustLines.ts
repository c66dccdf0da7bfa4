/** Trust data of a token, as lines of text. Source: protocol.md section 10.2. */
import type { TokenInsightsAnswer } from '../../client/types.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { grouped, short } from '../../web/format.ts';

const GAP = '  ';
const GROUPS = ['bundlers', 'snipers', 'insiders'] as const;

/** Lines that `trustLines` has at most. */
export const TRUST_LINES = 3;

/** null: not known. */
export function trustLines(insights: TokenInsightsAnswer | null): readonly string[] {
  if (insights === null) return [];
  const { holders, top10Percent, largestPercent, lockedPercent, author } = insights;
  const launches = `${counted(author.launches, 'other launch', 'other launches')}`;
  const own = `author ${author.percent} %, sold ${short(author.sold)}, ${launches}`;
  const groups = GROUPS.map((name) => {
    const group = insights[name];
    if (group === null) return `${name} unknown`;
    return group.keys === 0
      ? `${name} none`
      : `${name} ${counted(group.keys, 'key')} ${group.percent} %`;
  });
  return [
    [
      `holders ${grouped(String(holders))}`,
      `top 10 ${top10Percent} %`,
      `largest ${largestPercent} %`,
      `locked ${lockedPercent} %`,
      '(of the supply outside the pool)',
    ].join(GAP),
    `${own}, ${author.graduated} graduated`,
    groups.join(GAP),
  ];
}
