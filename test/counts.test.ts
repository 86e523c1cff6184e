// No text counts one thing in the plural: a number before a plural noun comes from `counted`, or can't be one.
import { expect, test } from 'vitest';
import { sourceTexts } from './layers.ts';
import { root } from './support/process.ts';

const nouns =
  'accounts|actions|alerts|answers|bounces|channels|days|decisions|domains|emails|entries|files|hours|keys|lines|lists|mailboxes|messages|minutes|parameters|points|polls|problems|recipes|requests|rows|runs|seconds|settings|silences|times|tokens|tries|warnings';
const written = new RegExp(`\\$\\{([^\`{}]*)\\} (?:more |other |guarded )?(?:${nouns})\\b`, 'g');

/** What comes before a plural and is never one, with the reason. */
const neverOne: Readonly<Record<string, string>> = {
  'src/alerts/engine.ts: unstable.times': 'twice or more',
  'src/alerts/rules/budget-rule.ts: throttledLastHour': 'three or more',
  'src/alerts/rules/mailbox-rules.ts: limit': 'over the maximum of recovery mode',
  'src/alerts/rules/mailbox-rules.ts: days': 'a constant',
  'src/alerts/rules/action-rules.ts: count - 1': 'once has a word of its own',
  'src/cli/backtest.ts: recoveryMailsPerDay': 'a constant',
  'src/cli/doctor/network.ts: commandName': 'a command',
  'src/cli/explain.ts: count': 'one answer has no number',
  'src/recipes/catalogue.ts: paths.length': 'more than the files that are read',
  'src/recipes/execution.ts: operationRows': 'a constant',
  'src/recipes/runner.ts: own': 'the share of one key',
  'src/recipes/runner.ts: waiting.length': 'the most that may wait',
  'src/account/record/persons.ts: maxPerDay[mode]': 'a constant',
  'src/account/record/persons.ts: targetLimit': 'over the maximum of a mode',
  'src/web/commands/prepared.ts: maxMailboxes': '100',
  'src/config/checks.ts: severity': 'a word, not a number',
  'src/api/stats-days.ts: asked': 'more than seven',
  'src/web/overview/headline.ts: cause.name': 'a name, not a number',
  'src/web/page/mailbox-page.ts: numberText(count)': 'once is not said',
  'src/web/query.ts: all.length': 'once is no repetition',
  'src/web/recipes/recipe-routes.ts: rate.limit': 'the limit of a plan',
  'src/core/wording/causes.ts: bounces.length': 'one bounce has a sentence of its own',
  'src/core/wording/explain.ts: action.attempts': 'one attempt has no number',
  'src/core/wording/phrases.ts: Math.floor(span / dayMs)': 'two days or more',
  'src/core/wording/phrases.ts: Math.round(span / dayMs)': 'two days or more',
};

function uncounted(text: string): readonly string[] {
  const numbers = [...text.matchAll(written)].map(([, inner = '']) => inner);
  // `command` is the name of the program: `${command} channels test`.
  return numbers.filter((inner) => !/^counted(Of)?\(|\bcommand$/.test(inner));
}

const found = sourceTexts(root, ['src']).flatMap(({ file, text }) =>
  uncounted(text).map((inner) => `${file}: ${inner}`),
);

test('a number before a plural is counted, or never one', () => {
  expect([...new Set(found)].sort()).toEqual(Object.keys(neverOne).sort());
});

test('the check sees what it should', () => {
  const open = '$' + '{';
  expect(uncounted(`${open}ours.length} mailboxes and ${open}counted(n, 'alert')} alerts`)).toEqual(['ours.length']);
  expect(uncounted(`${open}n} more mailboxes`)).toEqual(['n']);
});
