// What a person reads: the sentence at the top, the order, the filter, and that no name becomes markup.
import { describe, expect, test } from 'vitest';
import { forecastOf } from '../../src/api/poll/forecast.ts';
import { alreadySo } from '../../src/core/action.ts';
import { noAccount } from '../../src/core/alert.ts';
import { dailyRows, inboxRatio, sumOf } from '../../src/core/daily-counts.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { mailboxPath } from '../../src/core/page-links.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { everything } from '../../src/core/write-scope.ts';
import { FleetTrend } from '../../src/web/overview/trend.ts';
import type { Tags } from '../../src/web/route-parts.ts';
import {
  account,
  action,
  alert,
  bareMailbox,
  exampleFleet,
  mailbox,
  now,
  row,
  today,
  verdict,
} from '../web/example-fleet.ts';
import { ask, serve, stillWorld } from '../web/running-server.ts';

const page = { accept: 'text/html' };

async function read(fleet: Fleet, path = '/', changes: Parameters<typeof serve>[1] = {}): Promise<string> {
  await using server = await serve(fleet, changes);
  const answer = await ask(server.url + path, page);
  expect(answer.status).toBe(200);
  return answer.body.toString();
}

/** The text between h1 tags. */
function headline(body: string): string {
  return /<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? '';
}

