/**
 * Modules that threads load when they start: each thread keeps its own copy of every module; a copy
 * of Scalus takes 25 MiB.
 */

import { reachedOver, startImports } from './imports.ts';
import type { Finding, Source } from './source.ts';

/** Per thread: the file with which loading begins, and modules that load later or never. */
const WITHOUT: readonly { readonly from: readonly string[]; readonly not: readonly string[] }[] = [
  {
    // A node of one market on a devnet or a public network; the last two are loaded with a chain.
    from: ['src/server/main.ts', 'src/server/cli/serve.ts'].concat([
      'src/server/wiring/network.ts',
      'src/server/wiring/chain.ts',
    ]),
    not: [
      'src/cardano/ledger/scalus.ts',
      '@nats-io/transport-node',
      'hyparquet',
      'hyparquet-writer',
      'ipfs-unixfs-importer',
      'yaml',
    ],
  },
  { from: ['src/traders/thread.ts'], not: ['src/cardano/ledger/scalus.ts', 'typebox'] },
];

/** Imports on the way from a thread's start that load modules too early. */
export function loadedTooSoon(sources: readonly Source[]): Finding[] {
  const imports = new Map(sources.map((source) => [source.path, startImports(source)]));
  return WITHOUT.flatMap(({ from, not }) =>
    [...reachedOver(imports, from)].flatMap((path) =>
      (imports.get(path) ?? [])
        .filter((each) => not.includes(each.path ?? each.specifier))
        .map(({ specifier, node }) => ({
          path,
          line: node.loc?.start.line ?? 1,
          rule: `${specifier} is loaded as ${from[0]} starts: import it where it is needed`,
        })),
    ),
  );
}
