import { expect, test } from 'vitest';
import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { runbookOf } from '../../src/core/runbooks.ts';
import { ask, serve } from '../web/running-server.ts';

test('the page of the runbooks has each rule under its anchor, and says what to do', async () => {
  await using server = await serve(new Fleet());
  const page = (await ask(`${server.url}/runbooks`)).body.toString();
  const anchors = [...page.matchAll(/id="(\w+)"><h2>(\w+)</g)].map(([, id, name]) => (id === name ? id : 'differs'));
  expect(anchors).toEqual([...alertRules]);
  for (const rule of alertRules) {
    const { cases, todo } = runbookOf(rule);
    expect(todo !== undefined || (cases.length > 0 && cases.every((one) => one.todo !== undefined))).toBe(true);
  }
  expect(page).toContain('<code>warmwarden reload</code>');
});

test('the cases of a rule name each of its causes, and the text each severity that its alert has by default', () => {
  const lacking = alertRules.flatMap((rule) => {
    const { cases, means } = runbookOf(rule);
    const { causes = [], otherSeverities = [] } = ruleBook[rule];
    const named = cases.map(({ cause }) => cause).join(', ');
    const said = `${means} ${cases.map(({ severity }) => severity).join(' ')}`.toLowerCase();
    const unnamed = causes.filter((cause) => !named.includes(cause));
    return [...unnamed, ...otherSeverities.filter((one) => !said.includes(one))].map((one) => `${rule}: ${one}`);
  });
  expect(lacking).toEqual([]);
});