function calmFleet(): Fleet {
  const fleet = new Fleet();
  fleet.putAccount(account('acme'));
  for (let index = 1; index <= 3; index += 1) fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme.example`));
  return fleet;
}

describe('the headline', () => {
  test('is calm when all is fine', async () => {
    const body = await read(calmFleet());
    expect(headline(body)).toBe('All 3 mailboxes are OK.');
    expect(body).toContain('class="headline calm"');
    expect(body).toContain('Nothing to do.');
  });

  test('counts what the guard did', async () => {
    expect(headline(await read(exampleFleet()))).toBe(
      '1 critical alert. 1 mailbox paused by Warmwarden, 1 recovering, 1 not judged, 1 near the limit, 8 OK.',
    );
  });

  test('says that nothing is known, and for how long, when no account answers', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('acme', { failingSince: now - 12 * minuteMs, lastFailure: 'connection refused' }));
    const body = await read(fleet);
    expect(headline(body)).toBe('API down: no request of account acme has succeeded for 12\u00a0min.');
    expect(body).toContain('class="headline unknown"');
    expect(body).toContain('connection refused');
  });

  test('names an account of which no mailbox is guarded, and both causes that there can be', async () => {
    const fleet = calmFleet();
    const gap = { shortestMs: hourMs, longestMs: hourMs };
    const gaps = { health: gap, mailboxes: gap, stats: gap, warmup: gap, mailbox: gap, dns: gap, blacklist: gap };
    const input = {
      mailboxes: 0,
      allowedPerMinute: 90,
      sparePerMinute: 50,
      headroomPpm: 100_000,
      gaps,
      earlyMs: minuteMs,
    };
    fleet.putAccount(account('northwind', { forecast: forecastOf(input) }));
    const body = await read(fleet);
    expect(headline(body)).toBe('All 3 mailboxes are OK.');
    expect(body).toContain('class="headline unknown"');
    expect(body).toContain(
      '>No mailbox of northwind is guarded: the mailbox list is empty, or the configuration selects no mailbox in it.',
    );
    expect(body).toContain('Guarding 3 mailboxes on 1 account since');
  });

  test('says that mailboxes which the configuration includes by name are not guarded, and what to check', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('acme', { unlisted: ['tpyo@acme.example'] }));
    const body = await read(fleet);
    expect(headline(body)).toBe(
      'NOT GUARDED: 1 mailbox that the configuration includes is not in the mailbox list. All 3 mailboxes are OK.',
    );
    expect(body).toContain('class="headline unknown"');
    expect(body).toContain(
      'Check the spelling in <code>include</code> of acme, and whether its key can see every mailbox.',
    );
    fleet.putAccount(account('northwind', { unlisted: ['one@north.example', 'two@north.example'] }));
    expect(headline(await read(fleet))).toContain(
      'NOT GUARDED: 3 mailboxes that the configuration includes are not in the mailbox list.',
    );
    fleet.putAccount(account('northwind', { failingSince: now - 12 * minuteMs, unlisted: ['one@north.example'] }));
    expect(headline(await read(fleet))).toContain('NOT GUARDED: 2 mailboxes that the configuration includes');
  });

  test('names what cannot be read, and calls nothing OK, when some accounts do not answer', async () => {
    const fleet = calmFleet();
    const down = (name: string, minutes: number) =>
      fleet.putAccount(account(name, { failingSince: now - minutes * minuteMs }));
    down('northwind', 12);
    expect(headline(await read(fleet))).toBe(
      'API down: no request of account northwind has succeeded for 12\u00a0min. All 3 mailboxes were below their bounce limits when last read.',
    );
    down('oliver', 7);
    // Of both, it is true of the last 7 minutes.
    const body = await read(fleet);
    expect(headline(body)).toContain('API down: no request of 2 of 3 accounts has succeeded for 7\u00a0min. All 3');
    expect(body).toContain('Warmwarden cannot guard the mailboxes of northwind, oliver while their API is down.');
    expect(body).toMatch(
      /Guarding 3 mailboxes on 3 accounts since .*, except on 2 accounts that Warmwarden cannot read now\./,
    );
  });

  test('counts no mailbox of an account that cannot be read as OK', async () => {
    const fleet = calmFleet();
    const near = { at: now, answer: verdict({ bounced: 1, sent: 110, bouncesUntilBreach: 1 }) };
    fleet.putMailbox(mailbox('m9', 'm9@northwind.example', { account: 'northwind', verdict: near }));
    fleet.putMailbox(mailbox('m8', 'm8@northwind.example', { account: 'northwind' }));
    fleet.putAccount(account('northwind'));
    const states = async () => headline(await read(fleet)).replace(/^API down.*? min\. /s, '');
    expect(await states()).toBe('1 mailbox near the limit, 4 OK.');
    fleet.putAccount(account('acme', { failingSince: now - 12 * minuteMs }));
    expect(await states()).toContain('1 mailbox near the limit, 1 OK, 3 OK when last read.');
    const json = async (path: string) => JSON.parse((await read(fleet, path)).toString());
    expect((await json('/api/fleet')).states).toMatchObject({ ok: 1, near_limit: 1, not_judged: 3 });
    const { groups } = await json('/api/groups?by=domain');
    const unread = groups.find(({ name }: { name: string }) => name === 'acme.example');
    expect(unread.states).toMatchObject({ ok: 0, not_judged: 3 });
    fleet.removeMailbox('northwind', 'm8');
    expect(await states()).toContain('1 mailbox near the limit, 3 OK when last read.');
  });

  test('counts no mailbox of an account that is starting as OK', async () => {
    const fleet = calmFleet();
    fleet.putMailbox(mailbox('m8', 'm8@northwind.example', { account: 'northwind' }));
    fleet.putAccount(account('northwind', { listed: false, lastSuccessAt: null }));
    const body = await read(fleet);
    expect(headline(body)).toBe(
      'Account northwind is starting: its mailbox list has not been read yet. All 4 mailboxes were below their bounce limits when last read.',
    );
    expect(body).toContain('class="headline unknown"');
    expect(body).toContain('Wait a moment.');
    fleet.putAccount(account('northwind'));
    expect(headline(await read(fleet))).toBe('All 4 mailboxes are OK.');
    fleet.putGuarding([{ account: 'oliver', startingSince: now - 5_000 }]);
    expect(headline(await read(fleet))).toContain(
      'Account oliver is starting: its mailbox list has not been read yet.',
    );
  });

  test('says which held mailboxes wait for the circuit breaker, and which for a key that may write', async () => {
    const fleet = calmFleet();
    const holds = (id: string, name: string, answer: Parameters<typeof verdict>[0]) =>
      fleet.putMailbox(
        mailbox(id, `${id}@${name}.example`, { account: name, verdict: { at: now, answer: verdict(answer) } }),
      );
    const states = async () => headline(await read(fleet));
    const breach = { action: 'recovery', reason: 'bounce_rate_over_limit', bounced: 9 } as const;
    const byBreaker = { action: 'hold', reason: 'circuit_breaker', wanted: 'recovery', bounced: 9 } as const;
    fleet.putAccount(account('globex'));
    holds('g1', 'globex', breach);
    expect(await states()).toBe('1 mailbox over the limit and held, 3 OK.');
    const watched = { ...defaultPolicy, enforce: false };
    expect(headline(await read(fleet, '/', { policyOf: () => watched }))).toBe(
      '1 mailbox over the limit and held because enforcement is off, 3 OK.',
    );
    fleet.putAccount(account('globex', { keyWrites: false }));
    expect(await states()).toBe('1 mailbox over the limit and held because the key may not write, 3 OK.');
    holds('m1', 'acme', byBreaker);
    holds('m2', 'acme', byBreaker);
    expect(await states()).toBe(
      '3 mailboxes over the limit and held (2 by the circuit breaker, 1 because the key may not write), 1 OK.',
    );
    holds('m2', 'acme', breach);
    fleet.putAccount(account('globex', { keyWrites: true }));
    expect(await states()).toBe('3 mailboxes over the limit and held (1 by the circuit breaker), 1 OK.');
    fleet.removeMailbox('globex', 'g1');
    fleet.removeMailbox('acme', 'm2');
    expect(await states()).toBe('1 mailbox over the limit and held by the circuit breaker, 1 OK.');
  });

  test('says that the store is failing before anything about the fleet, with the cause and what to do', async () => {
    const fleet = calmFleet();
    fleet.putStoreFailure({ said: 'the disk is full', remedy: 'Make room on the disk.', lasting: false });
    const body = await read(fleet);
    expect(headline(body)).toBe('The store is failing: Warmwarden takes no action that it cannot record.');
    expect(body).toContain('class="headline alarm"');
    expect(body).toContain('The disk is full. Make room on the disk.');
    const json = JSON.parse(await read(fleet, '/api/fleet'));
    expect([json.tone, json.store_failure]).toEqual([
      'alarm',
      { said: 'the disk is full', remedy: 'Make room on the disk.' },
    ]);
    fleet.putStoreFailure(null);
    expect(JSON.parse(await read(fleet, '/api/fleet')).store_failure).toBeNull();
  });

  test('every other page begins with what makes it old or without effect', async () => {
    const fleet = calmFleet();
    const paths = ['/alerts', '/groups', '/activity', '/silences', '/budget', '/recipes', '/mailboxes/acme/m1'];
    const above = async (path: string) => (await read(fleet, path)).split('<main')[0];
    expect(await above('/alerts')).not.toContain('id="banner"');
    fleet.putStoreFailure({ said: 'the disk is full', remedy: 'Make room on the disk.', lasting: false });
    const scope = { kind: 'account', account: 'acme' } as const;
    fleet.putWritesOff({ scope, since: now, until: null, by: 'bob', reason: 'a look' });
    for (const path of [...paths, '/configuration', '/runbooks']) {
      const said = await above(path);
      expect(said).toContain('The store is failing: Warmwarden takes no action that it cannot record.</a> The disk is');
      expect(said).toContain(
        'Writes are OFF for account acme.</a> Where writes are off, Warmwarden notifies you of breaches, but',
      );
    }
    fleet.putStoreFailure(null);
    fleet.putAccount(account('acme', { failingSince: now - 12 * minuteMs }));
    expect(await above('/silences')).toContain('API down: no request of account acme has succeeded for 12\u00a0min.');
    const mine = { kind: 'mailbox', account: 'acme', mailboxId: 'm1', email: 'a@acme.example' } as const;
    const other = calmFleet();
    other.putWritesOff({ scope: mine, since: now, until: null, by: 'bob', reason: 'a look' });
    expect(await read(other, '/mailboxes/acme/m1')).toContain(
      'Writes are off for mailbox a@acme.example (account acme) (bob: a look). To allow them: <code>warmwarden writes on',
    );
    expect(await read(other, '/alerts')).not.toContain('a look');
    // The fleet's page says it in its headline.
    expect(await above('/')).not.toContain('id="banner"');
  });

  test('does not say fine before the first list was read', async () => {
    const fleet = new Fleet();
    fleet.putAccount(account('acme', { listed: false, lastSuccessAt: null }));
    const reasons = ['the mailboxes of acme'];
    const body = await read(fleet, '/', { ready: () => ({ ready: false, reasons }) });
    expect(headline(body)).toBe('Starting: Warmwarden has not read a mailbox list yet.');
    expect(body).toContain('Waiting for: the mailboxes of acme.');
  });

  test('a mailbox that is disconnected is not OK, on the page and in JSON', async () => {
    const fleet = calmFleet();
    const lost = mailbox('m3', 'box3@acme.example');
    if (!lost.detail) throw new Error('the example is incomplete');
    const answer = { ...lost.detail.answer, connection: 'error', connectionError: 'IMAP login failed' } as const;
    fleet.putMailbox({ ...lost, detail: { ...lost.detail, answer } });
    fleet.putAlert(alert({ rule: 'mailbox_unwell', severity: 'critical', mailboxId: 'm3' }));
    const body = await read(fleet);
    expect(headline(body)).toBe('1 critical alert. 1 mailbox not running, 2 OK.');
    expect(body).toContain('Not running <b>1</b>');
    const json = JSON.parse((await read(fleet, '/api/fleet')).toString());
    expect([json.headline, json.states.ok, json.states.not_running]).toEqual([headline(body), 2, 1]);
  });

  test('does not call mailboxes OK beside a critical alert about something else of theirs', async () => {
    const fleet = calmFleet();
    fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', mailboxId: null }));
    expect(headline(await read(fleet))).toBe('1 critical alert. All 3 mailboxes are below their bounce limits.');
  });

  test('never says that there is nothing to do beside a warning, also one of no mailbox, nor beside a paused mailbox', async () => {
    const adviceOf = async (...states: ('paused' | 'recovering' | 'config_wrong')[]) => {
      const fleet = states.includes('paused') || states.includes('recovering') ? new Fleet() : calmFleet();
      for (const one of exampleFleet().mailboxes()) {
        const kind = one.memory?.claim?.kind;
        if ((kind === 'pause' && states.includes('paused')) || (kind === 'recovery' && states.includes('recovering')))
          fleet.putMailbox(one);
      }
      fleet.putAccount(account('acme'));
      if (states.includes('config_wrong'))
        fleet.putAlert(alert({ rule: 'config_wrong', severity: 'warning', account: noAccount, mailboxId: null }));
      const { advice } = JSON.parse(await read(fleet, '/api/fleet'));
      expect(await read(fleet)).toContain(`<p class="advice">${advice}</p>`);
      return advice;
    };
    const warned = 'The warning below can wait until morning.';
    const clean =
      'Clean the recipient list of each mailbox that Warmwarden paused, then resume its warm-up: Warmwarden never does that by itself.';
    expect(await adviceOf('config_wrong')).toBe(`Nothing is urgent. ${warned}`);
    expect(await adviceOf('recovering')).toBe('Nothing to do now: Warmwarden has acted and keeps watching.');
    expect(await adviceOf('recovering', 'config_wrong')).toBe(`Warmwarden has acted and keeps watching. ${warned}`);
    expect(await adviceOf('paused')).toBe(clean);
    expect(await adviceOf('paused', 'config_wrong')).toBe(`${clean} ${warned}`);
  });

  test('of held mailboxes it names the critical alert, which says what to do, and of the circuit breaker the command', async () => {
    const fleet = calmFleet();
    const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 50, bounced: 20 });
    fleet.putMailbox(mailbox('m1', 'box1@acme.example', { verdict: { at: now, answer } }));
    const advice = async () => JSON.parse(await read(fleet, '/api/fleet')).advice;
    expect(await advice()).toBe('Look at the held mailboxes: Warmwarden has decided to act, but has not acted yet.');
    fleet.putAlert(alert({ rule: 'bounce_over_limit', severity: 'critical', mailboxId: 'm1' }));
    expect(await advice()).toBe(
      'Warmwarden has decided to act on the held mailboxes, but has not acted yet. Start with the critical alert below.',
    );
    fleet.putAlert(alert({ rule: 'guard_held', severity: 'critical', account: noAccount, mailboxId: null }));
    expect(await advice()).toContain('The circuit breaker is holding the actions');
    expect(await advice()).toContain('breaker release`. If not, do nothing: Warmwarden waits for the release.');
    expect(await read(fleet, '/')).not.toContain('Writes off: ');
    const numbers = { acts_from: '2026-03-10T15:04:00.000Z' };
    const facts = { title: 'held', sentences: [], numbers, accounts: ['acme', 'beta'] };
    fleet.putAlert(alert({ rule: 'guard_held', severity: 'critical', account: noAccount, mailboxId: null, facts }));
    expect(await advice()).toContain(
      'breaker release`. Otherwise prevent them, as the alert below says: from 10 March 15:04 UTC, Warmwarden acts on its own if',
    );
    expect(await read(fleet, '/')).toContain(
      '<a class="do" href="/writes?account=beta&amp;do=off">Writes off: beta</a>',
    );
  });

  test('of a mailbox that the circuit breaker holds, it says who holds it, until when, and what ends that', async () => {
    const fleet = exampleFleet();
    const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 162, bounced: 11 });
    fleet.putMailbox(mailbox('m1', 'box1@acme.example', { verdict: { at: now, answer } }));
    const hold = (accounts: string[], numbers: Record<string, string>) =>
      alert({
        ...{ rule: 'guard_held', severity: 'critical', account: noAccount, mailboxId: null },
        facts: { title: 'held', sentences: [], numbers, accounts },
      });
    fleet.putAlert(hold(['beta'], {}));
    expect(await read(fleet, '/mailboxes/acme/m1')).not.toContain('alert-guard_held');
    fleet.putAlert(hold(['acme', 'beta'], { acts_from: '2026-03-10T15:04:00.000Z' }));
    const page = await read(fleet, '/mailboxes/acme/m1');
    expect(page).toContain(
      '<p class="advice">Warmwarden has not acted, because the circuit breaker is holding its actions. Without a release, Warmwarden acts on its own from 10 March 15:04 UTC if fresh data still shows the breach.',
    );
    expect(page).toContain('<code>warmwarden pause acme/box1@acme.example</code>');
    expect(page).toContain(
      '<a class="do" href="/breaker?do=release">Release</a> <a class="do" href="/mailboxes/acme/m1?do=pause">Pause</a>',
    );
    expect(page).toContain('id="alert-guard_held');
    expect(await read(fleet, '/mailboxes/acme/m2')).not.toContain('alert-guard_held');
    fleet.putAlert(hold(['acme'], {}));
    expect(await read(fleet, '/mailboxes/acme/m1')).toContain('Warmwarden acts only after a release.');
  });

  test('sentences give times in the configured zone, as the alerts beside them do', async () => {
    const fleet = exampleFleet();
    const held = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 162, bounced: 11 });
    fleet.putMailbox(mailbox('m1', 'box1@acme.example', { verdict: { at: now, answer: held } }));
    const numbers = { acts_from: '2026-03-10T15:04:00.000Z' };
    const facts = { title: 'held', sentences: [], numbers, accounts: ['acme'] };
    fleet.putAlert(alert({ rule: 'guard_held', severity: 'critical', account: noAccount, mailboxId: null, facts }));
    const timeZone = () => 'Europe/Berlin';
    for (const path of ['/', '/mailboxes/acme/m1']) {
      const shown = await read(fleet, path, { timeZone });
      expect(shown).toContain('from 10 March 16:04 Europe/Berlin');
      expect(shown).not.toContain('10 March 15:04');
    }
    const scope = { kind: 'everything' } as const;
    fleet.putWritesOff({ scope, since: now, until: Date.parse('2026-03-13T18:00:00Z'), by: 'ann', reason: 'look' });
    expect(await read(fleet, '/', { timeZone })).toContain(
      'They stay off until 13 March 19:00 Europe/Berlin. To allow them now: <code>',
    );
  });

  test('a held emergency is marked, and stands before what is held and has graver alerts', async () => {
    const fleet = calmFleet();
    const held = { action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 162, bounced: 11 } as const;
    const emergency = { sent: 26, bounced: 8, from: '2026-03-09' } as const;
    fleet.putMailbox(mailbox('m1', 'box1@acme.example', { verdict: { at: now, answer: verdict(held) } }));
    fleet.putAlert(alert({ rule: 'bounce_over_limit', severity: 'critical', mailboxId: 'm1' }));
    const answer = verdict({ ...held, sent: 400, emergency });
    fleet.putMailbox(mailbox('m2', 'box2@acme.example', { verdict: { at: now, answer } }));
    const { mailboxes } = JSON.parse(await read(fleet, '/api/fleet'));
    const shown = mailboxes
      .slice(0, 2)
      .map((one: { id: string; verdict: { emergency: boolean } }) => [one.id, one.verdict.emergency]);
    expect(shown).toEqual([
      ['m2', true],
      ['m1', false],
    ]);
    const page = await read(fleet, '/');
    expect(page.match(/>Held, emergency</g)).toHaveLength(1);
    expect(page.indexOf('Held, emergency')).toBeLessThan(page.indexOf('>Held</span>'));
    expect(await read(fleet, '/mailboxes/acme/m2')).toContain('>Held, emergency</span>');
  });

  test('the page of a mailbox shows the alert of its ip, and does not say that there is nothing to do', async () => {
    const fleet = calmFleet();
    const one = mailbox('m1', 'box1@acme.example');
    const answer = { domain: 'acme.example', ip: '192.0.2.7', checkedAt: null, listed: true, found: 1, checked: 60 };
    fleet.putMailbox({ ...one, blacklist: { at: now, answer: { ...answer, lists: ['zen'] } } });
    fleet.putAlert(alert({ rule: 'blacklisted', object: '192.0.2.7' }));
    const listed = await read(fleet, '/mailboxes/acme/m1');
    expect(listed).toContain('<p class="advice">Read the alert below: it says what to do.</p>');
    expect(listed).toContain('Firing alerts');
    expect(await read(fleet, '/mailboxes/acme/m2')).toContain('<p class="advice">Nothing to do.</p>');
  });

  describe('while a first sweep goes on', () => {
    const sweep = { account: 'acme', since: now - minuteMs };
    const unread = (fleet: Fleet, count: number) => {
      for (let index = 0; index < count; index += 1)
        fleet.putMailbox(bareMailbox(`u${index}`, `u${index}@acme.example`));
      return fleet;
    };
    const doneAt = now + 11 * minuteMs;

    test('says how far it is, when it is done, and what is known of those who were read', async () => {
      const fleet = unread(calmFleet(), 4);
      fleet.putSweep({ ...sweep, mailboxes: 7, read: 3, doneAt });
      const body = await read(fleet);
      const text = 'First sweep of acme: 3 of 7 mailboxes read, done in about 11 min (03:23 UTC).';
      expect(headline(body)).toBe(`${text} 4 mailboxes not judged, 3 OK.`);
      expect(body).toContain('Wait until the first sweep is done');
      expect(body).toContain(`<p>${text}</p>`);
      const [json] = JSON.parse((await read(fleet, '/api/fleet')).toString()).accounts;
      expect(json.first_sweep).toEqual({
        since: new Date(now - minuteMs).toISOString(),
        mailboxes: 7,
        read: 3,
        done_at: new Date(doneAt).toISOString(),
        text: text.slice(0, -1),
      });
    });

    test('names what is wrong with those who were read first, and counts several accounts together', async () => {
      const fleet = unread(exampleFleet(), 4);
      fleet.putSweep({ ...sweep, mailboxes: 14, read: 10, doneAt });
      fleet.putSweep({ ...sweep, account: 'northwind', mailboxes: 2, read: 1, doneAt: doneAt + minuteMs });
      expect(headline(await read(fleet))).toBe(
        '1 critical alert. First sweep of 2 accounts: 11 of 16 mailboxes read, done in about 12 min (03:24 UTC). 1 mailbox paused by Warmwarden, 1 recovering, 5 not judged, 1 near the limit, 8 OK.',
      );
    });

    test('waits for nobody when all were read, and says what is left', async () => {
      const fleet = calmFleet();
      fleet.putSweep({ ...sweep, mailboxes: 3, read: 3, doneAt: now + minuteMs });
      const body = await read(fleet);
      expect(headline(body)).toBe(
        'First sweep of acme: all 3 mailboxes read, second looks done in about 1 min (03:13 UTC). All 3 mailboxes are OK.',
      );
      expect(body).not.toContain('Wait until the first sweep is done');
    });

    test('counts in the headline what the list and the JSON count', async () => {
      const fleet = unread(exampleFleet(), 4);
      fleet.putSweep({ ...sweep, mailboxes: 14, read: 10, doneAt });
      const json = JSON.parse((await read(fleet, '/api/fleet')).toString());
      const said = [...json.headline.matchAll(/(\d+) (?:mailboxes? )?(not judged|OK)/g)];
      expect(said.map(([, count, word]) => [word, Number(count)])).toEqual([
        ['not judged', json.states.not_judged],
        ['OK', json.states.ok],
      ]);
    });

    test('is the same in the headline and beside its account, also when it goes on while the page is made', async () => {
      const fleet = unread(calmFleet(), 4);
      fleet.putSweep({ ...sweep, mailboxes: 7, read: 3, doneAt });
      const goesOn = async () => {
        fleet.putSweep({ ...sweep, mailboxes: 7, read: 4, doneAt });
        return [];
      };
      const world = stillWorld();
      const trend = new FleetTrend({ fleet, world, days: { acted: goesOn, held: async () => [] } });
      await using server = await serve(fleet, { trend });
      const body = (await ask(`${server.url}/`)).body.toString();
      expect(fleet.sweep('acme')).toMatchObject({ read: 4 });
      expect(new Set(body.match(/\d of 7 mailboxes read/g))).toEqual(new Set(['4 of 7 mailboxes read']));
    });
  });

  test('points at an action that has not taken effect', async () => {
    const fleet = calmFleet();
    const [one] = fleet.mailboxes();
    if (one) fleet.putAction(action('a1', one, { state: 'unconfirmed', nextTryAt: now + 5 * minuteMs }));
    const body = await read(fleet);
    expect(body).toContain('1 action has not taken effect');
    expect(body).toContain('class="headline alarm"');
    expect(body).toContain('in 5\u00a0min');
  });

  test('forgets an action that failed once a later one on the same mailbox worked', async () => {
    const fleet = calmFleet();
    const [one] = fleet.mailboxes();
    if (!one) throw new Error('the fleet is empty');
    fleet.putAction(action('a1', one, { state: 'unconfirmed', plannedAt: now - hourMs }));
    fleet.putAction(action('a2', one, { state: 'confirmed', plannedAt: now - minuteMs }));
    expect(await read(fleet)).toContain('class="headline calm"');
  });

  test('a command that needed no change is not among what was done', async () => {
    const fleet = calmFleet();
    const [one] = fleet.mailboxes();
    if (!one) throw new Error('the fleet is empty');
    const by = { name: 'ann', reason: '' };
    fleet.putAction(action('a1', one, { kind: 'pause', state: 'dropped', by, detail: alreadySo }));
    fleet.putAction(action('a2', one, { state: 'dropped', detail: 'a person had changed the mode' }));
    for (const path of ['/', mailboxPath(one)]) {
      const body = await read(fleet, path);
      expect([body.includes('id="action-a1"'), body.includes('id="action-a2"')], path).toEqual([false, true]);
    }
  });

  test('a stop of all writes goes before anything else; a narrower one is named beside the fleet, with what ends it', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('other'));
    const [one] = fleet.mailboxes();
    const off = { since: now, until: null, by: 'bob', reason: 'a look first' };
    if (one) {
      const scope = { kind: 'mailbox', account: one.account, mailboxId: one.id, email: one.email } as const;
      fleet.putWritesOff({ ...off, scope });
    }
    const narrow = await read(fleet);
    expect(headline(narrow)).toBe(
      'Writes are OFF for mailbox box1@acme.example (account acme). All 3 mailboxes are OK.',
    );
    expect(narrow).toContain('Writes were switched off by bob: a look first.');
    expect(narrow).toContain('<code>warmwarden writes on --mailbox acme/box1@acme.example</code>');
    expect(narrow).toContain('class="headline acted"');
    fleet.putWritesOff({ ...off, scope: everything });
    const wide = await read(fleet);
    expect(headline(wide)).toMatch(/^Writes are OFF for all accounts, mailbox box1@acme\.example \(account acme\)\.$/);
    expect(wide).toContain('class="headline alarm"');
  });

  test('shouts when a key may not write', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('acme', { keyWrites: false }));
    expect(await read(fleet)).toContain('Warmwarden does NOT act on breaches there');
  });

  test('calls an API that rejects every key that it is asked with not down', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('acme', { failingSince: now - minuteMs, keyRejected: true }));
    expect(headline(await read(fleet))).toBe('Key rejected: no request of account acme has succeeded for 1\u00a0min.');
  });

  test('says in each row, and on the page of a mailbox, why Warmwarden cannot read the account or act on it', async () => {
    const fleet = calmFleet();
    const said = async (changes: Parameters<typeof account>[1]) => {
      fleet.putAccount(account('acme', changes));
      const rows = [...(await read(fleet)).matchAll(/<small>acme(.*?)<\/small>/g)].map(([, words]) => words);
      return { rows: [...new Set(rows)], page: await read(fleet, '/mailboxes/acme/m1') };
    };
    const marked = (words: string) => [` · <b class="bad">${words}</b>`];
    const fine = await said({});
    expect(fine.rows).toEqual(['']);
    const readOnly = await said({ keyWrites: false });
    expect(readOnly.rows).toEqual(marked('read-only key'));
    expect(readOnly.page).toContain('so Warmwarden does NOT act on a breach of this mailbox.');
    const down = await said({ failingSince: now - minuteMs, keyWrites: false });
    expect(down.rows).toEqual(marked('API down'));
    expect(down.page).toContain('No request of account acme has succeeded');
    expect((await said({ failingSince: now - minuteMs, keyRejected: true })).rows).toEqual(marked('key rejected'));
  });

  test('says of an account whether its key may write, as far as that is known', async () => {
    const fleet = calmFleet();
    const said = async (keyWrites: boolean | null) => {
      fleet.putAccount(account('acme', { keyWrites }));
      const body = await read(fleet);
      return ['is not known yet: the first action shows it', 'does NOT act on breaches'].map((words) =>
        body.includes(words),
      );
    };
    expect([await said(null), await said(true), await said(false)]).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
    // After a start, of a key that wrote before.
    const one = fleet.mailbox('acme', 'm1');
    if (one) fleet.putAction(action('a1', one, { state: 'confirmed', settledAt: now - 2 * hourMs }));
    expect(await said(null)).toEqual([false, false]);
    expect(await read(fleet)).toMatch(
      /Warmwarden last changed a mailbox of this account <time[^>]*>2\s+h ago<\/time>\. The next action/,
    );
  });

  test('shows the failure of an account as a sentence, and no age of polls that wait because of it', async () => {
    const fleet = calmFleet();
    expect(await read(fleet)).toMatch(/polls waiting, the oldest for 12\s/);
    fleet.putAccount(
      account('acme', { failingSince: now - minuteMs, lastFailure: 'the API does not answer (timeout)' }),
    );
    const body = await read(fleet);
    expect(body).toContain(' The API does not answer (timeout).</p>');
    expect(body).toMatch(/polls waiting\.<\/p>/);
    expect(await read(fleet, '/mailboxes/acme/m1')).toContain(' The API does not answer (timeout).</p>');
    expect(await read(fleet, '/budget')).toContain('<dd>3 polls</dd>');
  });

  test('names in its row who paused a mailbox through Warmwarden', async () => {
    const fleet = calmFleet();
    const [one] = fleet.mailboxes();
    if (!one) throw new Error('no mailbox');
    const paused = { at: now, answer: verdict({ reason: 'already_paused', run: 'paused' }) };
    const byAnn = action('a1', one, { kind: 'pause', by: { name: 'ann', reason: 'a bad list' } });
    fleet.putMailbox({ ...one, verdict: paused, action: byAnn });
    expect(await read(fleet)).toContain('<small>acme · ann, through Warmwarden</small>');
    const change = { what: 'warm-up' as const, from: 'active', to: 'paused', since: now - minuteMs, at: now };
    fleet.putMailbox({ ...one, verdict: paused, action: byAnn, changes: [change] });
    expect(await read(fleet)).not.toContain('through Warmwarden');
  });

  test('names accounts that cannot be read before a key that may not write, and says both', async () => {
    const fleet = calmFleet();
    fleet.putAccount(account('acme', { keyWrites: false }));
    fleet.putAccount(account('northwind', { failingSince: now - minuteMs }));
    fleet.putAccount(account('oliver', { failingSince: now - minuteMs, keyRejected: true }));
    expect(JSON.parse(await read(fleet, '/api/fleet')).advice).toBe(
      'Warmwarden cannot guard the mailboxes of northwind while their API is down. Their last failure is below. ' +
        'Warmwarden cannot guard the mailboxes of oliver, because the API rejects the key. Put a valid key into the configuration and reload it. ' +
        'The key of acme may not write: Warmwarden does NOT act on breaches there. Replace the key.',
    );
  });
});

