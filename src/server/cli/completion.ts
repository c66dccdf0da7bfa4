/**
 * Scripts for bash and zsh: a function `upcurve`, which runs this program from anywhere, and what
 * completes its commands and options. Use: eval "$(npm start --silent -- completion bash)"
 */
import { COMMAND_NAMES, commandRow, isCommandName } from './commandTable.ts';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** `directory`: where the program is installed. */
export function completionScript(shell: Shell, directory: string): string {
  const run = `upcurve() { npm --prefix ${quoted(directory)} --silent start -- "$@"; }`;
  return `${run}\n${shell === 'bash' ? forBash() : forZsh()}`;
}

function forBash(): string {
  return `_upcurve() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${COMMAND_NAMES.join(' ')}'
  else case "\${COMP_WORDS[1]}" in
${cases((words) => `words='${words.join(' ')}'`)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _upcurve upcurve
`;
}

function forZsh(): string {
  return `_upcurve() {
  if (( CURRENT == 2 )); then compadd -- ${COMMAND_NAMES.join(' ')}
  else case "$words[2]" in
${cases((words) => `compadd -- ${words.join(' ')}; _files`)}
  esac; fi
}
compdef _upcurve upcurve
`;
}

function cases(body: (words: readonly string[]) => string): string {
  const names = COMMAND_NAMES.filter(isCommandName);
  const rows = names.flatMap((name) => {
    const words = wordsAfter(name);
    return words.length === 0 ? [] : [`    ${name}) ${body(words)} ;;`];
  });
  return rows.join('\n');
}

/** Options, and arguments that are words: `new` of `wallet`. */
function wordsAfter(name: Parameters<typeof commandRow>[0]): string[] {
  if (name === 'help') return COMMAND_NAMES;
  if (name === 'completion') return [...SHELLS];
  const { uses, options } = commandRow(name);
  const words = uses
    .map(([args]) => args.split(' ')[0] ?? '')
    .filter((word) => /^[a-z]+$/.test(word));
  return [...words, ...Object.keys(options).map((option) => `--${option}`)];
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
