// Commands on the page of a whole daemon: the effect, the confirmation, the outcome that the simulator shows too. Forms: test/web/sessions.test.ts.
import { expect, test } from 'vitest';
import { acknowledgePath, mailboxCommandPath, mailboxPath } from '../../src/core/page-links.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { formTokenOf } from '../../src/web/access/sessions.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { TestBrowser } from '../web/browser.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const tokens = (['operator', 'viewer'] as const).map((role) => ({ name: role, role, sha256: sha256(`${role}-token`) }));

async function begin(emails: readonly string[], auth: object | 'none' = { tokens }) {
  const server = { listen: '127.0.0.1:0', auth };
  const stage = await startMovedDaemon({ scenario: stormOf(...emails), file: { server } });
  await stage.run(20 * minuteMs);
  return stage;
}

async function signedIn(stage: MovedDaemon, role = 'operator') {
  const browser = new TestBrowser(stage.url());
  await browser.post('/sign-in', { token: `${role}-token` });
  return browser;
}

const shownText = (html: string) =>
  html
    .replace(/<wbr>|<\/?code>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/\s*\n\s*/g, '\n');

/** The form of a page that carries a command out, as its reader would send it. */
function confirmation(html: string): { readonly path: string; readonly fields: URLSearchParams } {
  const [, path = '', form = ''] =
    /<form [^>]*method="post" action="(\/(?!sign-)[^"]*)">(.*?)<\/form>/s.exec(html) ?? [];
  const pairs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    path,
    fields: new URLSearchParams(pairs.map(([, name = '', value = '']): [string, string] => [name, value])),
  };
}

/** Opens a prepared command, gives a reason, and reads the page that it ends on. */
async function carryOut(stage: MovedDaemon, browser: TestBrowser, address: string) {
  const { path, fields } = confirmation((await browser.get(address)).text);
  fields.set('reason', 'the list is being cleaned');
  const sent = await stage.during(browser.post(path, fields));
  expect([address, sent.status]).toEqual([address, 303]);
  return shownText((await browser.get(String(sent.headers.location))).text);
}

const pauseOf = (stage: MovedDaemon, email: string) => mailboxCommandPath(stage.mailbox(email), 'pause');

test('a command shows its effect, is carried out with a reason, and shows what was read back; several mailboxes at once, too', async () => {
  await using stage = await begin([oliver, amelia]);
  const browser = await signedIn(stage);
  const { status, text } = await browser.get(pauseOf(stage, oliver));
  const planned = await stage.command('pause', { mailbox: oliver, dry_run: true });
  for (const message of planned.messages) expect(shownText(text)).toContain(message);
  expect([status, confirmation(text).fields.get('plan'), stage.made()]).toEqual([200, planned.plan, []]);
  expect(await carryOut(stage, browser, pauseOf(stage, oliver))).toMatch(
    /\ndone\n.*Warmwarden paused the warm-up of oliver\S+ \(account agency\)\. Read back after/s,
  );
  expect([stage.made(), stage.simulator.fleet.find(oliver)?.running]).toEqual([[`${oliver} pause`], false]);
  const history = JSON.parse((await browser.get('/api/history?limit=1', { accept: 'application/json' })).text);
  const entry = { by: 'operator', reason: 'the list is being cleaned', operation: 'pause' };
  expect(history.entries[0]).toMatchObject(entry);

  const keys = [oliver, amelia].map((email) => `agency/${stage.mailbox(email).id}`);
  const address = `/mailboxes?${keys.map((key) => `mailbox=${encodeURIComponent(key)}&`).join('')}do=mode&mode=slow`;
  const preview = shownText((await browser.get(address)).text);
  expect(preview).toContain('Set the warm-up mode of 2 mailboxes');
  expect(preview.match(/Warmwarden will set the mode of/g)).toHaveLength(2);
  expect((await carryOut(stage, browser, address)).match(/Read back after/g)).toHaveLength(2);
  expect(stage.made().slice(1).sort()).toEqual([`${amelia} slow`, `${oliver} slow`]);
  for (const nobody of ['', '&mailbox=agency/unknown'])
    expect((await browser.get(`/mailboxes?do=pause${nobody}`)).status).toBe(400);
});

