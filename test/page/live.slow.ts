// A live page in a real Chromium: what changes arrives without a reload, and what its reader does stays.
import { expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { alert, exampleFleet, mailbox, now, verdict } from '../web/example-fleet.ts';
import { serve } from '../web/running-server.ts';

const isInSight = `(() => {
  const { left, top, bottom } = document.activeElement.getBoundingClientRect();
  return [top + 2, bottom - 2].every((y) => document.elementFromPoint(left + 2, y)?.closest('tbody') !== null);
})()`;
const loadsSeen = "performance.getEntriesByType('navigation').length";

test.skipIf(!hasBrowser())('a breach and its end are seen live; text, focus, scroll and open panels stay', async () => {
  const fleet = exampleFleet();
  for (let index = 0; index < 9; index += 1) fleet.putAlert(alert({ rule: 'stale_data', object: `box${index}` }));
  await using server = await serve(fleet);
  await using browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1000, height: 500 } });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(server.url);
  await page.locator('html[data-live=on]').waitFor();
  const loads = await page.evaluate(loadsSeen);
  await page.locator('summary').first().click();
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

test.skipIf(!hasBrowser())(
  'the keyboard reaches the filter, goes through the rows, selects one, and sees where it is',
  async () => {
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
  },
);