describe('the table', () => {
  test('begins with the worst', async () => {
    const body = await read(exampleFleet());
    const table = body.slice(body.indexOf('<table'));
    const order = ['new@', 'sales@', 'hello@', 'team@', 'box10@'].map((name) =>
      table.indexOf(`>${name.replace('@', '')}<wbr>@`),
    );
    expect(order.every((at) => at > 0)).toBe(true);
    expect([...order].sort((a, b) => a - b)).toEqual(order);
  });

  test('puts a mailbox with a critical alert first although its bounces are fine', async () => {
    const fleet = calmFleet();
    fleet.putAlert(alert({ rule: 'mailbox_unwell', severity: 'critical', mailboxId: 'm3' }));
    const body = await read(fleet);
    expect(body.indexOf('>box3<wbr>')).toBeLessThan(body.indexOf('>box1<wbr>'));
  });

  test('is filtered by words and by state, and keeps the words in the form', async () => {
    const words = await read(exampleFleet(), '/?q=NORTHWIND+team');
    expect(words).toContain('>team<wbr>');
    expect(words).not.toContain('>new<wbr>');
    expect(words).toContain('value="NORTHWIND team"');
    const state = await read(exampleFleet(), '/?state=recovering');
    expect(state).toContain('>hello<wbr>');
    expect(state).not.toContain('>box5<wbr>');
    expect(await read(exampleFleet(), '/?q=nobody')).toContain('No mailbox matches.');
  });

  test('has pages of 50 rows, and a page beyond the end is the last', async () => {
    const fleet = new Fleet();
    fleet.putAccount(account('acme'));
    for (let index = 0; index < 230; index += 1) fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme.example`));
    const rowsOf = (body: string) => body.split('<tr role="row" id="row-').length - 1;
    expect(rowsOf(await read(fleet))).toBe(50);
    const last = await read(fleet, '/?page=99');
    expect(rowsOf(last)).toBe(30);
    expect(last).toContain('Page 5 of 5');
  });
});

describe('the fleet', () => {
  const tags: Tags = { all: () => ['vip'], of: ({ id }) => (id === 'm7' || id === 'm1' ? ['vip'] : []) };
  const rowsOf = (body: string) => [...body.matchAll(/<tr role="row" id="row-\w+\/(\w+)"/g)].map(([, id]) => id);

  test('is narrowed to an account, a domain, a provider or a tag, and each keeps the others', async () => {
    const rows = async (query: string) => rowsOf(await read(exampleFleet(), `/?${query}`, { tags }));
    expect(await rows('account=northwind')).toEqual(['m4', 'm3']);
    expect(await rows('domain=northwind.example&state=near_limit')).toEqual(['m3']);
    expect(await rows('tag=vip')).toEqual(['m1', 'm7']);
    expect(await rows('provider=google&tag=vip&q=box')).toEqual(['m7']);
    const body = await read(exampleFleet(), '/?tag=vip&sort=rate&q=box', { tags });
    expect(body).toContain('<option value="vip" selected>vip</option>');
    expect(body).toContain('href="/?q=box&amp;tag=vip&amp;sort=rate&amp;state=ok"');
  });

  test('is sorted by a column, the same rate worst first, and says so', async () => {
    const body = await read(exampleFleet(), '/?sort=rate');
    expect(rowsOf(body).slice(0, 3)).toEqual(['m1', 'm3', 'm2']);
    expect(body).toContain('aria-sort="descending"><a href="/?sort=rate">Bounce rate');
    expect(rowsOf(await read(exampleFleet(), '/?sort=address'))[0]).toBe('m10');
    await using server = await serve(exampleFleet());
    expect((await ask(`${server.url}/?sort=colour`, page)).status).toBe(400);
  });

  test('gives each kind of data of an account its own age, and kinds of one age together', async () => {
    const oldestMs = {
      ...{ stats: 15 * minuteMs, warmup: 30 * minuteMs, health: minuteMs, mailboxes: minuteMs },
      ...{ mailbox: 6 * hourMs, dns: minuteMs, blacklist: 12 * hourMs },
    };
    const rest = { mailboxes: 3, allowedPerMinute: 90, asksPerMinute: 3, fits: true, firstSweepMs: minuteMs };
    const forecast = { ...rest, oldestMs, calmestMs: oldestMs.stats, isHeldBack: false, mend: null };
    const withForecast = (changes: object) => {
      const fleet = calmFleet();
      fleet.putAccount(account('acme', { forecast: { ...forecast, ...changes } }));
      return read(fleet);
    };
    expect(await withForecast({})).toContain('connection up to 6 h, DNS up to 60 s, blacklists up to 12 h.');
    // Whether what waits is too much.
    expect(await withForecast({})).toMatch(/the oldest for 12\s+s\. The rate limit is enough for them\.<\/p>/);
    expect(await withForecast({ fits: false })).not.toContain('enough for them');
    const alike = { ...oldestMs, dns: 6 * hourMs, blacklist: 6 * hourMs };
    expect(await withForecast({ oldestMs: alike })).toContain('; connection, DNS and blacklists up to 6 h.');
    const none = await withForecast({ mailboxes: 0 });
    expect(none).toContain('No mailbox of this account is guarded');
    expect(none).not.toContain('blacklists up to');
  });

  test('has groups with their states and rates, the worst first', async () => {
    const body = await read(exampleFleet(), '/groups?by=tag', { tags });
    const groups = body.split('<tr role="row" id="tag-').slice(1);
    expect(groups).toHaveLength(2);
    expect(groups[0]).toContain('href="/?tag=vip"');
    expect(groups[0]).toContain('10 of 380 = <b>2.63\u00a0%</b>');
    expect(groups[0]).toContain('data-heading="Alerts"><strong class="bad">1</strong>');
    expect(groups[1]).toContain('no tag');
    const domains = await read(exampleFleet(), '/groups?by=domain');
    expect(domains.indexOf('domain-acme.example')).toBeLessThan(domains.indexOf('domain-northwind.example'));
    expect(domains).toContain('data-heading="Alerts">none');
  });

  test('has what it sent and bounced a day, when Warmwarden acted, and how many mailboxes it held', async () => {
    const fleet = calmFleet();
    const span = (id: string, since: number, until: number) => ({ account: 'acme', id, since, until });
    const days = {
      acted: async () => [{ day: (now / 864e5) | 0, count: 2 }],
      held: async () => [
        span('m1', now - 60 * dayMs, now - dayMs),
        span('m2', now - dayMs, now - dayMs),
        span('m1', now - dayMs + 1, now),
      ],
    };
    const body = await read(fleet, '/', { trend: new FleetTrend({ fleet, world: stillWorld(), days }) });
    expect(body).toContain('at most 2 mailboxes held on one day');
    const held = [...body.matchAll(/<th scope="row">2026-0[23]-\d\d<\/th>.*?<td>(\d+)<\/td><\/tr>/g)];
    expect(held.map(([, count]) => count).join('')).toBe(`12${'1'.repeat(28)}`);
    const [, sent] = /<th scope="row">2026-03-12<\/th><td>(\d+)<\/td><td>0<\/td><td>2<\/td>/.exec(body) ?? [];
    expect(Number(sent) % 3).toBe(0);
    expect(Number(sent)).toBeGreaterThan(50);
  });
});

test('a page whose live updates are paused says of which moment it is', async () => {
  expect(await read(calmFleet())).toContain('data-events="/events');
  for (const path of ['/', '/mailboxes/acme/m1']) {
    const still = await read(calmFleet(), `${path}?refresh=off`);
    expect(still).not.toContain('data-events');
    expect(still).toMatch(/As of <time[^>]*>03:12:07 UTC<\/time><\/span> <a href="[^"]*">Resume live updates/);
  }
});

describe('names that are markup', () => {
  const nasty = `<script>alert(1)</script>"'&\u202e\u0007@acme.example`;

  test('stay text on every page', async () => {
    const fleet = calmFleet();
    const bad = mailbox('<b>"id/..%', nasty, {
      verdict: { at: now, answer: verdict({ warnings: ['<i>odd</i>'] }) },
    });
    const detail = bad.detail && {
      ...bad.detail,
      answer: { ...bad.detail.answer, connection: 'error' as const, connectionError: '<u>x' },
    };
    fleet.putMailbox({ ...bad, detail });
    fleet.putAction(action('a1', bad, { detail: '<em>detail</em>' }));
    fleet.putAlert(
      alert({ rule: 'blacklisted', mailboxId: bad.id, facts: { title: nasty, sentences: ['<p>s'], numbers: {} } }),
    );
    const path = `/mailboxes/acme/${encodeURIComponent(bad.id)}`;
    for (const where of ['/', path, `/?q=${encodeURIComponent('<script>"')}`]) {
      const body = await read(fleet, where);
      for (const raw of ['<script>', '<i>odd', '<em>', '<u>x', '<p>s', '<b>"', '\u202e', '\u0007'])
        expect(body).not.toContain(raw);
      expect(body).toContain('&lt;script&gt;');
    }
    expect(await read(fleet, path)).toContain('[U+202E][U+0007]');
  });

  test('lead to their own page from the table', async () => {
    const fleet = calmFleet();
    fleet.putMailbox(mailbox('a/b c?d#e%2F', 'slashes@acme.example'));
    const [, href] = /href="(\/mailboxes\/[^"]*)">slashes/.exec(await read(fleet)) ?? [];
    expect(await read(fleet, href)).toContain('slashes<wbr>@acme.example</h1>');
  });
});

