// What a person reads: the sentence at the top, the order, the filter, and that no name becomes markup.

import { describe, expect, test } from 'vitest';
import { noAccount } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTags, type Tags } from '../../src/core/mailbox.ts';
import { breakerPath } from '../../src/core/page-links.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { everything } from '../../src/core/write-scope.ts';
import { preparedAt } from '../../src/web/commands/prepared.ts';
import {
  account,
  action,
  alert,
  bareMailbox,
  exampleFleet,
  fleetOf,
  forecast,
  mailbox,
  now,
  verdict,
} from '../web/example-fleet.ts';
import { ask, read, serve } from '../web/running-server.ts';

const page = { accept: 'text/html' };

/** The text between h1 tags. */
const headline = (body: string) => /<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1] ?? '';

const calmFleet = () => fleetOf(3, 1);

/** A test on a calm fleet. */
const it = (name: string, proof: (fleet: Fleet) => Promise<void>) => test(name, () => proof(calmFleet()));

const failing = (minutes: number) => ({ failingSince: now - minutes * minuteMs });

function putVerdict(fleet: Fleet, id: string, changes: Partial<Verdict>, name = 'acme'): void {
  const answer = verdict(changes);
  fleet.putMailbox(mailbox(id, `${id}@${name}.example`, { account: name, verdict: { at: now, answer } }));
}

const breach = { action: 'recovery', reason: 'bounce_rate_over_limit', bounced: 9 } as const;
const held = { action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 162, bounced: 11 } as const;
const diskFull = { said: 'the disk is full', remedy: 'Make room on the disk.', lasting: false };
const off = { since: now, until: null, by: 'bob', reason: 'a look first' };
const ofMailbox = { kind: 'mailbox', account: 'acme', mailboxId: 'm1', email: 'box1@acme.example' } as const;
const aboutNoMailbox = { account: noAccount, mailboxId: null } as const;

/** The alert of the circuit breaker. */
function breakerAlert(accounts: readonly string[], numbers: Record<string, string | number> = {}) {
  const facts = {
    title: 'held',
    sentences: ['Unless you decide: x', '`warmwarden breaker apply`'],
    numbers,
    accounts: [...accounts],
  };
  return alert({ rule: 'guard_held', severity: 'critical', ...aboutNoMailbox, facts });
}

interface Headline {
  readonly name: string;
  readonly fleet?: Fleet;
  readonly put: (fleet: Fleet) => void;
  readonly says: string;
  readonly body?: readonly string[];
}

/** Three mailboxes that were not judged yet. */
function unjudgedFleet(): Fleet {
  const fleet = new Fleet();
  fleet.putAccount(account('acme'));
  for (const id of ['m1', 'm2', 'm3']) fleet.putMailbox(bareMailbox(id, `${id}@acme.example`, 'acme'));
  return fleet;
}

const worseThanUnjudged: Readonly<Record<string, Pick<Headline, 'put' | 'says'>>> = {
  'that an account is down': {
    put: (fleet) => fleet.putAccount(account('northwind', failing(60))),
    says: 'NOT GUARDED (API down): no request of account northwind has succeeded for 60\u00a0min. 3 mailboxes not judged.',
  },
  'that a critical alert fires': {
    put: (fleet) => fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', mailboxId: null })),
    says: '1 critical alert. 3 mailboxes not judged.',
  },
  'what it can of a read-only key': {
    put: (fleet) => fleet.putAccount(account('acme', { keyWrites: false })),
    says: 'NOT GUARDED: acme: the API key is read-only, NO ACTION on breaches. 3 mailboxes not judged.',
  },
  'that included mailboxes are not listed': {
    put: (fleet) => fleet.putAccount(account('acme', { unlisted: ['tpyo@acme.example'] })),
    says: 'NOT GUARDED: acme: not in the mailbox list: tpyo@acme.example. 3 mailboxes not judged.',
  },
  'nothing worse where nothing is,': { put: () => {}, says: 'None of the 3 mailboxes is judged.' },
};

