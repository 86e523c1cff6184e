// The completion scripts of the shells. Pure.
import { commandName } from '../../command-name.ts';

export interface Grammar {
  /** What may follow, by the words of a command; by '' at the beginning. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Options that take one of several words. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
  /** Options that take a file. */
  readonly files: readonly string[];
  /** Commands whose argument is a guarded mailbox. */
  readonly mailboxPaths: readonly string[];
}

/** Asks for the guarded mailboxes whose names begin so; it prints no other characters than shells leave alone. */
const asksMailboxes = '__mailboxes --prefix';

const head = (shell: string) =>
  `# Completion of warmwarden for ${shell}; written by \`${commandName} completion ${shell}\`.`;

export function bashScript({ words, choices, files, mailboxPaths }: Grammar): string {
  return `${head('bash')}
_warmwarden() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word words="" typed parts
  # Bash breaks words at @ and :, and puts in what follows the break: a mailbox is looked for as it was typed.
  typed="\${COMP_LINE:0:COMP_POINT}"; read -ra parts <<<"$typed"; typed="\${typed##*[[:space:]]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in ${alternatives(words)}) path="\${path:+$path }$word" ;; esac
  done
  case "$prev" in
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
${[...choices].map(([option, all]) => `    ${option}) COMPREPLY=($(compgen -W "${all.join(' ')}" -- "$cur")); return ;;`).join('\n')}
    --mailbox) path="--mailbox" ;;
  esac
  case "$path" in
${[...words].map(([path, follow]) => `    "${path}") words="${follow.join(' ')}" ;;`).join('\n')}
  esac
  case "$path" in ${[...mailboxPaths.map(quoted), '--mailbox'].join('|')})
    words="$words $("\${parts[0]}" ${asksMailboxes} "$typed" -- "\${parts[@]:1}" 2>/dev/null)"
    COMPREPLY=($(compgen -W "$words" -- "$typed"))
    if [ "$typed" != "$cur" ]; then COMPREPLY=("\${COMPREPLY[@]#"\${typed%"\${typed##*[@:=]}"}"}"); fi
    return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _warmwarden warmwarden
`;
}

export function zshScript({ words, choices, files, mailboxPaths }: Grammar): string {
  return `#compdef warmwarden
${head('zsh')}
_warmwarden() {
  local at="" word
  case "\${words[CURRENT-1]}" in
    ${files.join('|')}) _files; return ;;
${[...choices].map(([option, all]) => `    ${option}) compadd -- ${all.join(' ')}; return ;;`).join('\n')}
    --mailbox) _warmwarden_mailboxes; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in (${alternatives(words)}) at="\${at:+$at }$word" ;; esac
  done
  case "$at" in (${mailboxPaths.map(quoted).join('|')}) _warmwarden_mailboxes ;; esac
  case "$at" in
${[...words].map(([path, follow]) => `    ("${path}") compadd -- ${follow.join(' ')} ;;`).join('\n')}
  esac
}
_warmwarden_mailboxes() {
  compadd -- \${(f)"$("\${words[1]}" ${asksMailboxes} "$PREFIX" -- "\${(@)words[2,-1]}" 2>/dev/null)}"}
}
if [ "$funcstack[1]" = "_warmwarden" ]; then _warmwarden; else compdef _warmwarden warmwarden; fi
`;
}

export function fishScript({ words, choices, files, mailboxPaths }: Grammar): string {
  const at = (path: string) => `-n '__warmwarden_at "${path}"'`;
  const mailboxes = `-a '(__warmwarden_mailboxes)'`;
  return `${head('fish')}
function __warmwarden_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- "$next" ${[...words.keys()].filter(Boolean).map(quoted).join(' ')}; and set at "$next"
    end
    test "$at" = "$argv[1]"
end
function __warmwarden_mailboxes
    set -l line (commandline -opc)
    $line[1] ${asksMailboxes} (commandline -ct) -- $line[2..-1] 2>/dev/null
end
complete -c warmwarden -f
${files.map((option) => `complete -c warmwarden -l ${option.slice(2)} -r -F`).join('\n')}
${[...choices].map(([option, all]) => `complete -c warmwarden -l ${option.slice(2)} -x -a '${all.join(' ')}'`).join('\n')}
complete -c warmwarden -l mailbox -x ${mailboxes}
${[...words].map(([path, follow]) => `complete -c warmwarden ${at(path)} -a '${follow.join(' ')}'`).join('\n')}
${mailboxPaths.map((path) => `complete -c warmwarden ${at(path)} ${mailboxes}`).join('\n')}
`;
}

/** As the alternatives of a `case`. */
function alternatives(words: Grammar['words']): string {
  return [...words.keys()].filter(Boolean).map(quoted).join('|');
}

function quoted(path: string): string {
  return `"${path}"`;
}