describe('the page of a mailbox', () => {
  test('says the verdict, what to do, what was done and every decision', async () => {
    const first = { firstSent: 190, firstDays: [], days: [] };
    const decisions = async () => [
      { since: now - hourMs, until: now - minuteMs, count: 4, verdict: verdict({ bounced: 1 }), ...first },
      {
        since: now - 2 * hourMs,
        until: now - 2 * hourMs,
        count: 1,
        verdict: verdict({ action: 'pause', reason: 'emergency' }),
        ...first,
      },
    ];
    const entries = { entriesOf: async () => ({ decisions: await decisions(), actions: [], changes: [] }) };
    const body = await read(exampleFleet(), '/mailboxes/acme/m1', { entries });
    expect(body).toContain('Warmwarden paused the warm-up on 12 March 03:05 UTC. 9 bounces in 44 emails');
    expect(body).toContain('until a person resumes it');
    expect(body).toContain('Paused warm-up');
    expect(body.replace(/<\/?time[^>]*>/g, '')).toContain(
      '4 answers, the first 60\u00a0min ago, the last 1\u00a0min ago',
    );
    const twice = { since: now - 13 * minuteMs - 2_000, until: now - 13 * minuteMs, count: 2, verdict: verdict({}) };
    const together = { entriesOf: async () => ({ decisions: [{ ...first, ...twice }], actions: [], changes: [] }) };
    const brief = await read(exampleFleet(), '/mailboxes/acme/m1', { entries: together });
    expect(brief.replace(/<\/?time[^>]*>/g, '')).toContain('2 answers, 13\u00a0min ago');
    expect(body).toContain('role="img"');
    expect(body).toContain(new Date(now - minuteMs).toISOString());
  });

  test('of nobody is a page for people and JSON for programs', async () => {
    await using server = await serve(calmFleet());
    const people = await ask(`${server.url}/mailboxes/acme/gone`, page);
    expect([people.status, people.headers['content-type']]).toEqual([404, 'text/html; charset=UTF-8']);
    const program = await ask(`${server.url}/api/mailboxes/acme/gone`, page);
    expect([program.status, JSON.parse(program.body.toString())]).toMatchObject([404, { error: 'unknown_mailbox' }]);
  });

  test('shows the decisions until any day, and leads to the earlier ones', async () => {
    const asked: number[] = [];
    const one = (since: number) => ({
      since,
      until: since,
      count: 1,
      firstSent: 0,
      firstDays: [],
      days: [],
      verdict: verdict(),
    });
    const entriesOf = async (_of: unknown, until: number, limit: number) => {
      asked.push(until);
      return {
        decisions: Array.from({ length: limit }, (_, index) => one(until - index * minuteMs)),
        actions: [],
        changes: [],
      };
    };
    const body = await read(exampleFleet(), '/mailboxes/acme/m1?day=2026-03-10', { entries: { entriesOf } });
    const end = Date.parse('2026-03-11T00:00Z') - 1;
    expect(asked).toEqual([now, end]);
    expect(body).toContain(`href="/mailboxes/acme/m1?until=${end - 49 * minuteMs - 1}#decisions"`);
    expect(body).toContain('value="2026-03-10"');
    const [, earlier = ''] = /href="([^"]*until=\d+)#decisions"/.exec(body) ?? [];
    await read(exampleFleet(), earlier, { entries: { entriesOf } });
    expect(asked.at(-1)).toBe(end - 49 * minuteMs - 1);
    await using server = await serve(exampleFleet());
    expect((await ask(`${server.url}/mailboxes/acme/m1?day=2026-02-30`, page)).status).toBe(400);
  });

  test('stands although the store does not answer, without telling strangers why', async () => {
    const broken = () => Promise.reject(new Error('secret path /var/lib'));
    await using server = await serve(exampleFleet(), { entries: { entriesOf: broken }, deliveries: broken });
    for (const [path, sentence] of [
      ['/', 'Warmwarden cannot read the list of messages'],
      ['/mailboxes/acme/m1', 'Warmwarden cannot read the decisions at the moment'],
    ]) {
      const answer = await ask(`${server.url}${path}`, page);
      expect(answer.status).toBe(200);
      expect(answer.body.toString()).toContain(sentence);
      expect(answer.body.toString()).not.toContain('secret');
    }
    const program = await ask(`${server.url}/api/deliveries`);
    expect(program.status).toBe(500);
    expect(program.body.toString()).not.toContain('secret');
  });
});

