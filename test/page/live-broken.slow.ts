// A page that can no longer be live, in a real Chromium: it says why and of when it is, and goes on when it can.
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Auth } from '../../src/access/auth.ts';
import { hourMs } from '../../src/model/time.ts';
import { usualLimits } from '../../src/serve/live/live-stream.ts';
import { exampleFleet, mailbox } from '../serve/example-fleet.ts';
import { serve } from '../serve/running-server.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { runDaemon, Workplace } from '../support/process.ts';

const soon = { ...usualLimits, tickMs: 20, beatMs: 50 };
const isLive = (page: Page) => page.locator('html[data-live=on]').waitFor();
const said = async (page: Page) => {
  const broken = page.locator('#broken');
  await broken.waitFor({ state: 'visible' });
  return broken.innerText();
};
const isSound = (page: Page) => page.locator('#broken').waitFor({ state: 'hidden' });

test.skipIf(!hasBrowser())(
  'a daemon that is stopped is silent: the page says so, until the daemon goes on',
  async () => {
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
  },
);

test.skipIf(!hasBrowser())('who may no longer read the page is told to sign in; then it goes on', async () => {
  const sha256 = createHash('sha256').update('secret').digest('hex');
  const allowed: Auth = { tokens: [{ name: 'eve', role: 'viewer', sha256 }] };
  let inForce: Auth = allowed;
  await using server = await serve(exampleFleet(), { auth: () => inForce, liveLimits: soon });
  await using browser = await openBrowser();
  const page = await browser.newPage({ extraHTTPHeaders: { authorization: 'Bearer secret' } });
  await page.goto(server.url);
  await isLive(page);
  inForce = { tokens: [] };
  expect(await said(page)).toMatch(
    /^You are no longer signed in\. This page shows the state of 03:12:07 .+Reload the page$/,
  );
  inForce = allowed;
  await isSound(page);
});

test.skipIf(!hasBrowser())(
  'the page of a mailbox that has left says that it is no longer brought up to date',
  async () => {
    const fleet = exampleFleet();
    await using server = await serve(fleet, { liveLimits: soon });
    await using browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(`${server.url}/mailboxes/acme/m9`);
    await isLive(page);
    fleet.removeMailbox('acme', 'm9');
    expect(await said(page)).toMatch(
      /^What this page shows is no longer there\. This page shows the state of 03:12:07 /,
    );
    await server.world.clock.advance(hourMs);
    fleet.putMailbox(mailbox('m9', 'box9@acme.example'));
    await isSound(page);
    await page.locator('#as-of', { hasText: '04:12:07' }).waitFor();
  },
);

test.skipIf(!hasBrowser())("a browser's clock that is hours off, or is set, changes no time on the page", async () => {
  await using server = await serve(exampleFleet(), { liveLimits: soon });
  await using browser = await openBrowser();
  const texts = async (offsetMs: number) => {
    const page = await browser.newPage();
    await page.clock.install({ time: Date.now() + offsetMs });
    await page.goto(server.url);
    await isLive(page);
    // Seconds go on.
    const shown = async () => (await page.locator('time').allInnerTexts()).filter((text) => !/\d\ss\b/.test(text));
    const before = await shown();
    await page.clock.setSystemTime(Date.now() - offsetMs);
    await page.clock.fastForward(6_000);
    await isSound(page);
    await isLive(page);
    expect(await shown()).toEqual(before);
    await page.close();
    return before;
  };
  expect(await texts(9 * hourMs)).toEqual(await texts(-9 * hourMs));
});