const headlines: readonly Headline[] = [
  {
    name: 'is calm when all is fine',
    put: () => {},
    says: 'All 3 mailboxes are OK.',
    body: ['class="headline calm"', 'Nothing to do.'],
  },
  {
    name: 'counts what the guard did',
    fleet: exampleFleet(),
    put: () => {},
    says: '1 critical alert. 1 mailbox not judged, 1 paused by Warmwarden, 1 slowed by Warmwarden, 1 near the limit, 8 within limits.',
  },
  {
    name: 'says that nothing is known, and for how long, when no account answers',
    put: (fleet) => fleet.putAccount(account('acme', { ...failing(12), lastFailure: 'connection refused' })),
    says: 'NOT GUARDED (API down): no request of account acme has succeeded for 12\u00a0min. All 3 mailboxes were below their bounce limits when last read.',
    body: ['class="headline unknown"', '>acme: Connection refused. Check whether the API is up, and base_url.</p>'],
  },
  {
    name: 'counts the critical alerts also when no account answers',
    put: (fleet) => {
      fleet.putAccount(account('acme', failing(12)));
      fleet.putAlert(alert({ rule: 'not_guarded', severity: 'critical', object: 'api down', mailboxId: null }));
      fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', mailboxId: null }));
    },
    says: 'NOT GUARDED (API down): no request of account acme has succeeded for 12\u00a0min. 2 critical alerts. All 3 mailboxes were below their bounce limits when last read.',
    body: ['class="headline alarm"', ' Start with the critical alerts below.</p>'],
  },
  {
    name: 'names an account of which no mailbox is guarded, and what to check',
    put: (fleet) => fleet.putAccount(account('northwind', { forecast: forecast({ mailboxes: 0 }) })),
    says: 'NOT GUARDED: northwind: it has no guarded mailbox. All 3 mailboxes are OK.',
    body: [
      'class="headline unknown"',
      '>northwind: Check <code>include</code> and <code>exclude</code>, and what the key can see.',
    ],
  },
  {
    name: 'says that mailboxes which the configuration includes by name are not guarded, and what to check',
    put: (fleet) => fleet.putAccount(account('acme', { unlisted: ['tpyo@acme.example'] })),
    says: 'NOT GUARDED: acme: not in the mailbox list: tpyo@acme.example. All 3 mailboxes are OK.',
    body: ['class="headline unknown"', '>acme: Check the spelling in <code>include</code>, and what the key can see.'],
  },
  {
    name: 'says that an account is not guarded also while another one does not answer',
    put: (fleet) => {
      fleet.putAccount(account('acme', { unjudged: { since: now, detail: 'not on your plan' } }));
      fleet.putAccount(account('northwind', failing(12)));
    },
    says: 'NOT GUARDED (API down): no request of account northwind has succeeded for 12\u00a0min. NOT GUARDED: acme: no mailbox can be judged (not on your plan). All 3 mailboxes were below their bounce limits when last read.',
    body: ['and base_url. acme: Ask the warm-up service what your plan and key allow.</p>'],
  },
  {
    name: 'says of an account that is not guarded nothing in place of a write stop and of what another holds',
    put: (fleet) => {
      fleet.putAccount(account('northwind', { unjudged: { since: now, detail: 'not on your plan' } }));
      putVerdict(fleet, 'm1', held);
      fleet.putAlert(breakerAlert(['acme']));
      fleet.putWritesOff({ ...off, scope: everything });
    },
    says: 'Writes are OFF for all accounts. NOT GUARDED: northwind: no mailbox can be judged (not on your plan). 1 critical alert. 1 mailbox over the limit and held, 2 within limits when last read.',
    body: ['class="headline alarm"', 'your plan and key allow. The circuit breaker is holding the actions'],
  },
  {
    name: 'says of several accounts since when no request of any has succeeded',
    put: (fleet) => {
      for (const [name, minutes] of Object.entries({ northwind: 12, oliver: 7 }))
        fleet.putAccount(account(name, failing(minutes)));
    },
    says: 'NOT GUARDED (API down): no request of 2 of 3 accounts has succeeded for 7\u00a0min. All 3 mailboxes were below their bounce limits when last read.',
    body: ['>northwind, oliver: No request succeeds. Check whether the API is up, and base_url.</p>'],
  },
  {
    name: 'calls an API that rejects every key that it is asked with not down',
    put: (fleet) => fleet.putAccount(account('acme', { ...failing(1), keyRejected: true })),
    says: 'NOT GUARDED (key rejected): no request of account acme has succeeded for 1\u00a0min. All 3 mailboxes were below their bounce limits when last read.',
  },
  {
    name: 'counts no mailbox of an account that is starting as OK',
    put: (fleet) => fleet.putAccount(account('northwind', { listed: false, lastSuccessAt: null, watchedSince: now })),
    says: 'Account northwind is starting: no mailbox list has been read yet. All 3 mailboxes were below their bounce limits when last read.',
    body: ['class="headline unknown"', 'Wait a moment.'],
  },
  {
    name: 'says that an account with a stopped loop is not guarded, not that it is starting',
    put: (fleet) => {
      fleet.putAccount(account('northwind', { listed: false, lastSuccessAt: null, watchedSince: now }));
      fleet.putGuarding([{ account: 'northwind', startingSince: now, hasStopped: true }]);
    },
    says: 'NOT GUARDED: northwind: it has stopped: restart Warmwarden; the log has the error. All 3 mailboxes were below their bounce limits when last read.',
    body: ['class="headline alarm"', '>northwind: Restart it.'],
  },
  {
    name: 'says that an account with a stopped loop is not guarded also while no API answers',
    put: (fleet) => {
      fleet.putAccount(account('acme', failing(12)));
      fleet.putGuarding([{ account: 'acme', startingSince: now, hasStopped: true }]);
    },
    says: 'NOT GUARDED: acme: it has stopped: restart Warmwarden; the log has the error. NOT GUARDED (API down): no request of account acme has succeeded for 12\u00a0min. All 3 mailboxes were below their bounce limits when last read.',
    body: ['class="headline alarm"', '>acme: Restart it.'],
  },
  {
    name: 'calls a mailbox without a counted email not OK',
    put: (fleet) => {
      putVerdict(fleet, 'm1', { sent: 0, bounced: 0, windowDays: 0 });
      putVerdict(fleet, 'm2', { sent: 0, bounced: 0, windowDays: 7 });
    },
    says: '1 mailbox counting from tomorrow, 1 without a counted email yet, 1 within limits.',
    body: ['class="headline calm"'],
  },
  {
    name: 'counts a mailbox that is over the limit with too few bounces',
    put: (fleet) => putVerdict(fleet, 'm1', { reason: 'insufficient_evidence', mode: 'slow', sent: 80, bounced: 1 }),
    says: '1 mailbox over the limit and not acted on, 2 within limits.',
  },
  {
    name: 'counts the held mailboxes',
    put: (fleet) => {
      putVerdict(fleet, 'g1', breach, 'globex');
      fleet.putAccount(account('globex', { keyWrites: false }));
      for (const id of ['m1', 'm2']) putVerdict(fleet, id, held);
    },
    says: 'NOT GUARDED: globex: the API key is read-only, NO ACTION on breaches. 3 mailboxes over the limit and held, 1 within limits.',
  },
  {
    name: 'says that the store is failing before anything about the fleet, with the cause and what to do',
    put: (fleet) => fleet.putStoreFailure(diskFull),
    says: 'The store is failing: Warmwarden takes no action that it cannot record.',
    body: ['class="headline alarm"', 'The disk is full. Make room on the disk.'],
  },
  {
    name: 'does not call mailboxes OK beside a critical alert about something else of theirs',
    put: (fleet) => fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', mailboxId: null })),
    says: '1 critical alert. All 3 mailboxes are below their bounce limits.',
  },
  {
    name: 'points at an action that has not taken effect',
    put: (fleet) => {
      const unconfirmed = { state: 'unconfirmed', nextTryAt: now + 5 * minuteMs } as const;
      fleet.putAction(action('a1', mailbox('m1', 'box1@acme.example'), unconfirmed));
    },
    says: 'All 3 mailboxes are OK.',
    body: ['1 action has not taken effect', 'class="headline alarm"', 'in 5\u00a0min'],
  },
  {
    name: 'forgets an action that failed once a later one on the same mailbox worked',
    put: (fleet) => {
      const one = mailbox('m1', 'box1@acme.example');
      fleet.putAction(action('a1', one, { state: 'unconfirmed', plannedAt: now - hourMs }));
      fleet.putAction(action('a2', one, { state: 'confirmed', plannedAt: now - minuteMs }));
    },
    says: 'All 3 mailboxes are OK.',
    body: ['class="headline calm"'],
  },
  {
    name: 'names a stop of the writes of one mailbox beside the fleet, with what ends it',
    put: (fleet) => fleet.putWritesOff({ ...off, scope: ofMailbox }),
    says: 'Writes are OFF for mailbox box1@acme.example (account acme). All 3 mailboxes are OK.',
    body: [
      'Writes were switched off by bob: a look first.',
      '<code>warmwarden writes on --mailbox acme/box1@acme.example</code>',
    ],
  },
  {
    name: 'puts a stop of all writes before anything else',
    put: (fleet) => fleet.putWritesOff({ ...off, scope: everything }),
    says: 'Writes are OFF for all accounts.',
    body: ['class="headline alarm"'],
  },
  ...Object.entries(worseThanUnjudged).map(([what, { put, says }]) => ({
    name: `says ${what} although no mailbox is judged yet`,
    fleet: unjudgedFleet(),
    put,
    says,
  })),
];

