// A person in a real Chromium: signs in, pauses a mailbox on the page, and sees what was read back from the simulator.
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const sha256 = createHash('sha256').update('operator-token').digest('hex');
const server = { listen: '127.0.0.1:0', auth: { tokens: [{ name: 'ann', role: 'operator', sha256 }] } };
async function confirm(page: Page, button: string): Promise<void> {
  await page.getByLabel('Reason, for the audit log').fill('the list is being cleaned');
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.getByText('Read back after').first().waitFor();
}

test.skipIf(!hasBrowser())('a person signs in, pauses a mailbox, and sees what was read back', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(oliver, amelia), file: { server } });
  await stage.run(20 * minuteMs);
  await using browser = await openBrowser();
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The page that asks to sign in is a 401, as it should be.
    if (!message.text().includes('401')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  const { account, id } = stage.mailbox(oliver);
  await page.goto(`${stage.url()}/mailboxes/${account}/${id}?do=pause`);
  await page.getByLabel('Token').fill('operator-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: `Pause the warm-up of ${oliver}` }).waitFor();
  expect(await page.locator('main').innerText()).toContain(`Warmwarden will pause the warm-up of ${oliver}`);
  expect(stage.posts).toEqual([]);
  await stage.during(confirm(page, 'Pause'));
  expect(stage.made()).toEqual([`${oliver} pause`]);
  expect(stage.simulator.fleet.mailboxes().find((one) => one.id === id)?.running).toBe(false);

  // Several at once, selected in the table.
  await page.goto(stage.url());
  for (const email of [oliver, amelia]) await page.getByLabel(`Select ${email}`).check();
  await page.getByLabel('Commands for the selected mailboxes').getByRole('button', { name: 'Set the mode' }).click();
  await page.getByLabel('Mode', { exact: true }).selectOption('slow');
  await page.getByRole('button', { name: 'Show the effect' }).click();
  await stage.during(confirm(page, 'Set the mode'));
  expect(stage.made().slice(1).sort()).toEqual([`${amelia} slow`, `${oliver} slow`]);

  await page.goto(stage.url());
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect((await page.goto(stage.url()))?.status()).toBe(401);
  expect(complaints).toEqual([]);
});
