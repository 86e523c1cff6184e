// What a client's channel reads of an alert that concerns others, too: its own part, a count of the rest, and no name. What switched
// protection off: test/scenario/clients.test.ts.
import { expect, test } from 'vitest';
import { alertFor, messageFor } from '../../src/alerts/client-part.ts';
import { messageOf } from '../../src/alerts/grouping.ts';
import { withTags } from '../../src/alerts/notifications.ts';
import { type AlertRoute, audienceIn, audienceOf, channelsFor } from '../../src/alerts/routing.ts';
import { accountConditions, mailboxListShort } from '../../src/alerts/rules/account-rules.ts';
import { guardHeld } from '../../src/alerts/rules/breaker-rule.ts';
import { type Alert, fingerprintOf } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { domainOf } from '../../src/core/mailbox.ts';
import { hourMs } from '../../src/core/time.ts';
import { account } from '../web/example-fleet.ts';
import { sampleAlert, sampleMailbox, start, withDns } from './samples.ts';

const api = 'https://api.example';
const words = { zone: 'UTC', now: start };
const mailbox = (of: string, number: number) => ({
  account: of,
  id: `${of}-${number}`,
  email: `bob${number}@${of}.example`,
});
const held = [mailbox('alpha', 0), mailbox('alpha', 1), mailbox('beta', 0), mailbox('gamma', 0)];
const breaker = {
  ...closedBreaker,
  openSince: start,
  entries: held.map(({ account: of, id, email }) => ({
    ...{
      key: `${of}/${id}`,
      account: of,
      email,
      domain: `${of}.example`,
      at: start,
      held: true,
      firstSight: false,
      weight: 1,
    },
  })),
};

function fleetOf(...accounts: readonly string[]): Fleet {
  const fleet = new Fleet();
  for (const name of accounts) fleet.putAccount(account(name));
  for (const one of held) if (accounts.includes(one.account)) fleet.putMailbox({ ...sampleMailbox(), ...entry(one) });
  fleet.putBreaker(api, breaker);
  return fleet;
}
const entry = ({ account: of, id, email }: (typeof held)[number]) => {
  const sample = sampleMailbox();
  return { account: of, id, email, entry: { ...sample.entry, answer: { ...sample.entry.answer, id, email } } };
};

const routes: readonly AlertRoute[] = [
  { match: { account: ['alpha'] }, channels: ['alpha'] },
  { match: { account: ['beta'] }, channels: ['beta'] },
  { match: { mailbox: ['bob0@beta.example'] }, channels: ['bob'] },
];
const context = { ...words, routes, fleet: fleetOf('alpha', 'beta', 'gamma') };

const alertOf = ({ subject, severity, facts }: ReturnType<typeof guardHeld>): Alert => {
  const times = { status: 'firing', since: start, firingAt: start, resolvedAt: null, firesAt: null, seen: 1 } as const;
  return { ...subject, fingerprint: fingerprintOf(subject), severity, facts, ...times };
};
const hold = alertOf(
  guardHeld(breaker, { api, alert: undefined, windowMs: hourMs, verdictOf: () => undefined, ...words }),
);

test('of a hold a channel gets its own mailboxes by name, and a count of the others', () => {
  const { title, sentences, numbers, accounts } = alertFor('alpha', hold, context).facts;
  expect(title).toBe('alpha (api.example): NO ACTION on 2 mailboxes: decide by 20 March 11:02 UTC');
  expect(sentences[1]).toBe('Held: bob0@alpha.example, bob1@alpha.example, and 2 mailboxes of others.');
  expect(sentences[5]).toMatch(/breaker apply api\.example. .* 2 .* 2 mailboxes of others\.$/);
  expect(sentences[6]).toMatch(/breaker discard api\.example. .* these 2, and of 2 mailboxes of others:/);
  expect([numbers['held'], numbers['accounts'], accounts]).toEqual([2, 'alpha', ['alpha']]);
  expect(JSON.stringify(alertFor('bob', hold, context))).not.toMatch(/alpha|gamma/);
  expect(alertFor('ops', hold, context)).toBe(hold);
});