test.each(headlines)('the headline $name', async ({ fleet = calmFleet(), put, says, body: parts = [] }) => {
  put(fleet);
  const body = await read(fleet);
  expect(headline(body)).toBe(says);
  for (const part of parts) expect(body).toContain(part);
});

const adviceOf = async (fleet: Fleet) => JSON.parse(await read(fleet, '/api/fleet')).advice;
const warned = 'The warning below can wait until morning.';
const clean =
  'Paused: take sales@acme.example out of its campaigns yourself, now. Once their recipient lists are clean, resume the warm-up: Warmwarden never does that by itself.';

test.each([
  { of: 'a warning of no mailbox', claims: [], warning: true, says: `Nothing is urgent. ${warned}` },
  {
    of: 'a mailbox in recovery mode',
    claims: ['recovery'],
    warning: false,
    says: 'Nothing to do now: Warmwarden has acted and keeps watching.',
  },
  { of: 'a paused mailbox and a warning', claims: ['pause'], warning: true, says: `${clean} ${warned}` },
])('$of is never beside the words that there is nothing to do', async ({ claims, warning, says }) => {
  const fleet = claims.length > 0 ? new Fleet() : calmFleet();
  for (const one of exampleFleet().mailboxes())
    if (claims.includes(one.memory?.claim?.kind ?? '')) fleet.putMailbox(one);
  fleet.putAccount(account('acme'));
  if (warning) fleet.putAlert(alert({ rule: 'config_wrong', severity: 'warning', ...aboutNoMailbox }));
  expect(await adviceOf(fleet)).toBe(says);
  expect(await read(fleet)).toContain(`<p class="advice">${says}</p>`);
});

it('the advice names each cause once, the worst first', async (fleet) => {
  fleet.putAccount(account('acme', { keyWrites: false }));
  fleet.putAccount(account('northwind', failing(1)));
  fleet.putAccount(account('oliver', { ...failing(1), keyRejected: true }));
  expect(await adviceOf(fleet)).toBe(
    'oliver: No request succeeds. Put a valid key into the configuration. northwind: No request succeeds. Check whether the API is up, and base_url. acme: Replace the key.',
  );
});