describe('JSON', () => {
  test('has what the page shows', async () => {
    const delivery = {
      id: 'd1',
      channel: 'ops',
      group: 'g',
      sequence: 1,
      payload: 'frozen',
      title: 'Paused',
      state: 'sent' as const,
    };
    const rest = { alerts: [], begunAt: null, receipt: null };
    const sent = {
      ...delivery,
      ...rest,
      attempts: 1,
      createdAt: now,
      nextAttemptAt: now,
      settledAt: now,
      detail: 'ok',
    };
    await using server = await serve(exampleFleet(), { deliveries: async () => [sent] });
    const get = async (path: string) => JSON.parse((await ask(server.url + path)).body.toString());
    const fleet = await get('/api/fleet?state=paused_by_guard');
    expect(fleet).toMatchObject({ tone: 'alarm', total: 1, states: { ok: 8, paused_by_guard: 1 } });
    expect(fleet.mailboxes[0]).toMatchObject({
      email: 'sales@acme.example',
      state: 'paused_by_guard',
      verdict: { bounced: 10 },
    });
    expect(await get('/api/mailboxes/acme/m1')).toMatchObject({ action: { kind: 'pause', state: 'confirmed' } });
    expect((await get('/api/alerts')).alerts).toMatchObject([{ rule: 'dns_failing', status: 'firing' }]);
    const { deliveries } = await get('/api/deliveries');
    expect(deliveries).toMatchObject([{ id: 'd1', state: 'sent', next_attempt_at: null }]);
    expect(JSON.stringify(deliveries)).not.toContain('frozen');
  });
});

