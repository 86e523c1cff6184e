// What the YAML parser complains of -> sentences that say what to do. None quotes the file: a line may hold a secret.

/** A complaint of the parser, and where it noticed the mistake. */
export interface Complaint {
  readonly message: string;
  readonly offset: number;
  readonly line: number;
}

/** After a mistake that is not `local`, the parser misreads the lines below. */
interface Mistake {
  readonly message: string;
  readonly offset: number;
  readonly local: boolean;
}

/** One mistake a line, in the order of the file, without those that only follow from one above. */
export function syntaxMistakes(complaints: readonly Complaint[], text: string): readonly Mistake[] {
  // A bracket that is never closed is complained of once a level, which can be often.
  const firsts = new Map<number, Complaint>();
  for (const complaint of complaints.toSorted((a, b) => a.offset - b.offset)) {
    if (!firsts.has(complaint.line)) firsts.set(complaint.line, complaint);
  }
  const mistakes = [...firsts.values()].map((complaint) => diagnose(complaint, text));
  const lost = mistakes.findIndex(({ local }) => !local);
  return mistakes.filter(({ local }, index) => local || index === lost);
}

const uneven =
  'this line is not indented like the lines that belong with it: indent all keys of a mapping, and all items of a list, by the same number of spaces';
export const spaceAfterColon = 'write a space after the colon';
const missingComma = 'write a comma here, or put the value in quotes if it contains a colon';
const keyWithoutColon = 'a key needs a colon and a space after it, as in name: value';

/** The parser's words -> ours, for mistakes that stand where the parser notices them. */
const local: readonly (readonly [RegExp, string])[] = [
  [/cannot be an empty string|Unexpected alias at node end/, 'a value that begins with * or & must be in quotes'],
  [/cannot start with .* [%@`]$/, 'a value that begins with %, @ or ` must be in quotes'],
  [/^Block scalar header/, 'a value that begins with | or > must be in quotes'],
  [/^Unresolved tag/, 'a value that begins with ! must be in quotes'],
  [/^Invalid escape/, 'in double quotes, \\ begins an escape sequence: write \\\\, or use single quotes'],
  [
    /at node end$/,
    'this text follows a quoted value or a closed bracket: write one pair of quotes around the whole value',
  ],
  [/^Missing space after :/, spaceAfterColon],
  [/^Missing , |^Block collections are not allowed/, missingComma],
  [/^Unexpected (,|empty item) in/, 'there is an extra comma here: remove it'],
  [/^Comments must be separated/, 'write a space before #'],
  [/^Unexpected block-seq-ind/, 'begin the list on the next line'],
  [/^Implicit (map )?keys need/, keyWithoutColon],
];

/** The same for mistakes that change how the lines below are read. */
const lasting: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, 'this line is indented with a tab: use spaces'],
  [/ end with a }$/, 'a } is missing before this line, or this line needs more indentation'],
  [/ end with a ]$/, 'a ] is missing before this line, or this line needs more indentation'],
  [/^Unexpected flow-(map|seq)-end/, 'this bracket closes nothing: remove it'],
  [/^Unknown directive|^%(YAML|TAG)|^Unsupported YAML/, 'no line may begin with %'],
  [/call stack/, 'the file is nested too deeply, or is too large'],
  [/^Missing closing ["']/, 'this quotation mark is never closed'],
];

/** Words of the parser that are not known here lose what follows a colon: it quotes the file there. */
function diagnose(complaint: Complaint, text: string): Mistake {
  const { message, offset } = complaint;
  const ofLine = brokenLine(complaint, text);
  if (ofLine) return ofLine;
  const said = local.find(([pattern]) => pattern.test(message))?.[1];
  if (said) return { offset, message: said, local: true };
  return {
    offset,
    message: lasting.find(([pattern]) => pattern.test(message))?.[1] ?? message.replace(/(:|\n).*/s, ''),
    local: false,
  };
}

/** What only the line shows: the parser has taken it for something else. */
function brokenLine({ message, offset }: Complaint, text: string): Mistake | null {
  const start = startOfLine(text, offset);
  const rest = /^.*/.exec(text.slice(offset))?.[0] ?? '';
  const line = text.slice(start, offset) + rest;
  const at = (index: number, said: string, isLocal = true) => ({ offset: index, message: said, local: isLocal });

  if (/^Block collections/.test(message) && /^[^,\]}]*;/.test(rest)) return at(offset, 'write a comma instead of ;');
  if (/^(Implicit|Nested|A block)/.test(message)) {
    const dash = /^\s*-(?=[A-Za-z_]\w*:(\s|$))/.exec(line);
    if (dash) return at(start + dash[0].length - 1, 'write a space after the dash');
    const colon = /^\s*(- +)*[A-Za-z_]\w*:(?=[^\s:/])/.exec(line);
    if (colon) return at(start + colon[0].length - 1, spaceAfterColon);
  }
  const firstOf = (from: number) => from + (/^(?:\s|#.*\n)*/.exec(text.slice(from))?.[0].length ?? 0);
  if (/^Nested mappings/.test(message)) {
    if (/:(\s|$)/.test(rest)) return at(offset, 'a value with a colon and a space in it must be in quotes');
    return at(firstOf(offset + rest.length), uneven, false);
  }
  const beginsLine = text.slice(start, offset).trim() === '';
  if (beginsLine && /at node end$|scalar token in YAML stream/.test(message)) return at(offset, uneven, false);
  if (/must start at the same column|^A block sequence may not|^Sequence item without/.test(message)) {
    return at(firstOf(start), uneven, false);
  }
  return null;
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}