it('of held mailboxes it names the critical alert, which says what to do, and of the circuit breaker the command', async (fleet) => {
  putVerdict(fleet, 'm1', held);
  fleet.putAlert(alert({ rule: 'bounce_over_limit', severity: 'critical', mailboxId: 'm1' }));
  expect(await adviceOf(fleet)).toBe(
    'Warmwarden has NOT ACTED on the held mailboxes: the page of each says why. Start with the critical alert below.',
  );
  fleet.putAlert(breakerAlert(['acme', 'beta'], { acts_from: '2026-03-10T15:04:00.000Z' }));
  expect(await adviceOf(fleet)).toMatch(
    /The circuit breaker is holding the actions.*breaker apply`\..*breaker discard`\. Since 10 March 15:04 UTC Warmwarden acts step by step/s,
  );
  expect(await read(fleet)).toContain('<a class="do" href="/writes?account=beta&amp;do=off">Writes off: beta</a>');
});

test('the buttons of held mailboxes are about one API', () => {
  for (const end of ['apply', 'discard'] as const) {
    const { pathname: path, searchParams: asked } = new URL(breakerPath(end, 'https://api.example/v1'), 'http://page');
    const prepared = preparedAt({ path, asked, mailbox: () => undefined });
    expect(prepared).toMatchObject({
      operation: `breaker-${end}`,
      requests: [{ body: { api: 'https://api.example/v1' } }],
    });
  }
});

test('the page of a mailbox that the circuit breaker holds says until when, in the configured zone, and what ends that', async () => {
  const fleet = exampleFleet();
  putVerdict(fleet, 'm1', held);
  fleet.putAlert(breakerAlert(['acme', 'beta'], { acts_from: '2026-03-12T15:04:00.000Z', held: 3, pauses: 3 }));
  const shown = await read(fleet, '/mailboxes/acme/m1', { timeZone: () => 'Europe/Berlin' });
  expect(shown).toContain(
    'Unless you decide, Warmwarden acts step by step from 12 March 16:04 Europe/Berlin, if fresh data still shows the breach.</p>',
  );
  expect(shown).toContain(
    '<a class="do" href="/mailboxes?mailbox=acme%2Fm1&amp;do=pause">Pause only this mailbox now</a> <a class="do" href="/breaker?api=&amp;do=apply">Pause all 3 held mailboxes now</a> <a class="do" href="/breaker?api=&amp;do=discard">',
  );
  expect(shown).toContain('id="alert-guard_held');
  // A further bounce breaches when 1 is shown: none is left then.
  expect(await read(fleet)).toContain('>To breach</a>');
  const listed = JSON.parse(await read(fleet, '/api/fleet')).mailboxes[0];
  expect([listed.id, listed.alerts]).toEqual(['m1', ['guard_held']]);
  // The summary says what to do, and the alert does not say it again.
  expect(shown.match(/Unless you decide|breaker apply|breaker\?api=[^ ]*do=apply/g)).toEqual([
    'Unless you decide',
    'breaker?api=&amp;do=apply',
  ]);
  expect(await read(fleet, '/mailboxes/acme/m2')).not.toContain('alert-guard_held');
});

it('a held emergency is marked, and stands before what is held and has graver alerts', async (fleet) => {
  putVerdict(fleet, 'm1', held);
  fleet.putAlert(alert({ rule: 'bounce_over_limit', severity: 'critical', mailboxId: 'm1' }));
  putVerdict(fleet, 'm2', { ...held, sent: 400, emergency: { sent: 26, bounced: 8, from: '2026-03-09' } });
  const shown = await read(fleet);
  expect(shown.match(/>Held, emergency</g)).toHaveLength(1);
  expect(shown).toContain('8 of 26 =');
  expect(shown.indexOf('Held, emergency')).toBeLessThan(shown.indexOf('>Held</span>'));
});

it('no mailbox of an account that cannot be read counts as OK, on the page, in JSON and in groups', async (fleet) => {
  putVerdict(fleet, 'm9', { bounced: 1, sent: 110, bouncesUntilBreach: 1 }, 'northwind');
  fleet.putMailbox(mailbox('m8', 'm8@northwind.example', { account: 'northwind' }));
  fleet.putAccount(account('northwind'));
  fleet.putAccount(account('acme', failing(12)));
  expect(headline(await read(fleet))).toContain(
    '1 mailbox near the limit, 1 within limits, 3 within limits when last read.',
  );
  const json = async (path: string) => JSON.parse(await read(fleet, path));
  expect((await json('/api/fleet')).states).toMatchObject({ ok: 1, near_limit: 1, not_judged: 3 });
  const { groups } = await json('/api/groups?by=domain');
  const unread = groups.find(({ name }: { name: string }) => name === 'acme.example');
  expect(unread.states).toMatchObject({ ok: 0, not_judged: 3 });
});