test('a hold behind a key that clients share goes to the channels of those with a held mailbox', () => {
  const fleet = fleetOf('alpha', 'beta', 'gamma');
  const client = ({ email }: { readonly email: string }) => [`client=${domainOf(email)}`];
  fleet.tags = { all: () => [], of: client, ofAccount: () => [], choicesOf: () => [] };
  const tagged = ['alpha', 'delta'].map((name) => ({ match: { tag: [`client=${name}.example`] }, channels: [name] }));
  const channels = ['alpha', 'delta', 'ops'].map((name) => ({ name, type: 'slack' }));
  const all = [...tagged, { match: {}, channels: ['ops'] }];
  expect(channelsFor(hold, { routes: all, channels, fleet, now: start })).toEqual(['alpha', 'ops']);
});

/** All clients in one account, told apart by the tags of its overrides. */
function agencyOf(accountTag: string): Fleet {
  const fleet = new Fleet();
  fleet.putAccount(account('agency'));
  for (const one of held) fleet.putMailbox({ ...sampleMailbox(), ...entry({ ...one, account: 'agency' }) });
  fleet.tags = {
    all: () => [],
    of: ({ email }) => [`client=${domainOf(email).split('.')[0]}`],
    ofAccount: () => [accountTag],
    choicesOf: () => [['client=alpha', 'client=beta', 'client=gamma']],
  };
  return fleet;
}

test('a shared key that guards nobody is told to each client behind it, without words about others', () => {
  const fleet = agencyOf('client=gamma');
  const routesNow = ['alpha', 'beta', 'delta'].map((name) => ({
    match: { tag: [`client=${name}`], severity: ['critical' as const] },
    channels: [name],
  }));
  const channelsNow = [...routesNow.map(({ channels: [name = ''] }) => name), 'ops'].map((name) => ({
    name,
    type: 'slack',
  }));
  const all = [...routesNow, { match: {}, channels: ['ops'] }];
  const facing = { ...context, fleet, routes: all };
  const state = account('agency', { rejections: 2, keyWrites: false, lastFailure: '401: the key of beta is gone' });
  const to = (alert: Alert) => channelsFor(alert, { routes: all, channels: channelsNow, fleet, now: start });
  const causes = accountConditions(state, start, 'UTC').filter(({ active }) => active === true);
  const alerts = causes.map(alertOf).filter(({ rule }) => rule === 'not_guarded');
  expect(alerts.map(({ object }) => object)).toEqual(['key rejected', 'key read-only']);
  for (const alert of alerts) {
    expect(to(alert)).toEqual(['alpha', 'beta', 'ops']);
    const { title, sentences, withheld, tags } = withTags(alertFor('alpha', alert, facing), fleet).facts;
    expect([title, withheld, tags]).toEqual([alert.facts.title, undefined, []]);
    expect(sentences).toEqual(['It concerns all mailboxes of the account. Ask the people who run Warmwarden.']);
  }
  const [dead] = alerts;
  const withoutOps = { routes: routesNow, channels: channelsNow, fleet, now: start };
  expect(dead && channelsFor(dead, withoutOps)).toEqual(['alpha', 'beta', 'ops']);
  const [missing] = fleet.mailboxesOf('agency');
  const short = alertOf(mailboxListShort('agency', { listed: 3, missing: missing ? [missing] : [], truncated: false }));
  expect(to(short)).toEqual(['ops']);
});

test('the end of a hold is the same alert as its beginning, without names of others', () => {
  const fleet = fleetOf('alpha', 'beta', 'gamma');
  fleet.putBreaker(api, closedBreaker);
  const calm = guardHeld(closedBreaker, { api, alert: hold, windowMs: hourMs, verdictOf: () => undefined, ...words });
  expect(calm.facts.title).toBe('alpha, beta and gamma (api.example): the circuit breaker holds no action any more');
  const ended: Alert = { ...alertOf(calm), status: 'resolved', resolvedAt: start };
  const message = messageOf('hold', [{ kind: 'resolved', at: start, alert: ended }], start);
  const shown = message && messageFor('alpha', message, { ...context, fleet }).transitions[0]?.alert;
  expect([shown?.fingerprint, shown?.facts.title]).toEqual([
    hold.fingerprint,
    'api.example: the circuit breaker holds no action any more',
  ]);
  expect(JSON.stringify(shown)).not.toMatch(/beta|gamma/);
});

const byTag = ['alpha', 'beta'].map((name) => ({ match: { tag: [`client=${name}`] }, channels: [name] }));
const agency = agencyOf('client=alpha');
const ofAgency = { ...context, fleet: agency, routes: byTag };

