// Every rule has its runbook: in the documentation and on the page that the messages lead to.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alertRules } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { ask, serve, stillWorld } from '../web/running-server.ts';

test('docs/runbooks.md has a section for each rule, whose anchor is its name', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/runbooks.md'), 'utf8');
  const headings = [...text.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual([...alertRules]);
});

test('the page of the runbooks has each rule under its anchor, and says what to do', async () => {
  const world = { ...stillWorld(), command: 'npx warmwarden' };
  await using server = await serve(new Fleet(), { world });
  const page = (await ask(`${server.url}/runbooks`)).body.toString();
  const anchors = [...page.matchAll(/id="(\w+)"><h2>(\w+)</g)].map(([, id, name]) => (id === name ? id : 'differs'));
  expect(anchors).toEqual([...alertRules]);
  expect(page.match(/What to do\./g)).toHaveLength(alertRules.length);
  expect(page).toContain('<code>npx warmwarden reload</code>');
  expect(page).not.toContain('<code>warmwarden ');
});
