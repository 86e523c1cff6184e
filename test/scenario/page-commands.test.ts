// Operator commands on the page of a whole daemon: the effect, the confirmation, the outcome that the simulator shows too.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mailboxCommandPath, mailboxPath } from '../../src/core/page-links.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { formTokenOf, newBrowserKey } from '../../src/web/access/sessions.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { until } from '../support/until.ts';
import { TestBrowser } from '../web/browser.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const tokens = (['operator', 'viewer'] as const).map((role) => ({ name: role, role, sha256: sha256(`${role}-token`) }));

async function begin(emails: readonly string[], auth: object | 'none' = { tokens }) {
  const server = { listen: '127.0.0.1:0', auth };
  const stage = await startMovedDaemon({ scenario: stormOf(...emails), poll, file: { server } });
  await stage.run(20 * minuteMs);
  return stage;
}

type Stage = Awaited<ReturnType<typeof begin>>;

async function signedIn(stage: Stage, role = 'operator') {
  const browser = new TestBrowser(stage.url());
  await browser.post('/sign-in', { token: `${role}-token` });
  return browser;
}

/** Waits for an answer while the clock goes on. */
async function during<Value>(stage: Stage, work: Promise<Value>): Promise<Value> {
  let over = false;
  const watched = work.finally(() => {
    over = true;
  });
  while (!over) await stage.run(secondMs);
  return watched;
}

const shownText = (html: string) =>
  html
    .replace(/<wbr>|<\/?code>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/\s*\n\s*/g, '\n');

/** The form of a page that carries a command out, as its reader would send it. */
function confirmation(html: string): { readonly path: string; readonly fields: URLSearchParams } {
  const [, path = '', form = ''] = /<form method="post" action="(\/(?!sign-)[^"]*)">(.*?)<\/form>/s.exec(html) ?? [];
  const pairs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return {
    path,
    fields: new URLSearchParams(pairs.map(([, name = '', value = '']): [string, string] => [name, value])),
  };
}

/** Opens a prepared command, gives a reason, and reads the page that it ends on. */
async function carryOut(stage: Stage, browser: TestBrowser, address: string) {
  const { path, fields } = confirmation((await browser.get(address)).text);
  fields.set('reason', 'the list is being cleaned');
  const sent = await during(stage, browser.post(path, fields));
  expect(sent.status).toBe(303);
  return shownText((await browser.get(String(sent.headers.location))).text);
}

const made = (stage: Stage) => stage.posts.map(({ email, change }) => `${email} ${change}`);
const pauseOf = (stage: Stage, email: string) => mailboxCommandPath(stage.mailbox(email), 'pause');

