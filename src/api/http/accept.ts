/** Which form of an answer a client prefers, by its Accept header (RFC 9110 12.5.1). */

export const PROBLEM_TYPE = 'application/problem+json';

/** By the most specific of its ranges that fits; 0: it is not taken. */
export function qualityOf(accept: string, type: string, subtype: string): number {
  const ranges = [`${type}/${subtype}`, `${type}/*`, '*/*'];
  let [best, quality] = [ranges.length, 0];
  for (const entry of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const at = ranges.indexOf(range);
    if (at < 0 || at >= best) continue;
    const given = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1);
    best = at;
    quality = Number.isFinite(given) ? given : 0;
  }
  return quality;
}