it('every page begins with what makes it old or without effect', async (fleet) => {
  const above = async (path: string) => (await read(fleet, path)).split('<main')[0];
  expect(await above('/alerts')).not.toContain('id="banner"');
  fleet.putStoreFailure(diskFull);
  fleet.putWritesOff({ ...off, scope: { kind: 'account', account: 'acme' } });
  const paths = ['/alerts', '/groups', '/activity', '/silences', '/recipes', '/mailboxes/acme/m1'];
  for (const path of [...paths, '/runbooks']) {
    const said = await above(path);
    expect(said).toContain('The store is failing: Warmwarden takes no action that it cannot record.</a> The disk is');
    expect(said).toContain('Writes are OFF for account acme.</a> Where writes are off, Warmwarden notifies you of');
  }
  fleet.putStoreFailure(null);
  fleet.putAccount(account('acme', failing(12)));
  expect(await above('/silences')).toContain(
    'NOT GUARDED (API down): no request of account acme has succeeded for 12\u00a0min.',
  );
  const other = calmFleet();
  other.putWritesOff({ ...off, scope: ofMailbox });
  expect(await read(other, '/mailboxes/acme/m1')).toContain(
    'Writes are off for mailbox box1@acme.example (account acme) (bob: a look first). To allow them: <code>warmwarden writes on',
  );
  expect(await read(other, '/alerts')).not.toContain('a look');
});

test('the headline does not say fine before the first list was read', async () => {
  const fleet = new Fleet();
  fleet.putAccount(account('acme', { listed: false, lastSuccessAt: null, watchedSince: now }));
  const reasons = ['the mailboxes of acme'];
  const body = await read(fleet, '/', { ready: () => ({ ready: false, reasons }) });
  expect(headline(body)).toBe('Starting: Warmwarden has not read a mailbox list yet.');
  expect(body).toContain('Waiting for: the mailboxes of acme.');
});

it('a mailbox that is disconnected is not OK, on the page and in JSON', async (fleet) => {
  const lost = mailbox('m3', 'box3@acme.example');
  if (!lost.detail) throw new Error('the example is incomplete');
  const answer = { ...lost.detail.answer, connection: 'error', connectionError: 'IMAP login failed' } as const;
  fleet.putMailbox({ ...lost, detail: { ...lost.detail, answer } });
  fleet.putAlert(alert({ rule: 'mailbox_unwell', severity: 'critical', mailboxId: 'm3' }));
  const json = JSON.parse(await read(fleet, '/api/fleet'));
  expect([json.headline, json.states.ok, json.states.not_running]).toEqual([
    '1 critical alert. 1 mailbox not running, 2 within limits.',
    2,
    1,
  ]);
});

it('a mailbox whose statistics are stale is not OK, and what was paused stays so', async (fleet) => {
  const stale = { rule: 'stale_data', object: 'statistics' } as const;
  // The alert waits for its `for`, or fires.
  fleet.putAlert(alert({ ...stale, mailboxId: 'm1', status: 'pending' }));
  fleet.putAlert(alert({ ...stale, mailboxId: 'm2' }));
  putVerdict(fleet, 'm2', { reason: 'already_paused', run: 'paused' });
  fleet.putAlert(alert({ ...stale, object: 'dns', mailboxId: 'm3' }));
  const { states, headline: said, advice } = JSON.parse(await read(fleet, '/api/fleet'));
  expect([states.not_judged, states.paused_by_others, states.ok]).toEqual([1, 1, 1]);
  expect([said, advice]).toEqual([
    '1 mailbox not judged, 1 paused by others, 1 within limits.',
    expect.stringMatching(/^Warmw/),
  ]);
  expect(await read(fleet, '/mailboxes/acme/m1')).toContain('<p class="bad">NOT GUARDED since 12 March 02:52 UTC.');
});

it('the page counts the mailboxes that are guarded now, none of an account that cannot be read', async (fleet) => {
  const guarding = async () => /Guarding [^<]*?(?= since|\.)/.exec(await read(fleet))?.[0];
  expect(await guarding()).toBe('Guarding 3 mailboxes on 1 account');
  fleet.putAccount(account('acme', failing(12)));
  expect(await guarding()).toBe('Guarding 0 of 3 mailboxes now');
  fleet.putAccount(account('northwind'));
  fleet.putMailbox(mailbox('m9', 'box9@northwind.example', { account: 'northwind' }));
  expect(await guarding()).toBe('Guarding 1 of 4 mailboxes now');
  fleet.putAccount(account('acme'));
  fleet.putAlert(alert({ rule: 'stale_data', object: 'statistics', mailboxId: 'm2' }));
  expect(await guarding()).toBe('Guarding 3 of 4 mailboxes now');
});

/** A calm fleet whose first mailbox Warmwarden has in recovery. */
function recoveringFleet(): Fleet {
  const fleet = calmFleet();
  const [m1] = [...fleet.mailboxes()];
  const claim = { kind: 'recovery', actionId: 'a1', since: now, previousMode: 'balanced', under: null } as const;
  if (m1) fleet.putMailbox({ ...m1, memory: m1.memory && { ...m1.memory, claim } });
  return fleet;
}

test.each([
  ['ok', calmFleet, '<p class="advice">Nothing to do.</p>'],
  ['recovering', recoveringFleet, 'over it, Warmwarden pauses the warm-up.'],
])(
  'with writes or enforcement off, the page of a mailbox that is %s promises no action, and all are watched',
  async (_state, fleetWith, promise) => {
    const fleet = fleetWith();
    expect(await read(fleet, '/mailboxes/acme/m1')).toContain(promise);
    const unenforcing = { policyOf: () => ({ ...defaultPolicy, enforce: false }) };
    const unenforced = await read(fleet, '/mailboxes/acme/m1', unenforcing);
    expect(unenforced).toContain('If it bounces, Warmwarden does nothing. Enforcement is OFF for it');
    expect(unenforced).not.toContain(promise);
    expect(await read(fleet, '/', unenforcing)).toContain('Watching 3 mailboxes, changing none');
    fleet.putWritesOff({ ...off, scope: everything });
    const shown = await read(fleet, '/mailboxes/acme/m1');
    expect(shown).toContain(
      'If it bounces, Warmwarden does nothing. Writes are off for all accounts (bob: a look first).',
    );
    expect(shown).not.toContain(promise);
    expect(await read(fleet)).toContain('Watching 3 mailboxes, changing none');
    expect(await read(fleet)).not.toContain('Guarding');
  },
);

