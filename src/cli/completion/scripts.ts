// The completion scripts of the shells. Pure.
import { commandName } from '../../world/command-name.ts';
import { type NameKind, nameKinds } from '../names.ts';

export interface Grammar {
  /** What may follow, by the words of a command; by '' at the beginning. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  /** Options that take one of several words. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
  /** Options that take a file. */
  readonly files: readonly string[];
  /** What the first argument of a command names, by the words of the command. */
  readonly names: ReadonlyMap<string, NameKind>;
}

/** The command that prints the names of a kind that begin so; it prints no other characters than shells leave alone. */
const asksNames = '__names';

const head = (shell: string) =>
  `# Completion of warmwarden for ${shell}; written by \`${commandName} completion ${shell}\`.`;

export function bashScript({ words, choices, files, names }: Grammar): string {
  return `${head('bash')}
_warmwarden() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word before="" given="" kind="" words="" typed parts
  # Bash breaks words at @ and :, and puts in what follows the break: a name is looked for as it was typed.
  typed="\${COMP_LINE:0:COMP_POINT}"; read -ra parts <<<"$typed"; typed="\${typed##*[[:space:]]}"
  for word in "\${parts[@]:1:\${#parts[@]}-1-(\${#typed}>0)}"; do
    case "\${path:+$path }$word" in
      ${alternatives(words)}) path="\${path:+$path }$word" ;;
      *) if [[ $word != -* && $before != -* ]]; then given=1; fi ;;
    esac
    before="$word"
  done
  case "$before" in
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$cur")); return ;;
${[...choices].map(([option, all]) => `    ${option}) COMPREPLY=($(compgen -W "${all.join(' ')}" -- "$cur")); return ;;`).join('\n')}
    --mailbox) path="" kind=mailbox ;;
    *) case "$path$given" in
${byKind(names)
  .map(([kind, paths]) => `      ${paths.join('|')}) kind=${kind} ;;`)
  .join('\n')}
    esac ;;
  esac
  case "$path" in
${[...words].map(([path, follow]) => `    "${path}") words="${follow.join(' ')}" ;;`).join('\n')}
  esac
  if [ -n "$kind" ]; then
    words="$words $("\${parts[0]}" ${asksNames} "$kind" --prefix "$typed" -- "\${parts[@]:1}" 2>/dev/null)"
    COMPREPLY=($(compgen -W "$words" -- "$typed"))
    if [ "$typed" != "$cur" ]; then COMPREPLY=("\${COMPREPLY[@]#"\${typed%"\${typed##*[@:=]}"}"}"); fi
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _warmwarden warmwarden
`;
}

export function zshScript({ words, choices, files, names }: Grammar): string {
  return `#compdef warmwarden
${head('zsh')}
_warmwarden() {
  local at="" word before="" given=""
  case "\${words[CURRENT-1]}" in
    ${files.join('|')}) _files; return ;;
${[...choices].map(([option, all]) => `    ${option}) compadd -- ${all.join(' ')}; return ;;`).join('\n')}
    --mailbox) _warmwarden_names mailbox; return ;;
  esac
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      (${alternatives(words)}) at="\${at:+$at }$word" ;;
      (*) if [[ $word != -* && $before != -* ]]; then given=1; fi ;;
    esac
    before="$word"
  done
  case "$at$given" in
${byKind(names)
  .map(([kind, paths]) => `    (${paths.join('|')}) _warmwarden_names ${kind} ;;`)
  .join('\n')}
  esac
  case "$at" in
${[...words].map(([path, follow]) => `    ("${path}") compadd -- ${follow.join(' ')} ;;`).join('\n')}
  esac
}
_warmwarden_names() {
  compadd -- \${(f)"$("\${words[1]}" ${asksNames} "$1" --prefix "$PREFIX" -- "\${(@)words[2,-1]}" 2>/dev/null)}"}
}
if [ "$funcstack[1]" = "_warmwarden" ]; then _warmwarden; else compdef _warmwarden warmwarden; fi
`;
}

export function fishScript({ words, choices, files, names }: Grammar): string {
  const at = (path: string) => `-n '__warmwarden_at "${path}"'`;
  const named = (kind: NameKind) => `-a '(__warmwarden_names ${kind})'`;
  return `${head('fish')}
function __warmwarden_at
    set -l at ''
    set -l before ''
    set -l given ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        if contains -- "$next" ${[...words.keys()].filter(Boolean).map(quoted).join(' ')}
            set at "$next"
        else if not string match -q -- '-*' "$word"; and not string match -q -- '-*' "$before"
            set given yes
        end
        set before "$word"
    end
    test "$at" = "$argv[1]"; and begin
        test "$argv[2]" != first; or test -z "$given"
    end
end
function __warmwarden_names
    set -l line (commandline -opc)
    $line[1] ${asksNames} $argv[1] --prefix (commandline -ct) -- $line[2..-1] 2>/dev/null
end
complete -c warmwarden -f
${files.map((option) => `complete -c warmwarden -l ${option.slice(2)} -r -F`).join('\n')}
${[...choices].map(([option, all]) => `complete -c warmwarden -l ${option.slice(2)} -x -a '${all.join(' ')}'`).join('\n')}
complete -c warmwarden -l mailbox -x ${named('mailbox')}
${[...words].map(([path, follow]) => `complete -c warmwarden ${at(path)} -a '${follow.join(' ')}'`).join('\n')}
${[...names].map(([path, kind]) => `complete -c warmwarden -n '__warmwarden_at "${path}" first' ${named(kind)}`).join('\n')}
`;
}

/** The commands, quoted, whose first argument is of a kind. */
function byKind(names: Grammar['names']): readonly (readonly [NameKind, readonly string[]])[] {
  const paths = [...names.keys()];
  return nameKinds.map((kind) => [kind, paths.filter((path) => names.get(path) === kind).map(quoted)] as const);
}

/** As the alternatives of a `case`. */
function alternatives(words: Grammar['words']): string {
  return [...words.keys()].filter(Boolean).map(quoted).join('|');
}

function quoted(path: string): string {
  return `"${path}"`;
}
