// The ranking that all pages share: whatever changed, it is what a ranking made from nothing would be.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { FirstOf } from '../../src/web/overview/first-of.ts';
import { worstFirst } from '../../src/web/overview/fleet-view.ts';
import { Ranking } from '../../src/web/overview/ranking.ts';
import { chanceFrom } from '../soak/chance.ts';
import { alert, bareMailbox, mailbox, now, verdict } from './example-fleet.ts';

const near = verdict({ bounced: 2, sent: 250, bouncesUntilBreach: 1 });
const held = verdict({ action: 'hold', reason: 'circuit_breaker', wanted: 'pause', bounced: 9 });
const awaiting = verdict({ action: 'recovery', reason: 'bounce_rate_over_limit', bounced: 9 });
const spf = { status: 'fail', pass: false, record: null };
const rounds = 400;

test('after any change, the next look finds what a ranking made anew finds', async () => {
  const chance = chanceFrom(7);
  const below = (end: number) => Math.floor(chance.below(end));
  const fleet = new Fleet();
  let limits = { nearLimitPpm: 800_000, enforce: true };
  const policyOf = (_mailbox: MailboxState) => limits;
  const box = (index: number) => {
    const [id, email, account] = [`m${index}`, `box${index}@domain${index % 3}.example`, `client-${index % 4}`];
    const plain = mailbox(id, email, { account, firstSeenAt: now - below(1_000) });
    const provider = chance.pick([null, 'google', 'microsoft', 'other']);
    const made = { ...plain, entry: { ...plain.entry, answer: { ...plain.entry.answer, provider } } };
    const dns = made.dns && {
      ...made.dns,
      answer: { ...made.dns.answer, records: { ...made.dns.answer.records, spf } },
    };
    return chance.pick([
      made,
      bareMailbox(id, email, account),
      { ...made, verdict: { at: now, answer: chance.pick([near, held, awaiting]) } },
      { ...made, dns },
    ]);
  };
  const someAlert = () => {
    const account = `client-${below(4)}`;
    const about = chance.pick([
      { rule: 'stale_data', mailboxId: `m${below(30)}` },
      { rule: 'dns_failing', object: `domain${below(3)}.example` },
      { rule: 'budget_too_small' },
    ] as const);
    return alert({ ...about, account, status: chance.pick(['pending', 'firing', 'firing', 'resolved']) });
  };
  let at = now;
  const silence = () => {
    const match = { rule: [chance.pick(['stale_data', 'dns_*', 'budget_too_small'])] };
    return { id: `s${below(3)}`, match, by: 'ann', reason: 'known', from: at, until: at + 1 + below(20) };
  };
  const changes = [
    () => fleet.putSilence(silence()),
    () => {
      at += below(10);
      fleet.putMailbox(box(below(30)));
    },
    () => fleet.putMailbox(box(below(30))),
    () => fleet.putMailbox(box(below(30))),
    () => fleet.removeMailbox(`client-${below(4)}`, `m${below(30)}`),
    () => fleet.putAlert(someAlert()),
    () => fleet.putAlert(someAlert()),
    () => fleet.removeAlert(someAlert().fingerprint),
    () => {
      limits = { nearLimitPpm: 500_000 + 100_000 * below(5), enforce: chance.pick([true, false]) };
    },
  ];
  const clock = { now: () => at };
  const ranking = new Ranking({ fleet, clock }, policyOf, () => limits);
  let ranked = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (let more = below(3); more >= 0; more -= 1) chance.pick(changes)();
    const found = await ranking.read();
    const anew = await new Ranking({ fleet, clock }, policyOf, () => limits).read();
    expect(found).toEqual(anew);
    expect(found.firing.groups).toEqual(anew.firing.groups);
    ranked += found.ranked.filter(({ alerts }) => alerts.length > 0).length;
  }
  expect(ranked).toBeGreaterThan(rounds);
});

test('the first of many are those that sorting all of them would find, with what was put in counted', () => {
  const chance = chanceFrom(3);
  const below = (end: number) => Math.floor(chance.below(end));
  for (let round = 0; round < 200; round += 1) {
    const all = Array.from({ length: below(40) }, () => below(20));
    const [count, skipped] = [1 + below(15), below(10)];
    const first = new FirstOf<number>((a, b) => a - b, count);
    for (const one of all) first.put(one);
    expect(first.total).toBe(all.length);
    expect(first.take(skipped)).toEqual(all.toSorted((a, b) => a - b).slice(skipped, count));
  }
});

test('an alert that a person silenced does not raise its mailbox, until the silence ends', async () => {
  const fleet = new Fleet();
  fleet.putMailbox(mailbox('m1', 'silenced@one.example'));
  fleet.putMailbox({ ...mailbox('m2', 'held@one.example'), verdict: { at: now, answer: held } });
  fleet.putAlert(alert({ rule: 'mailbox_unwell', mailboxId: 'm1', severity: 'critical', status: 'firing' }));
  let at = now;
  const limits = { nearLimitPpm: 800_000, enforce: true };
  const ranking = new Ranking(
    { fleet, clock: { now: () => at } },
    () => limits,
    () => limits,
  );
  const order = async () => (await ranking.read()).ranked.toSorted(worstFirst).map((one) => one.mailbox.id);
  expect(await order()).toEqual(['m1', 'm2']);
  const match = { rule: ['mailbox_unwell'] };
  fleet.putSilence({ id: 's1', match, by: 'ann', reason: 'known', from: now, until: now + 1_000 });
  expect(await order()).toEqual(['m2', 'm1']);
  at += 1_000;
  fleet.putMailbox(mailbox('m3', 'other@one.example'));
  expect(await order()).toEqual(['m1', 'm2', 'm3']);
});