test.each([{ keyWrites: false }, failing(12)])(
  'on an account that is not guarded, a recovery promises nothing: %o',
  async (changes) => {
    const fleet = recoveringFleet();
    fleet.putAccount(account('acme', changes));
    const body = await read(fleet, '/mailboxes/acme/m1');
    expect(body).toContain('NOT GUARDED');
    expect(body).not.toContain('Warmwarden pauses the warm-up');
  },
);

test.each([
  ['removed with undelivered messages', { type: 'removed', undelivered: 2 }, ['undelivered</span>']],
  ['never answered', { failingSince: now, lastFailure: 'no answer came' }, ['failing</span>', 'no answer came']],
])('a channel that is %s is not OK, although nothing waits', async (_what, changes, parts) => {
  const fleet = calmFleet();
  const [one] = exampleFleet().channels();
  if (one) fleet.putChannel({ ...one, lastSuccessAt: null, ...changes });
  const body = await read(fleet);
  for (const part of parts) expect(body).toContain(part);
});

it('the page of a mailbox shows the alert of its ip, and does not say that there is nothing to do', async (fleet) => {
  const one = mailbox('m1', 'box1@acme.example');
  const answer = { domain: 'acme.example', ip: '192.0.2.7', checkedAt: null, listed: true, found: 1, checked: 60 };
  fleet.putMailbox({ ...one, blacklist: { at: now, answer: { ...answer, lists: ['zen'] } } });
  fleet.putAlert(alert({ rule: 'blacklisted', object: '192.0.2.7' }));
  expect(await read(fleet, '/mailboxes/acme/m1')).toContain(
    '<p class="advice">Read the alert below: it says what to do.</p>',
  );
  expect(await read(fleet, '/mailboxes/acme/m2')).toContain('<p class="advice">Nothing to do.</p>');
});

describe('while a first sweep goes on', () => {
  const sweep = { account: 'acme', since: now - minuteMs };
  const doneAt = now + 11 * minuteMs;
  const unread = (fleet: Fleet) => {
    for (let index = 0; index < 4; index += 1) fleet.putMailbox(bareMailbox(`u${index}`, `u${index}@acme.example`));
    return fleet;
  };

  test('says how far it is, when it is done, and what is known of those who were read', async () => {
    const fleet = unread(calmFleet());
    fleet.putSweep({ ...sweep, mailboxes: 7, read: 3, doneAt });
    const body = await read(fleet);
    const text = 'First sweep of acme: 3 of 7 mailboxes read, done in about 11 min (03:23 UTC).';
    expect(headline(body)).toBe(`${text} 4 mailboxes not judged, 3 within limits.`);
    expect(body).toContain('Wait until the first sweep is done');
    const { accounts, states } = JSON.parse(await read(fleet, '/api/fleet'));
    expect([states.not_judged, states.ok]).toEqual([4, 3]);
    expect(accounts[0].first_sweep).toMatchObject({ mailboxes: 7, read: 3, done_at: new Date(doneAt).toISOString() });
  });

  test('names what is wrong with those who were read first, and counts several accounts together', async () => {
    const fleet = unread(exampleFleet());
    fleet.putSweep({ ...sweep, mailboxes: 14, read: 10, doneAt });
    fleet.putSweep({ ...sweep, account: 'northwind', mailboxes: 2, read: 1, doneAt: doneAt + minuteMs });
    expect(headline(await read(fleet))).toBe(
      '1 critical alert. First sweep of 2 accounts: 11 of 16 mailboxes read, done in about 12 min (03:24 UTC). 5 mailboxes not judged, 1 paused by Warmwarden, 1 slowed by Warmwarden, 1 near the limit, 8 within limits.',
    );
  });

  it('waits for nobody when all were read, and says what is left', async (fleet) => {
    fleet.putSweep({ ...sweep, mailboxes: 3, read: 3, doneAt });
    const body = await read(fleet);
    expect(headline(body)).toMatch(/^First sweep of acme: all 3 mailboxes read, .* All 3 mailboxes are OK\.$/);
    expect(body).not.toContain('Wait until the first sweep is done');
  });
});

test.each([
  [{}, '', ''],
  [{ keyWrites: false }, 'read-only key', 'NOT GUARDED. Account acme: The API key is read-only, '],
  [
    { ...failing(1), keyWrites: false },
    'API down',
    'NOT GUARDED since 12 March 03:11 UTC. Account acme: No request succeeds.',
  ],
  [{ ...failing(1), keyRejected: true }, 'key rejected', ''],
])('a row and the page of a mailbox say why Warmwarden cannot read or act: %s', async (changes, words, said) => {
  const fleet = calmFleet();
  fleet.putAccount(account('acme', changes));
  const rows = [...(await read(fleet)).matchAll(/<small>acme(.*?)<\/small>/g)].map(([, found]) => found);
  expect(new Set(rows)).toEqual(new Set([words === '' ? '' : ` · <b class="bad">${words}</b>`]));
  const body = await read(fleet, '/mailboxes/acme/m1');
  expect(body).toContain(said);
  expect(body.includes('<p class="advice">Nothing to do.</p>')).toBe(words === '');
});

