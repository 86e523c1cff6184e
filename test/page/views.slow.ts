// Every view in a real Chromium, light and dark, wide and narrow: axe-core finds nothing, nothing scrolls sideways, no
// error in the console, and what strangers wrote stays text.

import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTags } from '../../src/core/mailbox.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { testStore } from '../outbox/test-store.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { account, action, alert, exampleFleet, fleetOf, mailbox, now, verdict } from '../web/example-fleet.ts';
import { serve, stillWorld } from '../web/running-server.ts';

interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

interface Look {
  readonly paths: readonly string[];
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** What is wider than its cell or paragraph lies over its neighbour. What is cut off, or can be scrolled to, does not. */
const spilling = `[...document.querySelectorAll('main td, main tbody th, main dd, main li, main p')]
  .filter((one) => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
  .filter((one) => getComputedStyle(one).overflowX === 'visible')
  .map((one) => one.textContent.trim().slice(0, 80))`;

/** More width than the window or the cell, errors in the console, markup of strangers. In sentences; empty: nothing. */
async function troublesOf(browser: Browser, url: string, look: Look): Promise<readonly string[]> {
  const { paths, width, colorScheme } = look;
  // axe-core is put into the page by the test, which its policy forbids to the page itself.
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  const troubles: string[] = [];
  for (const path of paths) {
    await page.goto(url + path, { waitUntil: 'load' });
    const where = `${path} ${width} ${colorScheme}`;
    const beyond = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
    if (beyond > 0) troubles.push(`${where}: ${beyond} px beyond the window`);
    troubles.push(...(await page.evaluate<readonly string[]>(spilling)).map((one) => `${where}: spills over: ${one}`));
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate('axe.run()')) as Found;
    troubles.push(...violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html.slice(0, 160)}`));
    const marks = Number(await page.locator('main img, main script').count());
    if (marks > 0) troubles.push(`${where}: markup of strangers`);
  }
  await page.close();
  return [...troubles, ...complaints.filter((text) => !text.includes('404'))];
}

const browserTest = test.skipIf(!hasBrowser());

const nasty = `<img src=x onerror=alert(1)>"'&\u202e\u0007@acme.example`;

/** A fleet that has something on every view, written by strangers. */
async function troubledServer() {
  const fleet = exampleFleet();
  fleet.tags = { ...noTags, all: () => ['vip'], of: () => ['vip'] };
  const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 50, bounced: 20 });
  const bad = mailbox('<b>"id/..%', nasty, { verdict: { at: now, answer } });
  fleet.putMailbox(bad);
  fleet.putAction(action('a9', bad, { state: 'unconfirmed', detail: nasty, nextTryAt: now + 5 * minuteMs }));
  const facts = { title: nasty, sentences: [`${nasty} bounced.`, 'Run `warmwarden status`.'], numbers: {} };
  for (let index = 0; index < 9; index += 1)
    fleet.putAlert(alert({ rule: 'stale_data', object: `box${index}`, facts }));
  fleet.putAlert(alert({ rule: 'blacklisted', severity: 'critical', mailboxId: bad.id, facts }));
  const match = { rule: ['stale_*'] };
  fleet.putSilence({ id: 's1', match, by: nasty, reason: nasty, from: now - hourMs, until: now + hourMs });
  const parts = { account: 'acme', since: now };
  fleet.putSweep({ ...parts, mailboxes: 14, read: 10, doneAt: now + minuteMs });
  const world = stillWorld();
  const { runs } = testStore();
  const run = {
    ...{ id: 'r1', recipe: 'breaches', status: 'succeeded' as const, parameters: {}, apply: false, by: nasty },
    ...{ createdAt: now, startedAt: now, endedAt: now, truncated: false, error: null },
    ...{ columns: ['email', 'a_rather_long_name_of_a_column', 'more'], rowCount: 1 },
  };
  await runs.write(run, [{ firstRow: 0, count: 1, rows: JSON.stringify([[nasty, nasty.repeat(9), 3]]) }]);
  const command = {
    ...{ id: 4, at: now - minuteMs, by: nasty, reason: nasty, name: 'pause', command: `pause ${nasty}` },
    ...{ account: 'acme', mailboxes: [], end: 'failed' as const, endedAt: now, outcome: nasty },
  };
  const decided = { since: now - hourMs, until: now, count: 3, firstSent: 1, firstDays: [], days: [], verdict: answer };
  const change = { what: 'mode' as const, from: 'balanced', to: nasty, since: now - hourMs, at: now };
  const past = alert({ rule: 'dns_failing', facts });
  return serve(fleet, {
    recipes: { service: recipeRunner(world, { runs }), world, callerOf: () => null },
    history: { commands: async () => [command], guardActions: async () => [action('a8', bad)] },
    entries: { entriesOf: async () => ({ decisions: [decided], actions: [action('a7', bad)], changes: [change] }) },
    transitions: async () => [{ id: 1, transition: { kind: 'event', at: now, alert: past } }],
  });
}