describe('a command on the page', () => {
  it('shows its effect, is carried out with a reason, and shows what was read back', async () => {
    await using stage = await begin([oliver]);
    const browser = await signedIn(stage);
    const { status, text } = await browser.get(pauseOf(stage, oliver));
    expect(status).toBe(200);
    const planned = await stage.command('pause', { mailbox: oliver, dry_run: true });
    for (const message of planned.messages) expect(shownText(text)).toContain(message);
    expect(confirmation(text).fields.get('plan')).toBe(planned.plan);
    expect(made(stage)).toEqual([]);
    const outcome = await carryOut(stage, browser, pauseOf(stage, oliver));
    expect(outcome).toMatch(
      /\ndone\n.*Warmwarden paused the warm-up of oliver\S+ \(account agency\)\. Read back after/s,
    );
    expect(made(stage)).toEqual([`${oliver} pause`]);
    const { id } = stage.mailbox(oliver);
    expect(stage.simulator.fleet.mailboxes().find((one) => one.id === id)?.running).toBe(false);
    const history = JSON.parse((await browser.get('/api/history?limit=1', { accept: 'application/json' })).text);
    expect(history.entries[0]).toMatchObject({
      by: 'operator',
      reason: 'the list is being cleaned',
      operation: 'pause',
    });
  });

  it('does nothing when another page, another browser, or nobody with a token sends it', async () => {
    await using stage = await begin([oliver]);
    const [browser, other] = [await signedIn(stage), await signedIn(stage)];
    const { path, fields } = confirmation((await browser.get(pauseOf(stage, oliver))).text);
    fields.set('reason', 'x');
    const foreign = confirmation((await other.get(pauseOf(stage, oliver))).text).fields.get('form_token') ?? '';
    const sendWith = async (token: string | null, headers = {}, from = browser) => {
      const changed = new URLSearchParams(fields);
      if (token === null) changed.delete('form_token');
      else changed.set('form_token', token);
      return (await from.post(path, changed, headers)).status;
    };
    const own = fields.get('form_token');
    expect(await sendWith(null)).toBe(403);
    expect(await sendWith('wrong')).toBe(403);
    expect(await sendWith(foreign)).toBe(403);
    expect(await sendWith(own, { 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await sendWith(own, { 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await sendWith(own, {}, new TestBrowser(stage.url()))).toBe(401);
    expect(await sendWith(own, { 'content-type': 'text/plain' })).toBe(415);
    expect((await browser.post(path, { ...Object.fromEntries(fields), reason: ' ' })).status).toBe(422);
    expect(made(stage)).toEqual([]);
  });

  it('is neither shown to a viewer nor taken from one', async () => {
    await using stage = await begin([oliver]);
    const viewer = await signedIn(stage, 'viewer');
    expect((await viewer.get(pauseOf(stage, oliver))).status).toBe(403);
    const form_token = formTokenOf([...viewer.cookies.values()][0] ?? '');
    const path = mailboxPath(stage.mailbox(oliver));
    expect((await viewer.post(path, { do: 'pause', reason: 'x', plan: 'x', form_token })).status).toBe(403);
    expect(made(stage)).toEqual([]);
  });

  it('is not carried out when the situation is another one by then', async () => {
    await using stage = await begin([oliver]);
    const browser = await signedIn(stage);
    const { path, fields } = confirmation((await browser.get(pauseOf(stage, oliver))).text);
    await stage.command('mode', { mailbox: oliver, mode: 'slow' });
    fields.set('reason', 'x');
    const sent = await during(stage, browser.post(path, fields));
    const outcome = shownText((await browser.get(String(sent.headers.location))).text);
    expect(outcome).toContain('Nothing was done: the situation has changed since you were asked.');
    fields.set('plan', '');
    const without = await during(stage, browser.post(path, fields));
    expect((await browser.get(String(without.headers.location))).text).toContain('Nothing was done');
    expect(made(stage)).toEqual([`${oliver} slow`]);
  });

  it('takes several mailboxes at once, each with its own effect and outcome', async () => {
    await using stage = await begin([oliver, amelia]);
    const browser = await signedIn(stage);
    const keys = [oliver, amelia].map((email) => `agency/${stage.mailbox(email).id}`);
    const address = `/mailboxes?${keys.map((key) => `mailbox=${encodeURIComponent(key)}&`).join('')}do=mode&mode=slow`;
    const { text } = await browser.get(address);
    expect(shownText(text)).toContain('Set the warm-up mode of 2 mailboxes');
    expect(shownText(text).match(/Warmwarden will set the mode of/g)).toHaveLength(2);
    const outcome = await carryOut(stage, browser, address);
    expect(outcome.match(/Read back after/g)).toHaveLength(2);
    expect(made(stage).sort()).toEqual([`${amelia} slow`, `${oliver} slow`]);
    expect((await browser.get('/mailboxes?do=pause')).status).toBe(400);
    expect((await browser.get('/mailboxes?do=pause&mailbox=agency/unknown')).status).toBe(400);
  });

  it('asks for what is still to be chosen before it shows an effect', async () => {
    await using stage = await begin([oliver]);
    const browser = await signedIn(stage);
    const first = (await browser.get(mailboxCommandPath(stage.mailbox(oliver), 'limit'))).text;
    expect([first.includes('name="limit"'), first.includes('name="reason"')]).toEqual([true, false]);
    const tooHigh = mailboxCommandPath(stage.mailbox(oliver), 'limit', { limit: '99999' });
    expect((await browser.get(tooHigh)).text).not.toContain('name="reason"');
    const outcome = await carryOut(stage, browser, mailboxCommandPath(stage.mailbox(oliver), 'limit', { limit: '12' }));
    expect(outcome).toContain('Warmwarden set the target daily limit of');
    expect(made(stage)).toEqual([`${oliver} limit 12`]);
  });

  it('starts and ends an emergency stop, of everything and of a mailbox', async () => {
    await using stage = await begin([oliver]);
    const browser = await signedIn(stage);
    expect(await carryOut(stage, browser, '/writes?do=off&for=2h')).toContain('Writes are off for all accounts until');
    const fleet = (await browser.get('/')).text;
    // In the bar above the page, below its headline, and at the alert.
    expect(fleet.match(/<a class="do" href="\/writes\?do=on">End the emergency stop/g)).toHaveLength(3);
    expect(fleet).not.toContain('href="/writes?do=off"');
    for (const path of [pauseOf(stage, oliver), `/mailboxes?do=pause&mailbox=agency/${stage.mailbox(oliver).id}`]) {
      const preview = (await browser.get(path)).text;
      expect(shownText(preview)).toMatch(/\nNothing to do\nWrites are off for all accounts/);
      expect(preview).not.toContain('name="reason"');
    }
    const stop = (await browser.get('/writes?do=off')).text;
    expect(stop.indexOf('Start the emergency stop</button>')).toBeLessThan(stop.indexOf('<details>'));
    expect(stop.indexOf('name="account"', stop.indexOf('<details>'))).toBeGreaterThan(0);
    expect(await carryOut(stage, browser, '/writes?do=on')).toContain('Writes are on for all accounts.');
    const one = `/writes?do=off&mailbox=agency/${stage.mailbox(oliver).id}`;
    expect(await carryOut(stage, browser, one)).toContain(`Writes are off for mailbox ${oliver} (account agency)`);
    expect(stage.fleet().writesOff(stage.clock.now())).toMatchObject([{ by: 'operator', until: null }]);
    expect((await browser.get('/writes?do=off&for=soon')).text).toContain('&quot;soon&quot; is not a duration');
  });

  it('adds a silence as the links of messages prepare it, and expires it', async () => {
    await using stage = await begin([oliver]);
    const browser = await signedIn(stage);
    const link = `/silences?rule=dns_failing&account=agency&mailbox=${encodeURIComponent(oliver)}&for=4h&do=add`;
    const outcome = await carryOut(stage, browser, link);
    const [, id = ''] = /Silence (\w+) lasts until/.exec(outcome) ?? [];
    const [silence] = stage.fleet().silences(stage.clock.now());
    expect(silence).toMatchObject({
      id,
      by: 'operator',
      match: { rule: ['dns_failing'], account: ['agency'], mailbox: [oliver] },
    });
    expect(await carryOut(stage, browser, `/silences?do=expire&id=${id}`)).toContain(`Silence ${id} has expired.`);
    const empty = shownText((await browser.get('/silences?do=add')).text);
    expect(empty).toContain('A silence needs at least one of');
    expect(empty).toContain('Not possible like this');
    expect(empty).not.toContain('Nothing to do');
  });

  it('undoes what Warmwarden did, and shows first what that is', async () => {
    await using stage = await begin([amelia]);
    await stage.until('the recovery', () => stage.mailbox(amelia).memory?.claim != null, 12 * 60 * minuteMs);
    const browser = await signedIn(stage);
    const preview = shownText((await browser.get('/activity?do=undo&since=12h')).text);
    expect(preview).toContain(`Warmwarden will set the mode of ${amelia}`);
    expect(await carryOut(stage, browser, '/activity?do=undo&since=12h')).toContain('1 mailbox restored');
    expect(made(stage).at(-1)).toBe(`${amelia} balanced`);
    expect(shownText((await browser.get('/breaker?do=release')).text)).toContain('Nothing to release');
  });
});

/** Reads the page of a run until it has ended, while the clock goes on. */
function ended(stage: Stage, browser: TestBrowser, path: string) {
  return until(`the end of ${path}`, async () => {
    await stage.run(secondMs);
    const { text } = await browser.get(path);
    return /badge [a-z]+">(queued|running)</.test(text) ? undefined : text;
  });
}

describe('a recipe on the page', () => {
  it('is run with parameters, shows what it would do, and does it to those mailboxes when an operator agrees', async () => {
    await using stage = await begin([oliver, amelia]);
    const [browser, viewer] = [await signedIn(stage), await signedIn(stage, 'viewer')];
    const { path, fields } = confirmation((await viewer.get('/recipes/pause-domain?do=run')).text);
    expect(shownText((await viewer.get(path)).text)).toContain('Run it');
    const send = (from: TestBrowser, changed: Record<string, string>, headers = {}) =>
      from.post(path, { ...Object.fromEntries(fields), ...changed }, headers);
    const wrong = await send(viewer, { 'parameter.domain': '' });
    expect([wrong.status, wrong.text.includes('The parameter domain is missing.')]).toEqual([400, true]);
    expect((await send(viewer, { form_token: 'x' })).status).toBe(403);
    expect((await send(browser, {})).status).toBe(403);
    expect((await send(viewer, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const begun = await send(viewer, { 'parameter.domain': 'northbeam.example' });
    expect(begun.status).toBe(303);
    const dry = String(begun.headers.location);
    const shown = await ended(stage, viewer, dry);
    expect(shownText(shown)).toContain(`Warmwarden will pause the warm-up of ${oliver}`);
    expect(shown).not.toContain('do=apply');
    expect((await viewer.get(`${dry}?do=apply`)).status).toBe(403);
    expect(made(stage)).toEqual([]);

    expect((await browser.get(dry)).text).toContain(`href="${dry}?do=apply"`);
    const agreed = confirmation((await browser.get(`${dry}?do=apply`)).text);
    expect((await viewer.post(dry, agreed.fields)).status).toBe(403);
    const applied = await browser.post(agreed.path, agreed.fields);
    expect(applied.status).toBe(303);
    const outcome = shownText(await ended(stage, browser, String(applied.headers.location)));
    expect(outcome.match(/\ndone\n/g)).toHaveLength(2);
    await stage.run(0);
    expect(made(stage).sort()).toEqual([`${amelia} pause`, `${oliver} pause`]);
    const rows = JSON.parse((await viewer.get(`${dry}/rows.json`)).text);
    expect([rows.recipe, rows.rows.map(({ outcome }: { outcome: string }) => outcome), rows.next]).toEqual([
      'pause-domain',
      ['planned', 'planned'],
      null,
    ]);
    expect((await viewer.get(`${dry}/rows.csv`)).text.trim().split('\n')).toHaveLength(3);
  });
});

describe('where there are no tokens', () => {
  it('a form works for the browser that it was made for, and for no other', async () => {
    await using stage = await begin([oliver], 'none');
    const [browser, other] = [new TestBrowser(stage.url()), new TestBrowser(stage.url())];
    const { path, fields } = confirmation((await browser.get(pauseOf(stage, oliver))).text);
    fields.set('reason', 'x');
    expect((await other.post(path, fields)).status).toBe(403);
    other.cookies.set('warmwarden', newBrowserKey());
    expect((await other.post(path, fields)).status).toBe(403);
    expect((await browser.post(path, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(made(stage)).toEqual([]);
    expect(await carryOut(stage, browser, pauseOf(stage, oliver))).toContain('Read back after');
    expect(stage.fleet().recentActions()[0]?.by?.name).toBe('somebody on the page');
  });
});