it('an account says whether its key may write, as far as that is known', async (fleet) => {
  const said = async (keyWrites: boolean | null) => {
    fleet.putAccount(account('acme', { keyWrites }));
    return await read(fleet);
  };
  expect(await said(null)).toContain('is not known yet: the first action shows it');
  expect(await said(true)).not.toContain('is not known yet');
  expect(await said(false)).toContain('The API key is read-only, NO ACTION on breaches');
  const wrote = action('a1', mailbox('m1', 'box1@acme.example'), { settledAt: now - 2 * hourMs });
  fleet.putAction(wrote);
  expect(await said(null)).toMatch(
    /Warmwarden last changed a mailbox of this account <time[^>]*>2\s+h ago<\/time>\. The next action/,
  );
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

  test('is filtered by words and by state, and keeps the words in the form', async () => {
    const words = await read(exampleFleet(), '/?q=NORTHWIND+team');
    expect(words).toContain('>team<wbr>');
    expect(words).not.toContain('>new<wbr>');
    expect(words).toContain('value="NORTHWIND team"');
    const state = await read(exampleFleet(), '/?state=recovering');
    expect(state).toContain('>hello<wbr>');
    expect(state).not.toContain('>box5<wbr>');
    expect(await read(exampleFleet(), '/?q=nobody')).toContain('No mailbox matches.');
    const shown = await read(exampleFleet(), '/?q=Paused+by+Warmwarden');
    expect(shown.split('<tr role="row" id="row-')).toHaveLength(2);
  });

  test('has pages of 50 rows, and a page beyond the end is the last', async () => {
    const fleet = fleetOf(230);
    const rowsOf = (body: string) => body.split('<tr role="row" id="row-').length - 1;
    expect(rowsOf(await read(fleet))).toBe(50);
    const last = await read(fleet, '/?page=99');
    expect(rowsOf(last)).toBe(30);
    expect(last).toContain('Page 5 of 5');
  });
});

describe('the fleet', () => {
  const tags: Tags = { ...noTags, all: () => ['vip'], of: ({ id }) => (id === 'm7' || id === 'm1' ? ['vip'] : []) };
  const tagged = () => Object.assign(exampleFleet(), { tags });
  const rowsOf = (body: string) => [...body.matchAll(/<tr role="row" id="row-\w+\/(\w+)"/g)].map(([, id]) => id);

  test('is narrowed to an account, a domain, a provider or a tag, and each keeps the others', async () => {
    const rows = async (query: string) => rowsOf(await read(tagged(), `/?${query}`));
    expect(await rows('account=northwind')).toEqual(['m4', 'm3']);
    expect(await rows('domain=northwind.example&state=near_limit')).toEqual(['m3']);
    expect(await rows('tag=vip')).toEqual(['m1', 'm7']);
    expect(await rows('provider=google&tag=vip&q=box')).toEqual(['m7']);
    const body = await read(tagged(), '/?tag=vip&sort=rate&q=box');
    expect(body).toContain('<option value="vip" selected>vip</option>');
    expect(body).toContain('href="/?q=box&amp;tag=vip&amp;sort=rate&amp;state=ok"');
  });

  test('says whether the rate limit of an account is enough, else what would be, and whether the API is slower', async () => {
    const mend = { requestsPerMinute: 40, statsMs: 20 * minuteMs, warmupMs: 30 * minuteMs };
    const shown = (fits: boolean) => {
      const fleet = calmFleet();
      fleet.putAccount(account('acme', { isSlow: !fits, forecast: forecast({ fits, mend: fits ? null : mend }) }));
      return read(fleet);
    };
    const body = await shown(true);
    expect(body).toMatch(/the oldest for 12\s+s\. The rate limit is enough for them\.<\/p>/);
    expect(body).not.toContain('429');
    const tight = await shown(false);
    expect(tight).not.toContain('enough for them');
    expect(tight).toContain('A key with 40 requests a minute would be enough');
    expect(tight).toContain('429 (too many requests)');
  });
});

const nasty = `<script>alert(1)</script>"'&\u202e\u0007@acme.example`;

