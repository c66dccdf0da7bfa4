/** Whether the table of rooms in src/README.md and the tree say the same. */
import { ROOMS } from './imports.ts';
import type { Finding, Source } from './source.ts';

const MAP = 'src/README.md';
const ROW = /^\| `([a-z]+)\/` \|/;

/** Rows in another order than the rooms, and rooms without a file. */
export function mapFaults(readme: string, sources: readonly Source[]): Finding[] {
  const rows = readme.split('\n').flatMap((text) => ROW.exec(text)?.[1] ?? []);
  const wanted = ROOMS.join(', ');
  const empty = ROOMS.filter(
    (room) => !sources.some(({ path }) => path.startsWith(`src/${room}/`)),
  );
  return [
    ...(rows.join(', ') === wanted ? [] : [fault(`the table must have the rooms ${wanted}`)]),
    ...empty.map((room) => fault(`src/${room}/ does not exist`)),
  ];
}

function fault(rule: string): Finding {
  return { path: MAP, line: 1, rule };
}
