// What is wrong with pages in a real Chromium: axe-core's findings, more width than the window or the cell, errors in the console, markup of strangers.
import axe from 'axe-core';
import type { Browser } from 'playwright-core';

export interface Found {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

export interface Look {
  readonly paths: readonly string[];
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
  /** axe-core takes seconds on a long page. */
  readonly withoutAxe?: boolean;
}

/** What is wider than its cell or paragraph lies over its neighbour. What is cut off, or can be scrolled to, does not. */
const spilling = `[...document.querySelectorAll('main td, main tbody th, main dd, main li, main p')]
  .filter((one) => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
  .filter((one) => getComputedStyle(one).overflowX === 'visible')
  .map((one) => one.textContent.trim().slice(0, 80))`;

/** In sentences; empty: nothing. */
export async function troublesOf(browser: Browser, url: string, look: Look): Promise<readonly string[]> {
  const { paths, width, colorScheme, withoutAxe = false } = look;
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
    if (!withoutAxe) {
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run()')) as Found;
      troubles.push(...violations.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html.slice(0, 160)}`));
    }
    const marks = Number(await page.locator('main img, main script').count());
    if (marks > 0) troubles.push(`${where}: markup of strangers`);
  }
  await page.close();
  return [...troubles, ...complaints.filter((text) => !text.includes('404'))];
}
