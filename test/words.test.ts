// Words that must not come back into what users read: each names what to write instead.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { permissions, sourceFiles } from './layers.ts';
import { type Literal, literalsOf } from './support/literals.ts';

interface Stopped {
  readonly word: RegExp;
  readonly write: string;
}

/** Second words for one thing. They must not come back into comments and names either. */
const seconds: readonly Stopped[] = [
  { word: /\b(mailbox|sending) (apps?|services?)\b|\bvendors?\b/i, write: 'warm-up service' },
  { word: /\bmailbox APIs?\b/i, write: 'API, or API of the warm-up service' },
  { word: /\be?-?mail (provider|host)s?\b/i, write: 'mailbox provider' },
  { word: /\bDNS providers?\b/i, write: 'DNS host' },
];

const stopped: readonly Stopped[] = [
  ...seconds,
  { word: /\bmay (not (read|write|act|change)|write)\b/i, write: 'can, cannot, is read-only' },
  {
    word: /\breleas(e|es|ed|ing) (the |a )?(hold|holds|circuit breaker|breaker|contest)\b/i,
    write: 'apply, discard, end',
  },
  { word: /\bbreaker (is|was) (open|closed)\b/i, write: 'holds actions, holds no action' },
  { word: /\bexcept (where|if|when)\b/i, write: 'where it does hold: "where writes are on"' },
  { word: /\b(first|at) sights?\b/i, write: 'new mailbox, first judgement' },
  { word: /\bsecond looks?\b/i, write: 'second reading' },
  { word: /\bevidence\b/, write: 'the emails that count' },
  { word: /(?<![\w'.])\d+(\.\d+)? %(?=[\s.,;:)]|$)/, write: '10%' },
  { word: /\b(tested as printed|at the usual times)\b/i, write: 'nothing: a test diary, or what every page says' },
  { word: /\bhands?\b/i, write: 'operator command; by hand: yourself' },
  { word: /\bwish(es|ed)?\b/i, write: 'request, reason' },
  { word: /\b(red button|emergency stops?)\b/i, write: 'write stop' },
  { word: /\btold\b/i, write: 'notified, sent, reported' },
  { word: /\bnobody\b/i, write: 'name what: "no mailbox", "no operator"' },
  { word: /\banew\b/i, write: 'again; reload the configuration' },
  { word: /\bstand(s|ing)?\b(?! by)/i, write: 'is, remains, holds, applies' },
  { word: /\bthe other side\b/i, write: 'the receiver, the API' },
  { word: /\bevidence windows?\b/i, write: 'window; the days that count for the bounce limit' },
  { word: /\bto be done\b/i, write: 'say who does what' },
  { word: /\bit is so already\b/i, write: 'No change needed' },
  { word: /\bmay it act\b/i, write: 'Enforcement' },
  { word: /\b(hold still|keep refreshing)\b/i, write: 'Pause, resume live updates' },
  { word: /\bwho are you\b/i, write: 'Unauthorized: send a token as Bearer or basic password' },
  { word: /\btaken for\b/i, write: 'treated as' },
  { word: /\bfor want of\b/i, write: 'because ... is missing' },
  { word: /\bmend(s|ed|ing)?\b/i, write: 'fix, repair' },
  { word: /\bwants? action\b/i, write: 'breach, need an action' },
  { word: /\b(opens? the way|way back)\b/i, write: 'allow; restore' },
  { word: /\b(burns any more|stepped in)\b/i, write: 'say what Warmwarden did' },
  {
    word: /\b(Warmwarden changed nothing|Nothing was changed: Warmwarden)\b/,
    write: 'Warmwarden acts only on bounces: it may have acted on the mailbox',
  },
  { word: /\bthis alert changes nothing\b/i, write: 'Warmwarden acts only on bounces' },
  { word: /\bnot whole\b/i, write: 'incomplete' },
  { word: /\bmails\b/i, write: 'emails' },
  { word: /\b(just now|ha(s|ve) just)\b/i, write: 'the time with its zone: what is written is read for hours' },
  { word: /\bgiven up\b/i, write: 'undelivered' },
  { word: /\b(goes|went|carries|carried) on\b/i, write: 'continues' },
  { word: /\b(takes?|took|taken) back\b/i, write: 'undo, reverse' },
  { word: /\bunder way\b/i, write: 'in progress' },
  { word: /\b(besides|begun|whoever)\b/i, write: 'too, as well; started; who' },
  { word: /\bat hand\b/i, write: 'available, recent' },
  { word: /(?<!\bthere )\b(is|are|was) no (?!longer\b|more\b|other\b|change\b)[a-z]/i, write: 'is not a ...' },
  {
    word: /\b(DESIGN|POLICY|FAULTS|STYLE|PERFORMANCE|REPLICAS)\b(\.md)?/,
    write: 'a document that is in the repository',
  },
];

/** Places where a stopped word is right. `file`: how the path begins. `text`: what is around it. */
const exceptions: readonly { readonly file: string; readonly text: RegExp; readonly reason: string }[] = [
  { file: 'CHANGELOG.md', text: /hands?\b.*`/, reason: 'it names the old words' },
];

/** First words of comments that name no subject. */
const fragment =
  /^(Of|By|In|For|Whether|That|What|Who|Whose|Those|These|This|It|Its|They|So|As|How|When|Where|Since|Until|While|After|Before|At|On|With|Without|Also|Absent|Only|From|To|If|Because|Between|Among|Behind|Under|Over|Both|Nobody|Nothing|Not|Never|null|undefined|More|Most|Then|There|Told|Taken|Known)\b/;

/** First lines of the comments of a file. A comment of several `//` lines is one. */
function commentsOf(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '/**') return [(lines[index + 1] ?? '').trim().replace(/^\* ?/, '')];
    const [, doc, note] = /^\/\*\* (.*)$|^\/\/ (.*)$/.exec(text) ?? [];
    const goesOn = note !== undefined && (lines[index - 1] ?? '').trim().startsWith('// ');
    return goesOn || text.includes('biome-ignore') ? [] : [doc ?? note ?? []].flat();
  });
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

const root = new URL('../', import.meta.url);
const files = (folder: string, ending: RegExp): readonly string[] =>
  readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ending.test(entry.name))
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(root.pathname.length).replace(/^\/+/, ''));
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

function lines(file: string): readonly Place[] {
  return read(file)
    .split('\n')
    .map((text, index) => ({ file, line: index + 1, text }));
}

/** Paths of imports and words of a type (one word, no space) are not sentences. */
function sentences(file: string): readonly Place[] {
  const isText = ({ text }: Literal) => /\s/.test(text.trim());
  return literalsOf(read(file))
    .filter(isText)
    .flatMap(({ line, text }) => text.split('\n').map((one, index) => ({ file, line: line + index, text: one })));
}

function everythingUsersRead(): readonly Place[] {
  return [
    ...['README.md', 'CHANGELOG.md', 'config.example.yaml'].flatMap(lines),
    ...files('docs', /\.md$/)
      .filter((file) => !file.startsWith('docs/decisions/'))
      .flatMap(lines),
    ...files('grafana', /\.(ya?ml|json|md)$/).flatMap(lines),
    ...files('src/recipes/built-in', /\.yaml$/).flatMap(lines),
    ...files('src', /\.ts$/).flatMap(sentences),
  ];
}

/** Every word at once: most lines hold none. */
const anyStopped = new RegExp(stopped.map(({ word }) => word.source).join('|'), 'i');

function foundIn(places: readonly Place[], excepted = exceptions, words = stopped): readonly string[] {
  return places
    .filter(({ text }) => anyStopped.test(text))
    .filter(({ file, text }) => !excepted.some((one) => file.startsWith(one.file) && one.text.test(text)))
    .flatMap(({ file, line, text }) =>
      words.flatMap(({ word, write }) => {
        const match = word.exec(text);
        return match ? [`${file}:${line}: "${match[0]}" (${write}): ${text.trim().slice(0, 120)}`] : [];
      }),
    );
}

describe('the words that users read', () => {
  test('none of those that must not come back', () => {
    const places = everythingUsersRead();
    expect(places.length).toBeGreaterThan(4_000);
    expect(foundIn(places)).toEqual([]);
  });

  test('a planted one is found, with its line', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source code.
    const source = "const a = /['`]/;\nconst b = `Nobody is ${c ? 'told it' : ''} of ${d / 2 / e}.`; // 'f'";
    const literals = literalsOf(source);
    expect(literals).toEqual([
      { line: 2, text: 'Nobody is … of ….' },
      { line: 2, text: 'told it' },
      { line: 2, text: '' },
    ]);
    expect(
      foundIn(
        literals.map((one) => ({ file: 'src/a.ts', ...one })),
        [],
      ),
    ).toHaveLength(2);
  });
});

