/** Source files as the house rules see them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

export interface Source {
  /** From the root of the repository: `src/engine/market/bar.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** A broken rule; `line` counts from 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

export function sourceOf(path: string, text: string): Source {
  return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
}

/** Every TypeScript file below `folder`, sorted; none where the folder does not exist. */
export function sourcesIn(root: string, folder: string): Source[] {
  const top = join(root, folder);
  const names = readdirSync(root).includes(folder) ? readdirSync(top, { recursive: true }) : [];
  const paths = names.map(String).filter((name) => name.endsWith('.ts'));
  return paths
    .sort()
    .map((name) => join(top, name))
    .map((path) => sourceOf(relative(root, path), readFileSync(path, 'utf8')));
}

export function finding(source: Source, node: ts.Node, rule: string): Finding {
  const { line } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
  return { path: source.path, line: line + 1, rule };
}

/** What `find` says about each node of the tree. */
export function walk(source: Source, find: (node: ts.Node) => string | null): Finding[] {
  const findings: Finding[] = [];
  const visit = (node: ts.Node): void => {
    const rule = find(node);
    if (rule !== null) findings.push(finding(source, node, rule));
    ts.forEachChild(node, visit);
  };
  visit(source.tree);
  return findings;
}

export function report(findings: readonly Finding[]): string {
  return findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`).join('\n');
}