test.each([
  ['its mailbox', { mailboxId: 'alpha-0', email: 'bob0@alpha.example' }, 'told'],
  ["another client's mailbox", { mailboxId: 'beta-0', email: 'bob0@beta.example' }, 'other'],
  ['its domain', { mailboxId: null, email: null, object: 'alpha.example' }, 'told'],
  ["another client's domain", { mailboxId: null, email: null, object: 'beta.example' }, 'other'],
  ['an account with its tag and mailboxes of others', { mailboxId: null, email: null, object: 'api down' }, 'part'],
])("by a tag, a client's channel is told of %s as it may be", (_, change, expected) => {
  const facts = { title: 'about beta', sentences: ['beta'], numbers: {} };
  const alert = sampleAlert(1, { account: 'agency', facts, ...change });
  const { title, sentences } = alertFor('alpha', alert, ofAgency).facts;
  expect(title === 'about beta' ? 'told' : sentences[0]?.includes('account agency') ? 'part' : 'other').toBe(expected);
});

test.each(['acme.example', '192.0.2.1', '2001:db8::1'])(
  '%s: whose answers name it decides who is told of it',
  (object) => {
    const fleet = new Fleet();
    fleet.tags = agency.tags;
    const sending = (one: (typeof held)[number]) => {
      const said = { checkedAt: null, listed: true, lists: [], found: 1, checked: 40 };
      const answer = { ...said, domain: 'x.example', ip: object };
      fleet.putMailbox({
        ...sampleMailbox({ dns: withDns({}).dns, blacklist: { at: start, answer } }),
        ...entry({ ...one, account: 'agency' }),
      });
    };
    const concerns = (numbers: Alert['facts']['numbers'] = {}) => {
      const change = { account: 'agency', mailboxId: null, email: null, object };
      const alert = sampleAlert(1, { ...change, facts: { title: '', sentences: [], numbers } });
      return ['alpha', 'beta', 'gamma'].map((name) =>
        audienceIn([{ tag: [`client=${name}`] }], fleet).concernOf(alert),
      );
    };
    sending(mailbox('alpha', 0));
    expect(concerns()).toEqual(['all', 'none', 'none']);
    expect(concerns({ seen_with: 'bob0@beta.example' })).toEqual(['part', 'part', 'none']);
    sending(mailbox('beta', 0));
    expect(concerns({ seen_with: 'bob0@alpha.example' })).toEqual(['part', 'part', 'none']);
    const alert = sampleAlert(1, { account: 'agency', mailboxId: null, email: null, object });
    expect(audienceIn([{ domain: [object, 'alpha.example'] }], fleet).concernOf(alert)).toBe('part');
  },
);

test('an account whose overrides give other tags is not all of one client, whoever is in the fleet', () => {
  const fleet = fleetOf('alpha');
  const seesAll = (values: readonly string[]) => {
    fleet.tags = { ...agency.tags, choicesOf: () => [values] };
    return byTag.map(({ channels: [name = ''] }) => audienceOf(name, byTag, fleet).seesAll('alpha'));
  };
  expect(seesAll(['client=alpha'])).toEqual([true, false]);
  expect(seesAll(['client=alpha', 'client=beta'])).toEqual([false, false]);
  expect(audienceOf('both', [{ match: { tag: ['client=*'] }, channels: ['both'] }], fleet).seesAll('alpha')).toBe(true);
});

test("a client's channel by provider names the mailboxes of that provider alone", () => {
  const fleet = fleetOf('alpha');
  const [one] = fleet.mailboxesOf('alpha');
  if (one) fleet.putMailbox({ ...one, entry: { ...one.entry, answer: { ...one.entry.answer, provider: 'google' } } });
  const audience = audienceOf('g', [{ match: { provider: ['google'] }, channels: ['g'] }], fleet);
  expect([audience.isClient(), ...[...fleet.mailboxes()].map(audience.sees)]).toEqual([true, true, false]);
});

test('a channel whose routes name every account is told of everything', () => {
  const alert = sampleAlert(1, { rule: 'config_wrong', account: '', mailboxId: null, email: null, object: 'reload' });
  const fleet = fleetOf('alpha');
  expect(alertFor('alpha', alert, { ...context, fleet })).toBe(alert);
  expect(alertFor('alpha', alert, context).facts.withheld).toBe(true);
});