/** Lines of source with a comment or a name: all that `sentences` leaves out. */
const spaced = (text: string) => text.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ');

describe('the comments of the source', () => {
  const source = new URL('../src/', import.meta.url).pathname;
  const files = sourceFiles(source);

  test('neither they nor the names have a second word for a thing', () => {
    const places = files.flatMap((file) => lines(`src/${file}`)).map((one) => ({ ...one, text: spaced(one.text) }));
    expect(places.length).toBeGreaterThan(40_000);
    expect(foundIn(places, [], seconds)).toEqual([]);
    const planted = { file: 'src/a.ts', line: 1, text: spaced('const mailboxApp = null;') };
    expect(foundIn([planted], [], seconds)).toHaveLength(1);
  });

  test.each(Object.keys(permissions))('%s: nearly all begin with a noun or a verb', (room) => {
    const comments = files.filter((file) => file.startsWith(`${room}/`)).flatMap((file) => commentsOf(source + file));
    const fragments = comments.filter((comment) => fragment.test(comment));
    expect(comments.length).toBeGreaterThan(50);
    expect(fragments.length / comments.length, fragments.join('\n')).toBeLessThan(0.03);
  });

  test('a fragment is found', () => {
    expect([fragment.test('Of the accounts.'), fragment.test('Names of the accounts.')]).toEqual([true, false]);
  });
});
