// Comments of the source, and those that begin with a fragment: a preposition, a conjunction or a pronoun.
import { readFileSync } from 'node:fs';

/** First words of comments that name no subject. */
const fragment =
  /^(Of|By|In|For|Whether|That|What|Who|Whose|Those|These|This|It|Its|They|So|As|How|When|Where|Since|Until|While|After|Before|At|On|With|Without|Also|Absent|Only|From|To|If|Because|Between|Among|Behind|Under|Over|Both|Nobody|Nothing|Not|Never|null|undefined|More|Most|Then|There|Told|Taken|Known)\b/;

/** First lines of the comments of a file. A comment of several `//` lines is one. */
export function commentsOf(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '/**') return [(lines[index + 1] ?? '').trim().replace(/^\* ?/, '')];
    const [, doc, note] = /^\/\*\* (.*)$|^\/\/ (.*)$/.exec(text) ?? [];
    const goesOn = note !== undefined && (lines[index - 1] ?? '').trim().startsWith('// ');
    return goesOn || text.includes('biome-ignore') ? [] : [doc ?? note ?? []].flat();
  });
}

export const beginsWithFragment = (comment: string) => fragment.test(comment);
