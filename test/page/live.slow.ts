// A live page in a real Chromium: what changes arrives without a reload, what its reader does stays, and a page that can no
// longer be live says why and of when it is.

import { request, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import type { Auth } from '../../src/web/access/auth.ts';
import { usualLimits } from '../../src/web/live.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { startServer } from '../support/loopback.ts';
import { runDaemon, Workplace } from '../support/process.ts';
import { sha256 } from '../support/sha256.ts';
import { action, alert, exampleFleet, mailbox, now, verdict } from '../web/example-fleet.ts';
import { serve } from '../web/running-server.ts';

const browserTest = test.skipIf(!hasBrowser());

const isInSight = `(() => {
  const { left, top, bottom } = document.activeElement.getBoundingClientRect();
  return [top + 2, bottom - 2].every((y) => document.elementFromPoint(left + 2, y)?.closest('tbody') !== null);
})()`;
const loadsSeen = "performance.getEntriesByType('navigation').length";

browserTest('a breach and its end are seen live; text, focus, scroll and open panels stay', async () => {
  const fleet = exampleFleet();
  for (let index = 0; index < 9; index += 1) {
    fleet.putAlert(alert({ rule: 'stale_data', object: `box${index}` }));
    fleet.putAction(action(`a1${index}`, mailbox('m5', 'box5@acme.example')));
  }
  await using server = await serve(fleet);
  await using browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1000, height: 500 } });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(server.url);
  await page.locator('html[data-live=on]').waitFor();
  const loads = await page.evaluate(loadsSeen);
  await page.locator('summary', { hasText: 'more' }).click();
  await page.locator('#q').fill('half a word');
  await page.evaluate('document.activeElement.setSelectionRange(2, 4)');
  const scrolled = await page.evaluate('scrollY');
  expect(scrolled).toBeGreaterThan(0);

  const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 50, bounced: 20 });
  fleet.putMailbox(mailbox('m9', 'box9@acme.example', { verdict: { at: now, answer } }));
  const first = page.locator('#rows tr').first();
  await page.locator('#rows > tr:first-child[id="row-acme/m9"]').waitFor();
  expect(await first.innerText()).toContain('Held');
  expect(await page.locator('h1').innerText()).toContain('1 mailbox over the limit and held');

  fleet.putMailbox(mailbox('m9', 'box9@acme.example'));
  await page.locator('#rows > tr:first-child:not([id="row-acme/m9"])').waitFor();
  const state = await page.evaluate(
    '(({ id, value, selectionStart, selectionEnd }) => [id, value, selectionStart, selectionEnd])(document.activeElement)',
  );
  expect(state).toEqual(['q', 'half a word', 2, 4]);
  expect(await page.evaluate("[document.querySelector('details').open, scrollY]")).toEqual([true, scrolled]);
  expect(await page.evaluate(loadsSeen)).toBe(loads);
  expect(complaints).toEqual([]);
});

browserTest('the keyboard reaches the filter, goes through the rows, selects one, and sees where it is', async () => {
  await using server = await serve(exampleFleet());
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(server.url);
  const focused = () => page.evaluate("document.activeElement.id || document.activeElement.closest('tr').id");
  await page.keyboard.press('j');
  expect(await focused()).toBe('row-northwind/m4');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  expect(await focused()).toBe('row-acme/m1');
  await page.keyboard.press('x');
  const selected = "[...document.querySelectorAll('#rows :checked')].map(({ value }) => value)";
  expect(await page.evaluate(selected)).toEqual(['acme/m1']);
  await page.locator('.selection').waitFor();
  // Neither the heading nor the commands that stay in the window hide the row that has the focus.
  await page.setViewportSize({ width: 1000, height: 420 });
  for (const key of [...'jjjjjjjj', ...'kkkkkkkk']) {
    await page.keyboard.press(key);
    expect(await page.evaluate(isInSight)).toBe(true);
  }
  await page.keyboard.press('/');
  await page.keyboard.type('j/k');
  expect([await focused(), await page.locator('#q').inputValue()]).toEqual(['q', 'j/k']);
});

const soon = { ...usualLimits, tickMs: 20, beatMs: 500 };
const isLive = (page: Page) => page.locator('html[data-live=on]').waitFor();
const said = async (page: Page) => {
  const broken = page.locator('#broken');
  await broken.waitFor({ state: 'visible' });
  return broken.innerText();
};
const isSound = (page: Page) => page.locator('#broken').waitFor({ state: 'hidden' });

