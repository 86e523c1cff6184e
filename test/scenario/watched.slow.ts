// A breach, the recovery and the restore of the simulator, watched in a real Chromium: one page, never reloaded, with a half-typed
// filter. The daemon's days pass as its clock is moved; the browser lives in the machine's time.
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 */6 * * *', mailboxes: '0 * * * *', stats: '*/15 * * * *', warmup: '*/30 * * * *' };
const focused =
  '(({ id, value, selectionStart, selectionEnd }) => [id, value, selectionStart, selectionEnd])(document.activeElement)';

/** The cells of a mailbox, as its reader sees them. */
async function rowOf(page: Page, { account, id }: { readonly account: string; readonly id: string }): Promise<string> {
  return (await page.locator(`[id="row-${account}/${id}"]`).innerText()).replace(/\s+/g, ' ');
}

test.skipIf(!hasBrowser())(
  'a breach, its recovery and the restore arrive live; a half-typed filter stays',
  async () => {
    await using stage = await startMovedDaemon({
      scenario: stormOf(amelia, oliver),
      poll,
      file: { guard: { restore: { days: 2, clean_volume: 0.25 } } },
    });
    await stage.run(20 * minuteMs);
    await using browser = await openBrowser();
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(stage.url());
    await page.locator('html[data-live=on]').waitFor();
    await page.locator('#q').fill('half a word');
    await page.evaluate('document.activeElement.setSelectionRange(2, 4)');
    expect(await page.locator('h1').innerText()).toBe('All 2 mailboxes are OK.');
    const claim = () => stage.mailbox(amelia).memory?.claim?.kind;
    const row = page.locator(`[id="row-agency/${stage.mailbox(amelia).id}"]`);

    const action = () => stage.mailbox(amelia).verdict?.answer.action;
    await stage.until('the breach', () => action() === 'recovery', 12 * hourMs);
    await row.locator('.badge.held').waitFor();
    expect(await row.locator('.rate .bad').count()).toBe(1);
    await stage.until('the recovery', () => claim() === 'recovery' && action() === 'none', hourMs);
    await row.locator('.badge.recovering').waitFor();
    expect(await rowOf(page, stage.mailbox(amelia))).toMatch(/^Recovering .* recovery /);
    expect(await page.locator('h1').innerText()).toContain('1 mailbox recovering, 1 OK');
    const done = page.locator('#live-actions li').first();
    expect(await done.innerText()).toMatch(/recovery/i);
    // Worst first: it has moved above the other.
    expect(await page.locator('#rows tr').first().getAttribute('id')).toBe(`row-agency/${stage.mailbox(amelia).id}`);

    await stage.until('the restore', () => claim() === undefined && action() === 'none', 14 * dayMs);
    await row.locator('.badge.ok').waitFor();
    expect(await rowOf(page, stage.mailbox(amelia))).toMatch(/^OK .* balanced /);
    await page.locator('h1', { hasText: 'All 2 mailboxes are OK.' }).waitFor();
    await done.filter({ hasText: /restored|back to|balanced/i }).waitFor();

    expect(stage.posts.map(({ email, change }) => `${email} ${change}`)).toEqual([
      `${amelia} recovery`,
      `${amelia} balanced`,
    ]);
    expect(await page.evaluate(focused)).toEqual(['q', 'half a word', 2, 4]);
    expect(await page.evaluate("performance.getEntriesByType('navigation').length")).toBe(1);
    expect(complaints).toEqual([]);
  },
);
