// The completion scripts of the shells. Pure.
import { commandName } from '../../world/command-name.ts';

export interface Grammar {
  /** What may follow, by the words of a command; by '' at the beginning. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Options that take one of several words. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
  /** Options that take a file. */
  readonly files: readonly string[];
}

const head = (shell: string) =>
  `# Completion of warmwarden for ${shell}; written by \`${commandName} completion ${shell}\`.`;

export function bashScript({ words, choices, files }: Grammar): string {
  return `${head('bash')}
_warmwarden() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word before="" words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${alternatives(words)}) path="\${path:+$path }$word" ;;
    esac
    before="$word"
  done
  case "$before" in
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
${[...choices].map(([option, all]) => `    ${option}) COMPREPLY=($(compgen -W "${all.join(' ')}" -- "$cur")); return ;;`).join('\n')}
  esac
  case "$path" in
${[...words].map(([path, follow]) => `    "${path}") words="${follow.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _warmwarden warmwarden
`;
}

export function zshScript({ words, choices, files }: Grammar): string {
  return `#compdef warmwarden
${head('zsh')}
_warmwarden() {
  local at="" word
  case "\${words[CURRENT-1]}" in
    ${files.join('|')}) _files; return ;;
${[...choices].map(([option, all]) => `    ${option}) compadd -- ${all.join(' ')}; return ;;`).join('\n')}
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      (${alternatives(words)}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at" in
${[...words].map(([path, follow]) => `    ("${path}") compadd -- ${follow.join(' ')} ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_warmwarden" ]; then _warmwarden; else compdef _warmwarden warmwarden; fi
`;
}

export function fishScript({ words, choices, files }: Grammar): string {
  const at = (path: string) => `-n '__warmwarden_at "${path}"'`;
  return `${head('fish')}
function __warmwarden_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        if contains -- "$next" ${[...words.keys()].filter(Boolean).map(quoted).join(' ')}
            set at "$next"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c warmwarden -f
${files.map((option) => `complete -c warmwarden -l ${option.slice(2)} -r -F`).join('\n')}
${[...choices].map(([option, all]) => `complete -c warmwarden -l ${option.slice(2)} -x -a '${all.join(' ')}'`).join('\n')}
${[...words].map(([path, follow]) => `complete -c warmwarden ${at(path)} -a '${follow.join(' ')}'`).join('\n')}
`;
}

/** As the alternatives of a `case`. */
function alternatives(words: Grammar['words']): string {
  return [...words.keys()].filter(Boolean).map(quoted).join('|');
}

function quoted(path: string): string {
  return `"${path}"`;
}
