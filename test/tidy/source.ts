/** Source files as the house rules see them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ParserPlugin, parse } from '@babel/parser';
import { type File, type Node, VISITOR_KEYS } from '@babel/types';

export interface Source {
  /** From the root of the repository: `src/engine/market/bar.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: File;
}

/** A broken rule; `line` counts from 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

/** `path` says by its ending whether there are elements in the text. */
export function treeOf(text: string, path = ''): File {
  const plugins: ParserPlugin[] = path.endsWith('.tsx') ? ['typescript', 'jsx'] : ['typescript'];
  return parse(text, { sourceType: 'module', plugins });
}

/** Nodes directly below `node`, in the order of Babel's keys. */
export function childrenOf(node: Node): Node[] {
  return (VISITOR_KEYS[node.type] ?? []).flatMap((key) => {
    // trust: under these keys stand nodes, lists of nodes and null
    const below = (node as unknown as Record<string, Node | (Node | null)[] | null>)[key];
    return [below].flat().flatMap((child) => child ?? []);
  });
}

export function sourceOf(path: string, text: string): Source {
  return { path, text, tree: treeOf(text, path) };
}

/** Every TypeScript file below `folder`, sorted; none where the folder does not exist. */
export function sourcesIn(root: string, folder: string): Source[] {
  const top = join(root, folder);
  const names = readdirSync(root).includes(folder) ? readdirSync(top, { recursive: true }) : [];
  const paths = names.map(String).filter((name) => /\.tsx?$/.test(name));
  return paths
    .sort()
    .map((name) => join(top, name))
    .map((path) => sourceOf(relative(root, path), readFileSync(path, 'utf8')));
}

export function firstLineOf({ loc }: Node): number {
  return loc?.start.line ?? 1;
}

export function lastLineOf({ loc }: Node): number {
  return loc?.end.line ?? 1;
}

export function textOf({ text }: Source, { start, end }: Node): string {
  return text.slice(start ?? 0, end ?? 0);
}

export function finding({ path }: Source, node: Node, rule: string): Finding {
  return { path, line: firstLineOf(node), rule };
}

/**
 * Calls `find` for each node of the tree and collects its messages; `above` are the nodes around
 * it, nearest last.
 */
export function walk(
  source: Source,
  find: (node: Node, above: readonly Node[]) => string | null,
): Finding[] {
  const findings: Finding[] = [];
  const above: Node[] = [];
  const visit = (node: Node): void => {
    const rule = find(node, above);
    if (rule !== null) findings.push(finding(source, node, rule));
    above.push(node);
    childrenOf(node).forEach(visit);
    above.pop();
  };
  visit(source.tree);
  return findings;
}

export function report(findings: readonly Finding[]): string {
  return findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`).join('\n');
}