browserTest('a daemon that is stopped is silent: the page says so, until the daemon goes on', async () => {
  using place = new Workplace();
  const account = { name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_nobody', plan: 'pro' };
  const config = place.configure({
    accounts: [account],
    store: { url: `sqlite:${place.path('store.db')}` },
    server: { listen: '127.0.0.1:0', auth: 'none' },
  });
  await using daemon = runDaemon(config);
  const url = await daemon.onDuty();
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.clock.install();
  await page.goto(url);
  await isLive(page);
  daemon.kill('SIGSTOP');
  try {
    await page.clock.fastForward(32_000);
    expect(await said(page)).toMatch(
      /^No answer from Warmwarden\. This page shows the state of .+ ago\. Next try in \d+ s\./,
    );
    // It asks again, and nothing answers.
    await page.clock.fastForward(5_000);
    await page.clock.fastForward(32_000);
    expect(await said(page)).toMatch(/^No answer from Warmwarden\./);
  } finally {
    daemon.kill('SIGCONT');
  }
  await page.clock.fastForward(10_000);
  await isSound(page);
  await isLive(page);
});

/** A proxy that asks for a cookie of its own first: else it answers by itself. */
const gate = (to: number, otherwise: (response: ServerResponse) => void) =>
  startServer(({ url = '', method, headers }, response) => {
    if (url === '/gate/open') return void response.writeHead(200, { 'set-cookie': 'gate=open; Path=/' }).end('Welcome');
    if (!headers.cookie?.includes('gate=open')) return otherwise(response);
    const there = request({ port: to, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    there.on('error', () => response.destroy()).end();
    response.on('close', () => there.destroy());
  });

const signedOut = 'You are no longer signed in.';
const signInPage = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in at the gate</h1>');

browserTest.each([
  [
    'sends it to its own sign-in',
    (response: ServerResponse): void => void response.writeHead(302, { location: '/gate' }).end(),
    signedOut,
  ],
  [
    'answers with its own sign-in',
    signInPage,
    'Something else answers in place of Warmwarden, for example a sign-in page.',
  ],
  ['refuses it', (response: ServerResponse): void => void response.writeHead(401).end(), signedOut],
] as const)(
  'an open page whose session at a proxy that %s has ended says so, and goes on later',
  async (_, otherwise, words) => {
    const fleet = exampleFleet();
    await using server = await serve(fleet, { liveLimits: soon });
    await using proxy = await gate(server.port, otherwise);
    await using browser = await openBrowser();
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${proxy.url}/gate/open`);
    await page.goto(`${proxy.url}/?q=acme`);
    await isLive(page);
    await page.locator('#q').fill('typed');
    await context.clearCookies();
    expect((await said(page)).startsWith(`${words} This page shows the state of `)).toBe(true);
    // The reader signs in again in another tab.
    const other = await context.newPage();
    await other.goto(`${proxy.url}/gate/open`);
    await isSound(page);
    fleet.putMailbox(mailbox('m77', 'new@acme.example'));
    await page.locator('[id="row-acme/m77"]').waitFor();
    expect(await page.locator('#q').inputValue()).toBe('typed');
  },
);

browserTest('an open page whose session has ended says so, and goes on after the sign-in', async () => {
  const auth: Auth = { tokens: [{ name: 'ann', role: 'operator', sha256: sha256('secret') }] };
  await using server = await serve(exampleFleet(), { auth: () => auth, liveLimits: soon });
  await using browser = await openBrowser();
  const context = await browser.newContext();
  const signIn = async () => {
    const tab = await context.newPage();
    await tab.goto(server.url);
    await tab.locator('input[name=token]').fill('secret');
    await tab.keyboard.press('Enter');
    await isLive(tab);
    return tab;
  };
  const page = await signIn();
  await page.locator('#q').fill('typed');
  await server.world.clock.advance(8 * dayMs);
  expect(await said(page)).toMatch(/^You are no longer signed in\. This page shows the state of .+Reload the page$/);
  await signIn();
  await isSound(page);
  await isLive(page);
  expect(await page.locator('#q').inputValue()).toBe('typed');
});

browserTest('the page of a mailbox that has left says that it is no longer brought up to date', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet, { liveLimits: soon });
  await using browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(`${server.url}/mailboxes/acme/m9`);
  await isLive(page);
  fleet.removeMailbox('acme', 'm9');
  expect(await said(page)).toMatch(
    /^Warmwarden does not guard a mailbox with this id\. This page shows the state of 03:12:07 /,
  );
  await server.world.clock.advance(hourMs);
  fleet.putMailbox(mailbox('m9', 'box9@acme.example'));
  await isSound(page);
  await page.locator('#as-of', { hasText: '04:12:07' }).waitFor();
});
