// The page in a real Chromium: it loads what it needs under its content security policy, and logs no error.
import { expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { exampleFleet } from './example-fleet.ts';
import { serve } from './running-server.ts';

test.skipIf(!hasBrowser())('every page opens without an error in the console', async () => {
  await using server = await serve(exampleFleet());
  await using browser = await openBrowser();
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  for (const path of ['/', '/mailboxes/acme/m1', '/runbooks']) {
    await page.goto(server.url + path, { waitUntil: 'load' });
    expect(await page.locator('main').innerText()).not.toBe('');
  }
  expect(complaints).toEqual([]);
});
