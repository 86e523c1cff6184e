// docs/log.md against the sources: it has every message of the log, also those that are put together.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { sourceFiles } from './layers.ts';
import { literalsOf } from './support/literals.ts';

const root = join(import.meta.dirname, '../src');
const docs = readFileSync(join(import.meta.dirname, '../docs/log.md'), 'utf8');

/** Messages that are made elsewhere, by file and expression, and how docs/log.md gives them. */
const madeElsewhere: Readonly<Record<string, string>> = {
  'account/act/requests.ts: text': '`sending: KIND`, `the POST failed: ...`, `KIND: STATE`',
  'cli/run/guard.ts: formatProblem(file, warning)': 'what the configuration allows but probably does not mean',
  'cli/run/guard.ts: text': '`SIGTERM: stopping; a second signal stops at once`, `stopped`',
  'daemon/open.ts: news': '`Created a new, empty store: FILE.`',
  'daemon/open.ts: warning': 'a file or the folder of the store is open to other users',
  'daemon/operate.ts: errorText(error)': 'why the socket for operator commands',
  'api/client.ts: cutText(cut)':
    '`the API gives 14 instead of 30 days of statistics (...): Warmwarden judges by these`',
  'api/client.ts: sentence': 'what is doubtful in an answer of the API',
  'account/account-health.ts: `${sumText(forecast)}. ${mendText(forecast)}`': 'warn when the rate limit is too small',
  'account/account-health.ts: failure.detail':
    "a failure of the API in its own words, with `failure` and `status`; an account's",
  'account/account-health.ts: said': "as error, a mailbox's as warn",
  'account/account-health.ts: sumText(forecast)':
    '`12 mailboxes at 90 requests a minute: the cadence needs 3 a minute, extra polls take up to 50; ...`',
};

const logCall = /\blog(?:\.(?:info|warn|error)|\[[^\]]*\])$/;

/** The last argument of each call of the log: the message. */
function messagesIn(text: string): readonly string[] {
  const found: string[] = [];
  const { program } = parseSync('source.ts', text);
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      const last = given.at(-1);
      if (last && logCall.test(text.slice(callee.start, callee.end))) found.push(text.slice(last.start, last.end));
    },
  }).visit(program);
  return found;
}

/** What of a message is written out: whole literals, and the parts of a template between its values. */
const writtenIn = (message: string): readonly string[] =>
  literalsOf(`(${message})`)
    .flatMap(({ text }) => text.split('…'))
    .map((part) => part.trim())
    .filter((part) => /[a-z]{3}/i.test(part));

const files = sourceFiles(root).filter((file) => !file.startsWith('simulator/') && file !== 'world.ts');
const all = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return messagesIn(text).flatMap((message) => valuesOf(message, text).map((value) => ({ file, message: value })));
});

/** What a name in this file is set to, each time with words of its own; what is no such name is itself. */
function valuesOf(message: string, text: string): readonly string[] {
  if (!/^\w+$/.test(message)) return [message];
  const set = [...text.matchAll(new RegExp(`const ${message} =([^;]*);`, 'g'))].map(([, value = '']) => value.trim());
  const inWords = set.filter((value) => writtenIn(value).length > 0);
  return inWords.length > 0 ? inWords : [message];
}

test('every message that is written out is in docs/log.md', () => {
  const said = all.flatMap(({ file, message }) => writtenIn(message).map((part) => ({ file, part })));
  expect(said.length).toBeGreaterThan(60);
  expect(said.filter(({ part }) => !docs.includes(part))).toEqual([]);
});

test('every message that is made elsewhere is in docs/log.md, too', () => {
  const made = all.filter(({ message }) => writtenIn(message).length === 0);
  const names = [...new Set(made.map(({ file, message }) => `${file}: ${message}`))];
  expect(names.sort()).toEqual(Object.keys(madeElsewhere).sort());
  expect(Object.values(madeElsewhere).filter((given) => !docs.includes(given))).toEqual([]);
});
