// One incident is one message that leads with its cause, one more when it gets worse, and one when it ends.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { graveAlerts } from '../../src/alerts/incidents.ts';
import { traitOf } from '../../src/alerts/shared-cause.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import { accountOfKey, domainOf, idOfKey } from '../../src/core/mailbox.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { acted, invalid, policyBlock } from '../alerts/incident-samples.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { agency, collectorRig, midnight, type Rig, type Sent } from './collector-rig.ts';
import { domainDown, notActed, providerBlock, twoCauses, waves } from './days.ts';

const itsBeginning = providerBlock.trim().split('\n').slice(0, 6).join('\n');
const api = 'https://api.example/';
const ofIncidents = ({ sent }: Rig) => sent.filter(({ message }) => message.incident !== null);
function mailboxOf(at: Rig, id: string, account = 'acme') {
  const mailbox = at.fleet.mailbox(account, id);
  if (!mailbox) throw new Error(`the fleet has no ${id}`);
  return mailbox;
}
const stepOf = ({ message: { incident } }: Sent) =>
  `${incident?.step} ${incident?.cause.value} ${incident?.memberCount}`;

test('a provider that rejects emails of 16 mailboxes: it begins, it grows once, it ends, and that is all', async () => {
  const at = await lived(providerBlock, 2 * dayMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5', 'grew google 16', 'ended google 16']);
  const [began, grew, ended] = ofIncidents(at);
  expect([began, grew, ended].map((one) => one?.title.replace(/ (since|over) .*/, ''))).toEqual([
    'Critical: Provider google: 5 mailboxes on 5 domains',
    'Worse, critical: Provider google: 16 mailboxes on 5 domains',
    'Resolved: Provider google: 16 mailboxes on 5 domains',
  ]);
  // The words: docs/messages.md.
  const numbers = began?.message.incident?.sentences.map((text) => text.match(/\d+/g)?.map(Number) ?? []);
  expect(numbers).toEqual([[5, 24, 5], [4], [1], [1], [], [], [4]]);
  expect(began?.message.incident?.worst[0]?.line).toMatch(/^acme\/box0@g3\.example: 4 bounces in 260 emails/);
  expect(new Set(ofIncidents(at).map(({ message }) => message.incident?.id)).size).toBe(1);
  // What was told before three of them showed that it is one, and what is not of it.
  const others = at.sent.filter(({ message }) => message.incident === null);
  expect(others.map(({ alerts }) => alerts.join())).toEqual(['event g0-0', 'event m0-0']);
});

test('mailboxes with other bounces that Warmwarden switched on the same day are counted beside the incident', async () => {
  const at = await lived(`\n09:30 recovery g3-4 invalid\n09:31 recovery g4-3 invalid${providerBlock}`, 12 * hourMs);
  const [began] = ofIncidents(at);
  const [common = ''] = began?.message.incident?.sentences ?? [];
  expect(common.match(/\d+/g)?.map(Number)).toEqual([5, 24, 2, 5]);
});

test("one domain's DNS and the bounces that follow: at most three messages, and the end is the last", async () => {
  const at = await lived(domainDown, 2 * dayMs);
  expect(at.sent.map(({ title }) => title.replace(/ since .*/, ''))).toEqual([
    'Critical: x.example: DKIM does not pass',
    'Warning: box0@x.example: recovery',
    'Warning: box1@x.example: recovery',
    'Critical: x.example: 3 mailboxes over their bounce limits',
    'Resolved: x.example: 4 mailboxes over their bounce limits',
  ]);
  const [began, ended] = ofIncidents(at).map(({ message }) => message);
  expect(began?.incident?.sentences).toContain('x.example: DKIM does not pass.');
  const kinds = ended?.transitions.map(({ kind, alert }) => `${kind} ${alert.rule}`);
  expect(kinds).toEqual(['event guard_acted', 'firing reputation_low', 'resolved dns_failing']);
  // It was told before the incident: who keeps it open under its own name is told of its end.
  expect(ended?.transitions.filter(({ alone }) => alone).map(({ alert }) => alert.rule)).toEqual(['dns_failing']);
});

test("a domain's counts that stay over its limits for a week are named at the end, also to a process that comes later", async () => {
  const at = await lived(domainDown.replace('11:10', '10:40 domain x.example\n11:10'), 2 * dayMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began x.example 3', 'ended x.example 4']);
  expect(at.sent.at(-1)?.message.incident?.sentences).toContain(
    'Still firing: bounces of many mailboxes (1) and reputation low (1). You get no message when this ends.',
  );
  const before = at.sent.length;
  at.restart();
  await at.play('10:00 domainok x.example', midnight + 8 * dayMs);
  await at.run(hourMs);
  expect(at.sent.slice(before)).toEqual([]);
  // What begins after that is news again, and so is its end.
  await at.play('12:00 domain x.example\n14:00 domainok x.example', midnight + 8 * dayMs);
  await at.run(hourMs);
  expect(at.sent.slice(before).map(({ message }) => message.kind)).toEqual(['firing', 'resolved']);
});

test('a domain over its limits is named in the incident whose bounces it shows, also where none of its mailboxes is over a limit', async () => {
  const at = collectorRig();
  await at.play('09:40 recovery g0-0,g1-0,g2-0\n10:00 recovery g3-0');
  for (const [id, bounce] of Object.entries({ 'g4-0': policyBlock, 'x-0': invalid })) {
    const mailbox = mailboxOf(at, id);
    at.put({ ...mailbox, warmup: acted(mailbox, at.now(), 'recovery', bounce).mailbox.warmup });
  }
  const before = at.sent.length;
  await at.play('10:10 domain g4.example\n10:10 domain x.example');
  await at.run(2 * hourMs);
  const told = at.sent.slice(before).flatMap(({ message }) => message.transitions);
  expect(told.map(({ alert }) => alert.facts.title)).toEqual(['x.example: bounces over the limits of its mailboxes']);
  await at.run(dayMs);
  expect(ofIncidents(at).at(-1)?.message.incident?.sentences).toContain(
    'Still firing: bounces of many mailboxes (1). You get no message when this ends.',
  );
});

/** Plays a day and so long after it. */
async function lived(day: string, afterMs: number) {
  const at = collectorRig();
  await at.play(day);
  await at.run(afterMs);
  return at;
}

test('growth in waves: a domain, then others of its provider, which grow once, and people hear of the rest at the end', async () => {
  const at = await lived(waves, 2 * dayMs);
  expect(ofIncidents(at).map(stepOf)).toEqual([
    'began g0.example 3',
    'began google 6',
    'grew google 9',
    'ended g0.example 3',
    'ended google 11',
  ]);
});

test('it ends a day after nothing of it goes on, and not before', async () => {
  const at = await lived(notActed, 23 * hourMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5']);
  await at.run(2 * hourMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5', 'ended google 5']);
  const ended = at.sent.at(-1)?.message;
  expect(ended?.transitions.map(({ kind, alert }) => `${kind} ${alert.rule}`)).toEqual(
    Array.from({ length: 5 }, () => 'resolved bounce_over_limit'),
  );
  expect(at.sent.filter(({ message }) => message.kind === 'reminder')).toEqual([]);
});

test('nobody is reminded of symptoms, also after their incident, whose end names them: theirs is for machines only', async () => {
  const repeatIntervalMs = { critical: 4 * hourMs, warning: dayMs, info: null };
  const at = collectorRig({ names: ['ops', 'machine'], settings: { repeatIntervalMs } });
  await at.play(providerBlock);
  await at.run(5 * dayMs);
  expect(at.sent.filter(({ message }) => message.kind === 'reminder')).toEqual([]);
  const ended = at.sent.at(-1)?.message.incident;
  expect(ended?.step).toBe('ended');
  expect(ended?.sentences).toContain(
    'Still firing: bounces near the limit (1) and reputation low (4). You get no message when this ends.',
  );
  const before = at.sent.length;
  await at.play('23:00 ends g0-0');
  await at.run(hourMs);
  expect(at.sent.slice(before)).toMatchObject([
    { channel: 'machine', message: { kind: 'resolved', rule: 'reputation_low', incident: null } },
  ]);
});

test("an incident lasts as long as its domain's DNS fails", async () => {
  const at = await lived(domainDown.trim().split('\n').slice(0, -1).join('\n'), 3 * dayMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began x.example 3']);
  await at.play('16:00 dnsok x.example');
  await at.run(hourMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began x.example 3', 'ended x.example 4']);
});

/** The guard acts on four mailboxes of each account, and people are notified. */
async function bothAct(at: Rig) {
  for (const account of ['acme', 'other']) {
    for (const id of ['g0-0', 'g1-0', 'g2-0', 'g3-0']) {
      const after = acted(mailboxOf(at, id, account), at.now());
      at.put(after.mailbox);
      at.commit(after.event);
    }
  }
  await at.run(10 * minuteMs);
}

test.each([
  ['accounts', (client: string) => ({ account: [client] }), ['acme', 'other']],
  ['domains', (client: string) => ({ domain: [client === 'acme' ? 'g0.example' : 'g1.example'] }), ['acme', 'acme']],
] as const)(
  'clients by %s: one whose first mailbox is held after the one update reads its name',
  async (_, match, accounts) => {
    const clients = ['acme', 'other'];
    const mailboxes = [...agency(), ...agency('other')];
    const routes = clients.map((client) => ({ match: match(client), channels: [client] }));
    const at = collectorRig({ mailboxes, names: clients, settings: { routes } });
    await bothAct(at);
    const holds = (numbers: readonly number[]) => {
      const keys = numbers.map((number) => `${accounts[number]}/g${number}-0`);
      hold(at, keys);
      const alert = held(keys);
      return { ...alert, facts: { ...alert.facts, accounts: [...new Set(numbers.map((one) => accounts[one] ?? ''))] } };
    };
    at.fire(holds([0]));
    await at.run(hourMs);
    expect(at.fleet.incidents()[0]?.announced).toMatchObject({ updated: true, channels: clients });
    expect(JSON.stringify(at.sent.filter(({ channel }) => channel === 'other'))).not.toContain('guard_held');
    at.fleet.putAlert(holds([0, 1]));
    const after = await at.run(10 * minuteMs);
    const ofOther = after.filter(({ channel }) => channel === 'other');
    expect(ofOther).toMatchObject([{ kind: 'firing', rule: 'guard_held' }]);
    expect(ofOther[0]?.message.transitions[0]?.alert.facts.sentences.join(' ')).toMatch(/Held: box0@g1\.example/);
    await at.run(hourMs);
    expect(at.sent.filter(({ rule, channel }) => rule === 'guard_held' && channel === 'other')).toHaveLength(1);
  },
);

test('a mailbox in its first hour belongs to no incident: what is found need not have begun', async () => {
  const mailboxes = agency().map((mailbox) => ({ ...mailbox, firstSeenAt: midnight + 9.5 * hourMs }));
  const at = collectorRig({ mailboxes });
  await at.play(twoCauses);
  await at.run(hourMs);
  expect(at.fleet.incidents()).toEqual([]);
});

const timeOf = (minute: number) => new Date(minute * minuteMs).toISOString().slice(11, 16);
const moments = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 40 }),
    what: fc.constantFrom('recovery', 'pause', 'over', 'score', 'near', 'inbox'),
    whom: fc.constantFrom(...agency().map(({ id }) => id)),
    more: fc.constantFrom('', 'invalid'),
  }),
  { maxLength: 30 },
);

test('whatever happens: every step is in exactly one message, and no incident mixes causes', async () => {
  await fc.assert(
    fc.asyncProperty(moments, async (happenings) => {
      const at = collectorRig({ settings: { routes: [{ match: {}, channels: ['ops'] }] } });
      const made: string[] = [];
      const { commit } = at.store;
      at.store.commit = (transitions) => {
        made.push(...transitions.map(({ alert }) => alert.fingerprint));
        commit(transitions);
      };
      let minute = 60;
      const fired = new Set<string>();
      for (const { after, what, whom, more } of happenings) {
        minute += after;
        // An alert that fires does not fire again, and an action is confirmed once.
        const isEvent = what === 'recovery' || what === 'pause';
        const once = `${what} ${whom} ${isEvent ? minute : ''}`;
        if (fired.has(once)) continue;
        fired.add(once);
        await at.play(`${timeOf(minute)} ${what} ${whom} ${more}`);
      }
      await at.play('23:00 ends g0-0');
      for (const { id } of agency()) await at.play(`23:00 ends ${id}`);
      await at.run(3 * dayMs);
      expect(at.store.unnotified()).toBe(0);
      expect(at.fleet.incidents().every(({ endedAt }) => endedAt !== null)).toBe(true);
      const told = at.sent.flatMap(({ message }) => message.transitions);
      const events = told.filter(({ kind }) => kind === 'event').map(({ alert }) => alert.fingerprint);
      expect(events.toSorted()).toEqual(made.filter((one) => one.startsWith('guard_acted')).toSorted());
      const firings = told.filter(({ kind, brief }) => kind === 'firing' || (kind === 'resolved' && brief));
      expect(new Set(firings.map(({ alert }) => alert.fingerprint)).size).toBe(firings.length);
      for (const { cause, kind, members } of at.fleet.incidents()) {
        for (const { account, mailboxId } of members) {
          expect(traitOf[cause.attribute](mailboxOf(at, mailboxId, account), () => 'https://api.example/')).toBe(
            cause.value,
          );
          expect(kind).not.toBeNull();
        }
        expect(at.sent.some(({ message }) => message.incident?.cause.value === cause.value)).toBe(true);
      }
      const byIncident = Map.groupBy(at.sent, ({ message }) => message.incident?.id ?? '');
      for (const [id, messages] of byIncident) if (id !== '') expect(messages.length).toBeLessThanOrEqual(3);
    }),
    { numRuns: 15 },
  );
});

const held = (mailboxes: readonly string[], emergencies = 0) => {
  const subject = { rule: 'guard_held', account: '', mailboxId: null, email: null, object: api } as const;
  const numbers = { held: mailboxes.length, emergencies };
  return sampleAlert(0, { ...subject, severity: 'critical', facts: { title: 'held', sentences: [], numbers } });
};

function hold(at: Rig, keys: readonly string[]): void {
  const entries = keys.map((key) => {
    const { account, email } = mailboxOf(at, idOfKey(key), accountOfKey(key));
    const seen = { at: at.now(), held: true, firstSight: false, weight: 1 };
    return { key, account, email, domain: domainOf(email), ...seen };
  });
  at.fleet.putBreaker(api, { openSince: at.now(), atFirstSight: false, entries, trickle: [], approved: [] });
}

test('a symptom that joins is no update by itself: what is held is, and emergencies in it are told apart, at once', async () => {
  const at = await lived(itsBeginning, 10 * minuteMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5']);
  const subject = { account: 'acme', mailboxId: null, email: null, object: 'g0.example' };
  at.fire(sampleAlert(0, { ...subject, rule: 'shared_bounces', firingAt: at.now() }));
  await at.run(10 * minuteMs);
  expect(ofIncidents(at)).toHaveLength(1);
  hold(at, ['acme/g0-0']);
  at.fire(held(['g0-0']));
  await at.run(2 * minuteMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5', 'grew google 5']);
  expect(ofIncidents(at)[1]?.alerts).toContain('firing guard_held');
  at.commit({ ...firing(held(['g0-0'], 1), at.now()), kind: 'worsened', urgent: true });
  expect(await at.run(minuteMs)).toMatchObject([{ kind: 'worsened', rule: 'guard_held', message: { incident: null } }]);
  // What it comes to hold of others is no part of it: people are reminded of all that is held.
  hold(at, ['acme/g0-0', 'acme/m0-0']);
  await at.run(4 * hourMs);
  expect(at.sent.at(-1)).toMatchObject({ kind: 'reminder', rule: 'guard_held', message: { incident: null } });
});

test('when nothing of an incident is held any more, people hear of it once, before its end', async () => {
  const at = await lived(itsBeginning, 10 * minuteMs);
  hold(at, ['acme/g0-0']);
  at.fire(held(['g0-0']));
  await at.run(10 * minuteMs);
  at.fleet.putBreaker(api, closedBreaker);
  at.end(held(['g0-0']));
  await at.run(hourMs);
  expect(ofIncidents(at).map(stepOf)).toEqual(['began google 5', 'grew google 5', 'eased google 5']);
  expect(ofIncidents(at)[2]?.title).toMatch(/^Still critical: Provider google/);
});

test('the first emergency that is held is sent after the group wait, however recent the message before; others share the next', async () => {
  const at = collectorRig();
  at.fire(held(['a']));
  expect(await at.run(minuteMs)).toHaveLength(1);
  const worse = (emergencies: number) => ({ ...firing(held(['a'], emergencies), at.now()), kind: 'worsened' as const });
  at.commit({ ...worse(1), urgent: true });
  expect(await at.run(minuteMs)).toHaveLength(1);
  for (const more of [2, 3, 4, 5]) {
    at.commit(worse(more));
    expect(await at.run(30 * secondMs)).toEqual([]);
  }
  expect(await at.run(5 * minuteMs)).toHaveLength(1);
});

test('an alert whose rule only another version has counts for nothing in an incident', () => {
  expect(graveAlerts({ alerts: ['of_tomorrow|acme||', 'dns_failing|acme||d1.example', 'reputation_low|acme||'] })).toBe(
    1,
  );
});

test('a page that was sent before an incident is closed while the incident lasts, and people hear of that end with the incident', async () => {
  const life = collectorRig({ names: ['ops', 'pager'] });
  await life.play('08:00 over g0-0\n09:00 recovery g0-1,g0-2,g0-3\n11:00 ends g0-0');
  const told = (await life.run(hourMs)).map(({ channel, alerts }) => [channel, ...alerts]);
  expect(told).toEqual([['pager', 'resolved g0-0']]);
});