describe('days', () => {
  test('take the fuller of two rows of one date, and no row of the future', () => {
    const stats = { rows: [row(today, { sent: 5 }), row(today, { sent: 9 }), row('2099-01-01'), row('2026-02-30')] };
    const days = dailyRows(stats, now);
    expect(days.map(({ date, sent }) => [date, sent])).toEqual([[today, 9]]);
  });

  test('have no sum when one count is unknown or no count', () => {
    const sumWith = (sent: number | null) => sumOf(dailyRows({ rows: [row(today, { sent })] }, now), 'sent');
    expect([sumWith(3), sumWith(null), sumWith(-1), sumWith(1.5)]).toEqual([3, null, null, null]);
    expect(sumOf([], 'sent')).toBeNull();
  });

  test('weight the inbox rate by what was delivered', () => {
    const days = [
      row('2026-03-11', { delivered: 30, inboxRatePercent: 100 }),
      row(today, { delivered: 10, inboxRatePercent: 60 }),
    ];
    expect(inboxRatio(dailyRows({ rows: days }, now))).toBeCloseTo(0.9, 12);
  });
});

test('of 200 accounts it lists those in trouble, counts the others, and stays small', async () => {
  const fleet = new Fleet();
  for (let index = 0; index < 200; index += 1) {
    const name = `client-${index}`;
    fleet.putAccount(account(name, index === 150 ? { keyWrites: false } : {}));
    for (let box = 0; box < 5; box += 1)
      fleet.putMailbox({ ...mailbox(`m${index}-${box}`, `box${box}@domain${index}.example`), account: name });
  }
  const body = await read(fleet);
  expect(body).toContain('192 more accounts, all of them without a problem');
  expect(body.indexOf('<strong>client-150</strong>')).toBeLessThan(body.indexOf('<strong>client-0</strong>'));
  expect(Buffer.byteLength(body)).toBeLessThan(150 * 1024);
  fleet.putAccount(account('client-150'));
  for (let index = 0; index < 30; index += 1)
    fleet.putAccount(account(`client-${index}`, { failingSince: now - minuteMs }));
  const ill = await read(fleet);
  expect(ill).toContain('192 more accounts, 22 of them with problems');
  expect(ill).toContain('client-4 and 25 more');
});
