/**
 * `compute`, which keeps its newest answers, between half of `most` and `most`; not that there is
 * none. For answers that never change and are asked for again and again.
 */
export function remembered<Answer>(
  compute: (text: string) => Answer | null,
  most: number,
): (text: string) => Answer | null {
  let newer = new Map<string, Answer>();
  let older = new Map<string, Answer>();
  return (text) => {
    const known = newer.get(text);
    if (known !== undefined) return known;
    const answer = older.get(text) ?? compute(text);
    if (answer === null) return null;
    if (newer.size >= most / 2) {
      older = newer;
      newer = new Map();
    }
    newer.set(text, answer);
    return answer;
  };
}
