/** Trust data and traders of every token, as a node serves them and as the chain has them. */
import assert from 'node:assert/strict';
import type { NaiveMarket } from './model.ts';

const SORTS = ['realized', 'unrealized', 'volume'] as const;

/** Answers of `/v1/tokens/insights` and `/v1/tokens/traders`, by their path. */
export async function servedTrust(
  ask: (path: string) => Promise<unknown>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  for (const path of tokens.flatMap(pathsOf)) answers.set(path, await ask(path));
  return answers;
}

/** The same, counted from the blocks of `market`. */
export function countedTrust({ people, pools }: NaiveMarket, tokens: readonly string[]) {
  return new Map(
    tokens.flatMap((token): [string, unknown][] => {
      const [insights = '', ...lists] = pathsOf(token);
      return [
        [insights, people.insights(token, pools.now(token).y)],
        ...lists.map((path, index): [string, unknown] => {
          return [path, people.traders(token, SORTS[index] ?? assert.fail())];
        }),
      ];
    }),
  );
}

function pathsOf(token: string): string[] {
  return [
    `/v1/tokens/insights?asset=${token}`,
    ...SORTS.map((sort) => `/v1/tokens/traders?asset=${token}&sort=${sort}`),
  ];
}