const paths = [
  ...['/', '/?state=held&sort=rate', '/?q=nothing-fits', '/groups?by=domain', '/groups?by=tag', '/alerts', '/activity'],
  ...['/silences', '/recipes', '/recipes/breaches', '/recipes/pause-domain', '/runs/r1'],
  ...['/runbooks', '/mailboxes/acme/m1', '/mailboxes/northwind/m4', '/nowhere'],
  `/mailboxes/acme/${encodeURIComponent('<b>"id/..%')}`,
];

browserTest('no view has anything that axe-core finds, an error, or more width than its window', async () => {
  await using server = await troubledServer();
  await using browser = await openBrowser();
  const troubles: string[] = [];
  for (const width of [1200, 360]) {
    for (const colorScheme of ['light', 'dark'] as const)
      troubles.push(...(await troublesOf(browser, server.url, { paths, width, colorScheme })));
  }
  expect(troubles).toEqual([]);
  // What finds nothing must be able to find something.
  const page = await browser.newPage();
  await page.setContent('<img src="x"><p style="color:#ccc">pale</p>');
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as Found;
  expect(violations.map(({ id }) => id)).toEqual(expect.arrayContaining(['color-contrast', 'image-alt']));
});

/** Names as long as the standards allow, in every place that has one. */
function longNames(): Fleet {
  const fleet = new Fleet();
  const name = 'a-name-that-an-agency-gave-to-one-of-its-clients-'.repeat(3);
  const email = `${'averylonglocalpart'.repeat(4).slice(0, 64)}@${'subdomain.'.repeat(18)}example`;
  fleet.putAccount(account(name, { failingSince: now - hourMs, lastFailure: `No answer from ${email.repeat(2)}.` }));
  const one = mailbox('0123456789abcdef'.repeat(8), email, { account: name });
  fleet.putMailbox(one);
  fleet.putAction(action('a1', one, { detail: name }));
  const facts = { title: `${email}: DKIM fails`, sentences: [name], numbers: {} };
  fleet.putAlert(alert({ rule: 'dns_failing', account: name, mailboxId: one.id, email, facts }));
  fleet.putSilence({ id: 's1', match: { account: [name] }, by: name, reason: name, from: now, until: now + hourMs });
  const failing = { failingSince: now - hourMs, lastFailure: name, refusesSetup: false };
  const counts = { pending: 3, oldestPendingAt: now - hourMs, undelivered: 2, lastSuccessAt: null };
  fleet.putChannel({ name, type: 'slack', ...counts, ...failing });
  return fleet;
}

const fails = () => Promise.reject(new Error('the disk is full'));
const strange = [
  ['no account', new Fleet(), {}],
  ['long names', longNames(), {}],
  ['more mailboxes than a page of the table has', fleetOf(60), {}],
  [
    'a store that fails',
    exampleFleet(),
    {
      ...{ deliveries: fails, transitions: fails, entries: { entriesOf: fails } },
      history: { commands: fails, guardActions: fails },
    },
  ],
] as const;

browserTest.each(strange)('with %s, too', async (_what, fleet, parts) => {
  await using server = await serve(fleet, parts);
  const ofOne = [...fleet.mailboxes()].slice(0, 1).map(({ account: of, id }) => `/mailboxes/${of}/${id}`);
  const views = ['/', '/groups', '/alerts', '/activity', '/silences', ...ofOne];
  await using browser = await openBrowser();
  const troubles: string[] = [];
  for (const [width, colorScheme] of [
    [1200, 'light'],
    [360, 'dark'],
  ] as const)
    troubles.push(...(await troublesOf(browser, server.url, { paths: views, width, colorScheme })));
  expect(troubles).toEqual([]);
});
