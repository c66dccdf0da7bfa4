/**
 * Scripts for bash and zsh: a function `upcurve`, which runs this program from anywhere, and what
 * completes its commands and options. Use: eval "$(npm start --silent -- completion bash)"
 */
import type { CliCommand } from './command.ts';

/** `directory`: where the program is installed. */
export function completionScript(
  shell: 'bash' | 'zsh',
  directory: string,
  commands: readonly CliCommand[],
): string {
  const run = `upcurve() { npm --prefix ${quoted(directory)} --silent start -- "$@"; }`;
  return `${run}\n${shell === 'bash' ? forBash(commands) : forZsh(commands)}`;
}

function forBash(commands: readonly CliCommand[]): string {
  return `_upcurve() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then words='${namesOf(commands).join(' ')}'
  else case "\${COMP_WORDS[1]}" in
${cases(commands, (words) => `words='${words.join(' ')}'`)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _upcurve upcurve
`;
}

function forZsh(commands: readonly CliCommand[]): string {
  return `_upcurve() {
  if (( CURRENT == 2 )); then compadd -- ${namesOf(commands).join(' ')}
  else case "$words[2]" in
${cases(commands, (words) => `compadd -- ${words.join(' ')}; _files`)}
  esac; fi
}
compdef _upcurve upcurve
`;
}

function cases(
  commands: readonly CliCommand[],
  body: (words: readonly string[]) => string,
): string {
  const rows = commands.flatMap((command) => {
    const words = command.name === 'help' ? namesOf(commands) : wordsAfter(command);
    return words.length === 0 ? [] : [`    ${command.name}) ${body(words)} ;;`];
  });
  return rows.join('\n');
}

function namesOf(commands: readonly CliCommand[]): string[] {
  return commands.map(({ name }) => name);
}

/** Options, and arguments that are words: `new` of `wallet`. */
function wordsAfter({ uses, options }: CliCommand): string[] {
  const words = uses
    .flatMap(([args]) => args.split(' ')[0]?.split('|') ?? [])
    .filter((word) => /^[a-z]+$/.test(word));
  return [...words, ...Object.keys(options).map((option) => `--${option}`)];
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
