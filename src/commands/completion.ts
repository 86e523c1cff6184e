// `warmwarden completion bash|zsh`: a script with which the shell completes commands and options.
import { Argument, Command } from 'commander';
import { commandName } from '../command-name.ts';

/** `all`: the commands to complete; asked when the script is written. */
export function completionCommand(all: () => Promise<readonly Command[]>): Command {
  return new Command('completion')
    .description('a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'bash or zsh').choices(['bash', 'zsh']))
    .action(async (shell: string) => {
      const words = wordsOf(await all());
      process.stdout.write(shell === 'bash' ? bashScript(words) : zshScript(words));
    });
}

/** What may follow: by the words of a command (none: at the beginning), its commands, options and choices. */
function wordsOf(commands: readonly Command[], path = ''): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>([[path, commands.map((command) => command.name())]]);
  for (const command of commands) {
    const here = path === '' ? command.name() : `${path} ${command.name()}`;
    const options = command.options.flatMap(({ long }) => long ?? []);
    const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
    for (const [below, follow] of wordsOf(command.commands, here)) words.set(below, follow);
    words.set(here, [...(words.get(here) ?? []), ...choices, ...options, '--help']);
  }
  return words;
}

function bashScript(words: ReadonlyMap<string, readonly string[]>): string {
  return `# Completion of warmwarden for bash; written by \`${commandName} completion bash\`.
_warmwarden() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words=""
  case "$prev" in --config|--stats|--guard|--cases) COMPREPLY=($(compgen -f -- "$cur")); return ;; esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in ${pathsOf(words)}) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${[...words].map(([path, follow]) => `    "${path}") words="${follow.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _warmwarden warmwarden
`;
}

function zshScript(words: ReadonlyMap<string, readonly string[]>): string {
  return `#compdef warmwarden
# Completion of warmwarden for zsh; written by \`${commandName} completion zsh\`.
_warmwarden() {
  local at="" word
  case "\${words[CURRENT-1]}" in --config|--stats|--guard|--cases) _files; return ;; esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in (${pathsOf(words)}) at="\${at:+$at }$word" ;; esac
  done
  case "$at" in
${[...words].map(([path, follow]) => `    ("${path}") compadd -- ${follow.join(' ')} ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_warmwarden" ]; then _warmwarden; else compdef _warmwarden warmwarden; fi
`;
}

/** As the alternatives of a `case`. */
function pathsOf(words: ReadonlyMap<string, readonly string[]>): string {
  return [...words.keys()]
    .filter((path) => path !== '')
    .map((path) => `"${path}"`)
    .join('|');
}
