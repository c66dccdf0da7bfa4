/** The house rules about the content of one file (style.md). */
import * as babel from '@babel/types';
import { type Finding, firstLineOf, lastLineOf, type Source, textOf, walk } from './source.ts';

const MAX_LINES = 400;
const MAX_COLUMNS = 100;
const MAX_FUNCTION_LINES = 60;

/** Files and lines that are too long. */
export function lengths({ path, text }: Source): Finding[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const findings = lines.flatMap((content, index) => {
    const columns = [...content].length;
    if (columns <= MAX_COLUMNS) return [];
    return [{ path, line: index + 1, rule: `${columns} columns, at most ${MAX_COLUMNS}` }];
  });
  if (lines.length <= MAX_LINES) return findings;
  return [{ path, line: 1, rule: `${lines.length} lines, at most ${MAX_LINES}` }, ...findings];
}

export function longFunctions(source: Source): Finding[] {
  return walk(source, (node) => {
    if (!babel.isFunction(node)) return null;
    const lines = lastLineOf(node) - firstLineOf(node) + 1;
    if (lines <= MAX_FUNCTION_LINES) return null;
    return `a function of ${lines} lines, at most ${MAX_FUNCTION_LINES}`;
  });
}

export function anyTypes(source: Source): Finding[] {
  return walk(source, (node) =>
    babel.isTSAnyKeyword(node) ? 'no any: say what it is, or unknown' : null,
  );
}

/** `!`, `as` without its reason, and switched off checks. */
export function narrowings(source: Source): Finding[] {
  const lines = source.text.split('\n');
  return walk(source, (node) => {
    if (babel.isTSNonNullExpression(node)) return 'no `!`: check for undefined, or assert';
    if ('definite' in node && node.definite) {
      return 'no `!`: give it a value where it is declared';
    }
    if (!babel.isTSAsExpression(node) && !babel.isTSTypeAssertion(node)) return null;
    if (textOf(source, node.typeAnnotation) === 'const') return null;
    if (isThroughUnknown(node)) return 'no `as unknown as`: it lets any mistake pass';
    if (isTrusted(lines, firstLineOf(node) - 1, lastLineOf(node) - 1)) return null;
    return 'no `as` without `// trust:` and the reason, on this line or above';
  });
}

function isThroughUnknown({ expression }: babel.TSAsExpression | babel.TSTypeAssertion): boolean {
  return babel.isTSAsExpression(expression) && babel.isTSUnknownKeyword(expression.typeAnnotation);
}

function isTrusted(lines: readonly string[], start: number, end: number): boolean {
  if (lines.slice(start, end + 1).some((line) => line.includes('// trust:'))) return true;
  for (let above = start - 1; lines[above]?.trim().startsWith('//') ?? false; above -= 1) {
    if (lines[above]?.includes('// trust:')) return true;
  }
  return false;
}

/** Errors that are neither looked at, nor replaced by words, nor left aside for a stated reason. */
export function silentErrors(source: Source): Finding[] {
  const lines = source.text.split('\n');
  return walk(source, (node, above) => {
    const handler = blindHandler(source, node);
    if (handler === null || /\bthrow\b|['"`][^'"`]/.test(textOf(source, handler))) return null;
    const statement = above.findLast((each) => babel.isStatement(each)) ?? node;
    const around = lines.slice(firstLineOf(handler) - 1, lastLineOf(handler));
    const before = [handler, node, statement].map((each) => lines[firstLineOf(each) - 2] ?? '');
    if ([...around, ...before].some((line) => /\/\/|\*\/\s*$/.test(line))) return null;
    return 'an error that nobody hears of: say in a comment why that is right';
  });
}

/** A handler that takes no error; null: the node has none. */
function blindHandler(source: Source, node: babel.Node): babel.Node | null {
  if (babel.isCatchClause(node)) return node.param == null ? node : null;
  if (!babel.isCallExpression(node) && !babel.isOptionalCallExpression(node)) return null;
  const { callee, arguments: given } = node;
  if (!babel.isMemberExpression(callee) && !babel.isOptionalMemberExpression(callee)) return null;
  const name = textOf(source, callee.property);
  const isListener =
    /^(on|once)$/.test(name) && babel.isStringLiteral(given[0], { value: 'error' });
  const handler = name === 'catch' ? given[0] : name === 'then' || isListener ? given[1] : null;
  return babel.isFunction(handler) && handler.params.length === 0 ? handler : null;
}

export function suppressions({ path, text }: Source): Finding[] {
  return matches(path, text, /@ts-(?:ignore|nocheck|expect-error)/, 'no switched off type check');
}

export function leftovers({ path, text }: Source): Finding[] {
  return matches(path, text, /\b(?:TODO|FIXME|XXX)\b/, 'nothing is left for later in a comment');
}

export function wholeRows({ path, text }: Source): Finding[] {
  return matches(path, text, /\bSELECT\s+(?:\w+\.)?\*/i, 'name the columns, no SELECT *');
}

/** SQLite plans a statement with a bare parameter there again at each call: five times the cost. */
export function plannedAgain({ path, text }: Source): Finding[] {
  return matches(path, text, /\bLIMIT\s+[?@:$]/, 'write `LIMIT +?`, which is planned once');
}

function matches(path: string, text: string, pattern: RegExp, rule: string): Finding[] {
  return text
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [{ path, line: index + 1, rule }] : []));
}

