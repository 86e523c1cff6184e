import { expect, test } from 'vitest';
import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { runbookOf } from '../../src/core/runbooks.ts';
import { ask, serve, stillWorld } from '../web/running-server.ts';

test('the page of the runbooks has each rule under its anchor, and says what to do', async () => {
  const world = { ...stillWorld(), command: 'npx warmwarden' };
  await using server = await serve(new Fleet(), { world });
  const page = (await ask(`${server.url}/runbooks`)).body.toString();
  const anchors = [...page.matchAll(/id="(\w+)"><h2>(\w+)</g)].map(([, id, name]) => (id === name ? id : 'differs'));
  expect(anchors).toEqual([...alertRules]);
  for (const rule of alertRules) {
    const { cases, todo } = runbookOf(rule, 'warmwarden');
    expect(todo !== null || (cases.length > 0 && cases.every((one) => one.todo !== null))).toBe(true);
  }
  expect(page).toContain('<code>npx warmwarden reload</code>');
  expect(page).not.toContain('<code>warmwarden ');
});

test('the cases of a rule name each of its causes, and the text each severity that its alert has by default', () => {
  const lacking = alertRules.flatMap((rule) => {
    const { cases, means } = runbookOf(rule, 'warmwarden');
    const { causes = [], otherSeverities = [] } = ruleBook[rule];
    const named = cases.map(({ cause }) => cause).join(', ');
    const said = `${means} ${cases.map(({ severity }) => severity).join(' ')}`.toLowerCase();
    const unnamed = causes.filter((cause) => !named.includes(cause));
    return [...unnamed, ...otherSeverities.filter((one) => !said.includes(one))].map((one) => `${rule}: ${one}`);
  });
  expect(lacking).toEqual([]);
});