test('nothing is done for another page, another browser, a viewer, without a reason, or once the situation is another one', async () => {
  await using stage = await begin([oliver]);
  const [browser, other, viewer] = [await signedIn(stage), await signedIn(stage), await signedIn(stage, 'viewer')];
  const { path, fields } = confirmation((await browser.get(pauseOf(stage, oliver))).text);
  fields.set('reason', 'x');
  const own = Object.fromEntries(fields);
  const foreign = confirmation((await other.get(pauseOf(stage, oliver))).text).fields.get('form_token') ?? '';
  const refused = [
    [403, { ...own, form_token: '' }],
    [403, { ...own, form_token: foreign }],
    [403, own, { 'sec-fetch-site': 'cross-site' }],
    [403, own, { 'sec-fetch-site': 'same-site' }],
    [401, own, {}, new TestBrowser(stage.url())],
    [403, { ...own, form_token: formTokenOf(([...viewer.cookies.values()][0] ?? '').slice(0, 43)) }, {}, viewer],
    [415, own, { 'content-type': 'text/plain' }],
    [422, { ...own, reason: ' ' }],
  ] as const;
  for (const [status, body, headers = {}, from = browser] of refused)
    expect([status, body, (await from.post(path, body, headers)).status]).toEqual([status, body, status]);
  expect([path, (await viewer.get(pauseOf(stage, oliver))).status]).toEqual(['/mailboxes', 403]);
  for (const place of ['/', mailboxPath(stage.mailbox(oliver))]) {
    expect((await browser.get(place)).text).toContain('class="do commands');
    expect((await viewer.get(place)).text).not.toMatch(/class="do\b|Switch writes off|Selected mailboxes/);
  }
  await stage.command('mode', { mailbox: oliver, mode: 'slow' });
  for (const plan of [own['plan'] ?? '', '']) {
    const sent = await stage.during(browser.post(path, { ...own, plan }));
    expect((await browser.get(String(sent.headers.location))).text).toContain('Nothing was done');
  }
  expect(stage.made()).toEqual([`${oliver} slow`]);
});

test('a write stop begins and ends, of everything and of a mailbox; a silence is added, and an alert acknowledged, as the links of messages prepare it', async () => {
  await using stage = await begin([oliver]);
  const browser = await signedIn(stage);
  const key = `agency/${stage.mailbox(oliver).id}`;
  expect(await carryOut(stage, browser, '/writes?do=off&for=2h')).toContain('Writes are off for all accounts until');
  const fleet = (await browser.get('/')).text;
  // In the bar above the page, below its headline, and at the alert.
  expect(fleet.match(/<a class="do" href="\/writes\?do=on">Switch writes on again/g)).toHaveLength(3);
  expect(fleet).not.toContain('href="/writes?do=off"');
  for (const path of [pauseOf(stage, oliver), `/mailboxes?do=pause&mailbox=${key}`]) {
    const preview = (await browser.get(path)).text;
    expect(shownText(preview)).toMatch(/\nNothing to do\nWrites are off for all accounts/);
    expect(preview).not.toContain('name="reason"');
  }
  expect(await carryOut(stage, browser, '/writes?do=on')).toContain('Writes are on for all accounts.');
  const ofOne = await carryOut(stage, browser, `/writes?do=off&mailbox=${key}`);
  expect(ofOne).toContain(`Writes are off for mailbox ${oliver} (account agency)`);
  expect(stage.fleet().writesOff(stage.clock.now())).toMatchObject([{ by: 'operator', until: null }]);
  expect((await browser.get('/writes?do=off&for=soon')).text).toContain('&quot;soon&quot; is not a duration');

  const link = `/silences?rule=dns_failing&account=agency&mailbox=${encodeURIComponent(oliver)}&for=4h&do=add`;
  const [, id = ''] = /Silence (\w+) lasts until/.exec(await carryOut(stage, browser, link)) ?? [];
  const match = { rule: ['dns_failing'], account: ['agency'], mailbox: [oliver] };
  expect(stage.fleet().silences(stage.clock.now())).toMatchObject([{ id, by: 'operator', match }]);
  expect(await carryOut(stage, browser, `/silences?do=expire&id=${id}`)).toContain(`Silence ${id} has expired.`);
  const planned = '/silences?rule=dns_failing&for=2h&begin=2020-03-01T22%3A00&every=week&until=2099-12-31&do=add';
  expect(await carryOut(stage, browser, planned)).toMatch(/until .* 00:00 UTC, every week until 1 January 00:00 UTC/);
  expect(shownText((await browser.get('/silences')).text)).toMatch(
    /(Next: from|In force) .*, every week until 1 January/,
  );

  const alerts = () => [...stage.fleet().alerts()];
  const [path = ''] = alerts().map(acknowledgePath);
  const get = await browser.get(path);
  expect([get.status, alerts().map(({ acknowledged }) => acknowledged)]).toEqual([200, [undefined]]);
  expect(await carryOut(stage, browser, path)).toContain('Acknowledged: ');
  expect(alerts()).toMatchObject([{ acknowledged: { by: 'operator', reason: 'the list is being cleaned' } }]);
  expect(shownText((await browser.get('/alerts')).text)).toMatch(/acknowledged\n[\s\S]*\bby operator: the list/);
  const empty = shownText((await browser.get('/silences?do=add')).text);
  expect(empty).toMatch(/Not possible like this[\s\S]*A silence needs at least one of/);
});

test('undo shows first what it is, and a recipe is run dry by a viewer, and done when an operator agrees', async () => {
  await using stage = await begin([oliver, amelia]);
  await stage.until('the recovery', () => stage.mailbox(amelia).memory?.claim != null, 12 * 60 * minuteMs);
  const [browser, viewer] = [await signedIn(stage), await signedIn(stage, 'viewer')];
  const undo = '/activity?do=undo&since=12h';
  expect(shownText((await browser.get(undo)).text)).toContain(`Warmwarden will set the mode of ${amelia}`);
  expect(await carryOut(stage, browser, undo)).toContain('1 mailbox restored');
  expect(stage.made().at(-1)).toBe(`${amelia} balanced`);
  expect(shownText((await browser.get('/breaker?do=apply')).text)).toContain('Nothing to apply');

  const ended = (from: TestBrowser, path: string) =>
    until(`the end of ${path}`, async () => {
      await stage.run(secondMs);
      const { text } = await from.get(path);
      return /badge [a-z]+">(queued|running)</.test(text) ? undefined : text;
    });
  const before = stage.posts.length;
  const { path, fields } = confirmation((await viewer.get('/recipes/pause-domain?parameter.domain=x.example')).text);
  const asked = { ...Object.fromEntries(fields), 'parameter.domain': 'northbeam.example' };
  expect((await viewer.post(path, { ...asked, form_token: 'x' })).status).toBe(403);
  const dry = String((await viewer.post(path, asked)).headers.location);
  const shown = await ended(viewer, dry);
  expect(shownText(shown)).toContain(`Warmwarden will pause the warm-up of ${oliver}`);
  expect(shown).not.toMatch(/Carry it out|value="apply"/);
  const agreed = confirmation((await browser.get(dry)).text);
  expect([agreed.path, agreed.fields.get('do')]).toEqual([dry, 'apply']);
  const own = { do: 'apply', form_token: fields.get('form_token') ?? '' };
  expect([(await viewer.post(dry, own)).status, stage.posts.length]).toEqual([403, before]);
  const applied = await browser.post(agreed.path, agreed.fields);
  const outcome = shownText(await ended(browser, String(applied.headers.location)));
  expect(outcome.match(/\ndone\n/g)).toHaveLength(2);
  await stage.run(0);
  expect(stage.made().slice(before).sort()).toEqual([`${amelia} pause`, `${oliver} pause`]);
});
