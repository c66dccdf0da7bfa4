/**
 * The parts of a file that can run, found in its syntax: lines of code, and arms of branches.
 *
 * A line of code holds a statement or a value; comments, types, imports and lone brackets do not
 * count. An arm is what runs only in some cases: either side of `if … else` and of `? :`, the right
 * side of `&&`, `||` and `??`, a case with statements, a catch block. `if` without `else` has one.
 */
import * as babel from '@babel/types';
import { childrenOf, treeOf } from '../tidy/source.ts';

export interface Code {
  /** Line, from 1 → offsets of executable code on it. */
  readonly lines: ReadonlyMap<number, readonly number[]>;
  /** Offset at which each arm begins. */
  readonly arms: readonly number[];
}

export function codeOf(text: string, path = ''): Code {
  const lines = new Map<number, number[]>();
  const arms: number[] = [];
  const visit = (node: babel.Node): void => {
    if (isErased(node)) return;
    if (isOwnCode(node) && node.loc) {
      const { line } = node.loc.start;
      lines.set(line, [...(lines.get(line) ?? []), node.loc.start.index]);
    }
    arms.push(...armsOf(node).flatMap(({ loc }) => loc?.start.index ?? []));
    childrenOf(node).forEach(visit);
  };
  visit(treeOf(text, path).program);
  return { lines, arms };
}

/** `a as B`, `a satisfies B`, `<B>a`, `a!` and `a<B>`: types around a value that runs. */
const AROUND_VALUES = [
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
  'TSNonNullExpression',
  'TSInstantiationExpression',
];

/** Types and declarations that leave nothing to run, and imports, which always do. */
function isErased(node: babel.Node): boolean {
  if (node.type.startsWith('TS')) return !AROUND_VALUES.includes(node.type);
  if (babel.isExportNamedDeclaration(node)) return !node.declaration;
  if (babel.isPrivateName(node)) return true;
  return babel.isImportDeclaration(node) || babel.isExportAllDeclaration(node);
}

function isOwnCode(node: babel.Node): boolean {
  if (babel.isBlockStatement(node) || babel.isExportNamedDeclaration(node)) return false;
  if (babel.isFunctionDeclaration(node) || babel.isClassDeclaration(node)) return false;
  return babel.isStatement(node) || isValue(node) || babel.isIdentifier(node);
}

function isValue(node: babel.Node): boolean {
  if (babel.isTemplateLiteral(node)) return false;
  const isWord = babel.isThisExpression(node) || babel.isSuper(node);
  return isWord || babel.isLiteral(node) || babel.isTemplateElement(node);
}

const CHOICES = ['&&=', '||=', '??='];

function armsOf(node: babel.Node): readonly babel.Node[] {
  if (babel.isIfStatement(node) || babel.isConditionalExpression(node)) {
    const { consequent, alternate } = node;
    return alternate ? [consequent, alternate] : [consequent];
  }
  if (babel.isLogicalExpression(node)) return [node.right];
  if (babel.isAssignmentExpression(node)) {
    return CHOICES.includes(node.operator) ? [node.right] : [];
  }
  if (babel.isSwitchCase(node)) return node.consequent.slice(0, 1);
  return babel.isCatchClause(node) ? [node.body] : [];
}
