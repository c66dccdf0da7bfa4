/**
 * What of a file can run, by its syntax: lines of code, and arms of branches.
 *
 * A line of code holds a statement or a value; comments, types, imports and lone brackets do not
 * count. An arm is what runs only in some cases: either side of `if … else` and of `? :`, the right
 * side of `&&`, `||` and `??`, a case with statements, a catch block. `if` without `else` has one.
 */
import ts from 'typescript';

export interface Code {
  /** Line, from 1 → offsets of what can run on it. */
  readonly lines: ReadonlyMap<number, readonly number[]>;
  /** Offset at which each arm begins. */
  readonly arms: readonly number[];
}

export function codeOf(text: string): Code {
  const tree = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
  const lines = new Map<number, number[]>();
  const arms: number[] = [];
  const visit = (node: ts.Node): void => {
    if (isErased(node)) return;
    if (isOwnCode(node)) {
      const offset = node.getStart(tree);
      const line = tree.getLineAndCharacterOfPosition(offset).line + 1;
      lines.set(line, [...(lines.get(line) ?? []), offset]);
    }
    arms.push(...armsOf(node).map((arm) => arm.getStart(tree)));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { lines, arms };
}

/** Types and declarations that leave nothing to run, and imports, which always do. */
function isErased(node: ts.Node): boolean {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isTypeParameterDeclaration(node)) return true;
  if (ts.isHeritageClause(node)) return node.token === ts.SyntaxKind.ImplementsKeyword;
  const isSignature = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  return isSignature && node.body === undefined;
}

function isOwnCode(node: ts.Node): boolean {
  if (ts.isBlock(node) || ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) {
    return false;
  }
  return ts.isStatement(node) || (ts.isToken(node) && isValue(node)) || ts.isIdentifier(node);
}

function isValue({ kind }: ts.Node): boolean {
  return (
    (kind >= ts.SyntaxKind.FirstLiteralToken && kind <= ts.SyntaxKind.LastTemplateToken) ||
    [
      ts.SyntaxKind.ThisKeyword,
      ts.SyntaxKind.SuperKeyword,
      ts.SyntaxKind.NullKeyword,
      ts.SyntaxKind.TrueKeyword,
      ts.SyntaxKind.FalseKeyword,
    ].includes(kind)
  );
}

const CHOICES: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
];

function armsOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isIfStatement(node)) {
    const { thenStatement, elseStatement } = node;
    return elseStatement === undefined ? [thenStatement] : [thenStatement, elseStatement];
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  if (ts.isBinaryExpression(node)) {
    return CHOICES.includes(node.operatorToken.kind) ? [node.right] : [];
  }
  if (ts.isCaseOrDefaultClause(node)) return node.statements.slice(0, 1);
  return ts.isCatchClause(node) ? [node.block] : [];
}