const CLOCK = 'src/engine/runtime/clock.ts';
const RNG = 'src/engine/runtime/rng.ts';
const MAIN = 'src/server/main.ts';
/** Time and chance of the client, which runs in browsers too. */
const CLIENT = 'src/client/platform.ts';
/** A separate program that the server starts. */
const RENDERER = 'src/api/card/renderProcess.ts';
/** Hands uWebSockets.js its limit: the library takes it from the environment only. */
const HEADER_LIMIT = 'src/api/gateway/headerLimit.ts';

/** Accesses to the world outside the program, and the only file that may use each. */
export const HOMES: Readonly<Record<string, string>> = {
  'Date.now': CLOCK,
  'performance.now': CLOCK,
  'process.hrtime': CLOCK,
  'process.uptime': CLOCK,
  setTimeout: CLOCK,
  setInterval: CLOCK,
  setImmediate: CLOCK,
  'Math.random': RNG,
  randomBytes: RNG,
  randomUUID: RNG,
  randomInt: RNG,
  'process.env': MAIN,
  'process.exit': MAIN,
  'process.on': MAIN,
  'process.once': MAIN,
  console: MAIN,
};

/** Time, chance and surroundings outside their home; they are arguments everywhere else. */
export function strays(source: Source): Finding[] {
  return walk(source, (node, above) => {
    const name = reached(source, node, above);
    const home = name !== null && Object.hasOwn(HOMES, name) ? HOMES[name] : undefined;
    if (home === undefined || home === source.path) return null;
    if (home === MAIN && source.path === RENDERER) return null;
    if (home !== MAIN && source.path === CLIENT) return null;
    if (name === 'process.env' && source.path === HEADER_LIMIT) return null;
    return `${name} is at home in ${home} only`;
  });
}

function reached(source: Source, node: babel.Node, above: readonly babel.Node[]): string | null {
  if (babel.isNewExpression(node) && babel.isIdentifier(node.callee, { name: 'Date' })) {
    return node.arguments.length === 0 ? 'Date.now' : null;
  }
  if (babel.isMemberExpression(node) || babel.isOptionalMemberExpression(node)) {
    if (!babel.isIdentifier(node.property) || node.computed) return null;
    const owner = textOf(source, node.object);
    return owner === 'globalThis' ? node.property.name : `${owner}.${node.property.name}`;
  }
  if (!babel.isIdentifier(node)) return null;
  return isNameOfMember(node, above) ? null : node.name;
}

/** `b` of `a.b` and of `{ b: 1 }`; not of `const { b: c } = a`, which takes it from there. */
function isNameOfMember(node: babel.Identifier, above: readonly babel.Node[]): boolean {
  const parent = above.at(-1);
  if (babel.isMemberExpression(parent) || babel.isOptionalMemberExpression(parent)) {
    return parent.property === node && !parent.computed;
  }
  const isKey = babel.isObjectProperty(parent) && parent.key === node && !parent.computed;
  return isKey && babel.isObjectExpression(above.at(-2));
}

const RULES_OF_ALL = [lengths, anyTypes];
const RULES_OF_SOURCE = [
  longFunctions,
  narrowings,
  silentErrors,
  suppressions,
  leftovers,
  wholeRows,
  plannedAgain,
  strays,
];

export function untidy(source: Source): Finding[] {
  const isProgram = source.path.startsWith('src/');
  const rules = isProgram ? [...RULES_OF_ALL, ...RULES_OF_SOURCE] : RULES_OF_ALL;
  return rules.flatMap((rule) => rule(source));
}