it('S12: names that are markup stay text on every page', async (fleet) => {
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

describe('the page of a mailbox', () => {
  test('says the verdict, what to do, what was done and every decision', async () => {
    const span = { since: now - hourMs, until: now - minuteMs, count: 4, verdict: verdict({ bounced: 1 }) };
    const decisions = [{ ...span, firstSent: 190, firstDays: [], days: [] }];
    const entries = { entriesOf: async () => ({ decisions, actions: [], changes: [] }) };
    const body = await read(exampleFleet(), '/mailboxes/acme/m1', { entries });
    expect(body).toContain('Warmwarden paused the warm-up on 12 March 03:05 UTC. 9 bounces in 44 emails');
    expect(body).toContain('until a person resumes it');
    expect(body.replace(/<\/?time[^>]*>/g, '')).toContain(
      '4 answers, the first 60\u00a0min ago, the last 1\u00a0min ago',
    );
  });

  test('of nobody is a page for people and JSON for programs', async () => {
    await using server = await serve(calmFleet());
    const people = await ask(`${server.url}/mailboxes/acme/gone`, page);
    expect([people.status, people.headers['content-type']]).toEqual([404, 'text/html; charset=UTF-8']);
    const program = await ask(`${server.url}/api/explain?mailbox=gone`, page);
    expect([program.status, JSON.parse(program.body.toString())]).toMatchObject([404, { error: 'unknown_mailbox' }]);
  });

  test('shows the newest decisions, and leads to the earlier ones and back', async () => {
    const asked: number[] = [];
    const span = { count: 1, firstSent: 0, firstDays: [], days: [], verdict: verdict() };
    const one = (since: number) => ({ since, until: since, ...span });
    const entriesOf = async (_of: unknown, until: number, limit: number) => {
      asked.push(until);
      return {
        decisions: Array.from({ length: limit }, (_, index) => one(until - index * minuteMs)),
        actions: [],
        changes: [],
      };
    };
    const body = await read(exampleFleet(), '/mailboxes/acme/m1', { entries: { entriesOf } });
    const end = now - 49 * minuteMs - 1;
    expect(body).toContain(`href="/mailboxes/acme/m1?until=${end}#decisions"`);
    expect(body).not.toContain('href="/mailboxes/acme/m1#decisions"');
    const earlier = await read(exampleFleet(), `/mailboxes/acme/m1?until=${end}`, { entries: { entriesOf } });
    expect(asked).toEqual([now, now, end]);
    expect(earlier).toContain(`href="/mailboxes/acme/m1?until=${end - 49 * minuteMs - 1}#decisions"`);
    expect(earlier).toContain('href="/mailboxes/acme/m1#decisions"');
    await using server = await serve(exampleFleet());
    expect((await ask(`${server.url}/mailboxes/acme/m1?until=x`, page)).status).toBe(400);
  });

  test('of days before a switch shows the limit of their beginning, not that of the new mode', async () => {
    const day = (date: string) => Date.parse(`${date}T10:00Z`);
    const span = { until: now, count: 1, firstSent: 0, firstDays: [], days: [] };
    const decisions = [
      { since: day('2026-03-11'), ...span, verdict: verdict({ mode: 'recovery', limitPpm: 3_000 }) },
      { since: day('2026-03-10'), ...span, verdict: verdict({ limitPpm: 10_000 }) },
    ];
    const fleet = exampleFleet();
    const m1 = fleet.mailbox('acme', 'm1');
    const evidence = { from: '2026-03-12', before: null } as const;
    if (m1) fleet.putMailbox({ ...m1, memory: m1.memory && { ...m1.memory, evidence } });
    const entriesOf = async () => ({ decisions, actions: [], changes: [] });
    const body = await read(fleet, '/mailboxes/acme/m1', { entries: { entriesOf } });
    expect(body).toMatch(/2026-03-11: [^<]* the limit was 1%/);
    expect(body).toMatch(/2026-03-10: [^<]* the limit was 1%/);
    expect(body).not.toMatch(/2026-03-09: [^<]* the limit was/);
  });

  test('stands although the store does not answer, without telling strangers why', async () => {
    const broken = () => Promise.reject(new Error('secret path /var/lib'));
    const silent = { entries: { entriesOf: broken }, deliveries: broken, transitions: broken };
    await using server = await serve(exampleFleet(), silent);
    for (const [path, sentence] of [
      ['/alerts', 'Warmwarden cannot read the list of messages'],
      ['/alerts', 'Warmwarden cannot read past alerts at the moment.'],
      ['/mailboxes/acme/m1', 'Warmwarden cannot read the decisions at the moment'],
    ]) {
      const answer = await ask(`${server.url}${path}`, page);
      expect(answer.status).toBe(200);
      expect(answer.body.toString()).toContain(sentence);
      expect(answer.body.toString()).not.toMatch(/secret|no messages yet/);
    }
    const program = await ask(`${server.url}/api/deliveries`);
    expect(program.status).toBe(500);
    expect(program.body.toString()).not.toContain('secret');
  });
});

test('of 200 accounts it lists those in trouble and counts the others, and every view of a large fleet stays small', async () => {
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
  fleet.putAccount(account('client-150'));
  for (let index = 0; index < 30; index += 1)
    fleet.putAccount(account(`client-${index}`, { failingSince: now - minuteMs }));
  const ill = await read(fleet);
  expect(ill).toContain('192 more accounts, 22 of them with problems');
  expect(ill).toContain('client-4 and 25 more');
  for (const [index, { account: of, id, email }] of [...fleet.mailboxes()].entries()) {
    fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', account: of, mailboxId: id, email }));
    const match = { mailbox: [email] };
    if (index < 50)
      fleet.putSilence({ id, match, by: 'ann', reason: 'moving', from: now - hourMs, until: now + hourMs });
  }
  fleet.tags = { ...noTags, of: ({ id }) => [`tag${Number(id.slice(1).split('-')[0])}`] };
  const views = [
    '/',
    '/?sort=rate&page=7',
    '/groups',
    '/groups?by=domain',
    '/groups?by=tag',
    '/alerts',
    '/alerts?page=9',
  ];
  for (const path of [...views, '/silences', '/mailboxes/client-0/m0-0'])
    expect([path, Buffer.byteLength(await read(fleet, path)) < 150 * 1024]).toEqual([path, true]);
});
