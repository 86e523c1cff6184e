// A fleet of 60 in three domains that jumps over the limit: at once, over two accounts, in one domain with an undo, at first sight.
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';
import { domains, poll, settled } from './three-domains.ts';

const sixty = Array.from({ length: 60 }, (_, number) => settled(number));

/** From 10 to 11 three or four of every five emails bounce: over the limit of 1 % on 210 emails, and no emergency. */
function jump(mailbox: string): Incident {
  return { kind: 'bounce', mailbox, rate: 0.75, from: 1.5 * hourMs, until: 2.5 * hourMs };
}

/** All but the news that it holds more: that the number doubled. */
const toldOfHold = (stage: MovedDaemon) => stage.notified('guard_held').filter((kind) => kind !== 'worsened');

function scenarioOf(fleet: readonly MailboxSpec[], incidents: readonly Incident[]) {
  return { name: 'jump', summary: 'Many mailboxes bounce at once.', fleet, incidents };
}

describe.concurrent('a fleet of 60 in three domains', () => {
  it('jumps at once: fewer than six are acted upon, one message, a tenth each 15 minutes later, a release for the rest', async () => {
    await using stage = await startMovedDaemon({ scenario: scenarioOf(sixty, [jump('*')]), poll });
    const held = () => stage.breaker().entries.filter((entry) => entry.held).length;
    await stage.until('the trip', () => stage.breaker().openSince !== null, 4 * hourMs);
    const openSince = stage.breaker().openSince ?? 0;
    await stage.run(50 * minuteMs);
    const first = stage.posts.length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(6);
    expect(held()).toBe(60 - first);
    expect(toldOfHold(stage)).toEqual(['firing']);
    expect(stage.notified('bounce_over_limit')).toEqual([]);
    const reasons = new Set([...stage.fleet().mailboxes()].map(({ verdict }) => verdict?.answer.reason));
    expect([...reasons].sort()).toEqual(['circuit_breaker', 'ok']);

    // Another process finds it open: nothing is acted upon, and nothing is told again.
    await stage.restart();
    expect(stage.breaker()).toMatchObject({ openSince, atFirstSight: false });
    await stage.run(openSince + hourMs - stage.clock.now() - 1);
    expect(stage.posts).toHaveLength(first);
    expect(held()).toBe(60 - first);

    const weights = new Map(stage.breaker().entries.map(({ email, weight }) => [email, weight]));
    await stage.run(hourMs);
    const second = stage.posts.slice(first);
    expect(second.length).toBeGreaterThan(12);
    for (const { at } of second) {
      expect(at - openSince).toBeGreaterThanOrEqual(hourMs);
      // The POST follows its admission by the looks that it takes, some seconds.
      const near = second.filter((other) => other.at >= at && other.at - at < 14 * minuteMs);
      expect(near.length).toBeLessThanOrEqual(6);
    }
    const weightOf = (email: string) => weights.get(email) ?? 0;
    const waiting = [...weights.keys()].filter((email) => !stage.posts.some((post) => post.email === email));
    const average = (emails: readonly string[]) =>
      emails.reduce((sum, email) => sum + weightOf(email), 0) / emails.length;
    expect(average(second.map(({ email }) => email))).toBeGreaterThan(average(waiting));
    expect(toldOfHold(stage)).toEqual(['firing']);

    const left = held();
    const effect = await stage.command('breaker-release', { dry_run: true });
    expect(effect.messages[0]).toBe(
      `Warmwarden will immediately act on ${left} mailboxes that the circuit breaker is holding.`,
    );
    expect(effect.messages[1]).toMatch(
      new RegExp(`^Warmwarden will switch ${left} mailboxes to recovery mode: \\S+, .* and ${left - 10} more\\.$`),
    );
    // What was agreed to is not done once other mailboxes are held.
    const changed = await stage.command('breaker-release', { plan: 'another' });
    expect([changed.result, held()]).toEqual(['changed', left]);
    expect((await stage.command('breaker-release', { plan: effect.plan ?? '' })).result).toBe('done');
    await stage.run(10 * minuteMs);
    expect(stage.posts.map(({ change }) => change)).toEqual(Array.from({ length: 60 }, () => 'recovery'));
    expect(new Set(stage.posts.map(({ email }) => email)).size).toBe(60);
    await stage.run(hourMs);
    expect(stage.posts).toHaveLength(60);
    expect(toldOfHold(stage)).toEqual(['firing', 'resolved']);
    expect(stage.breaker()).toMatchObject({ openSince: null });
  });

  it('jumps in one domain: that is a cause of its own, and all 20 are acted upon', async () => {
    await using stage = await startMovedDaemon({ scenario: scenarioOf(sixty, [jump(`*@${domains[0]}`)]), poll });
    await stage.run(4 * hourMs);
    expect(stage.posts).toHaveLength(20);
    expect(stage.posts.every(({ email, change }) => email.endsWith(`@${domains[0]}`) && change === 'recovery')).toBe(
      true,
    );
    expect(toldOfHold(stage)).toEqual([]);
    expect(stage.breaker().openSince).toBeNull();
    // The cause beside the number names the others of the domain.
    const causes = stage.mailbox(stage.posts.at(-1)?.email ?? '').action?.causes.join(' ');
    expect(causes).toMatch(
      /\d+ of the \d+ other mailboxes of northbeam\.example whose warm-up is running are also over the bounce limit\./,
    );

    // Two are set otherwise by a person; an undo takes back the eighteen that are still ours.
    const theirs = stage.posts.slice(0, 2).map(({ email }) => email);
    for (const email of theirs) stage.simulator.fleet.setMode(email, 'slow');
    await stage.run(31 * minuteMs);
    const undone = await stage.command('undo', { since_seconds: 8 * 3_600 });
    expect(undone.messages.at(-1)).toBe('18 mailboxes restored.');
    expect(undone.messages.filter((sentence) => sentence.includes('not changed'))).toHaveLength(2);
    const back = stage.posts.slice(20);
    expect(back.map(({ change }) => change)).toEqual(Array.from({ length: 18 }, () => 'balanced'));
    expect(back.some(({ email }) => theirs.includes(email))).toBe(false);
    // The old bounces are no reason to do it again.
    await stage.run(3 * hourMs);
    expect(stage.posts).toHaveLength(38);
  });
});

describe.concurrent('a daemon that begins on a fleet in trouble', () => {
  const before = (mailbox: string): Incident => ({
    kind: 'bounce',
    mailbox,
    rate: 0.2,
    from: -5 * dayMs,
    until: -4 * dayMs,
  });
  const over = [0, 1, 2, 3, 4, 5].map((number) => settled(number));
  const recovering = [6, 7, 8, 9].map((number) => settled(number, 'recovery'));
  const calm = Array.from({ length: 50 }, (_, number) => settled(number + 10));
  const troubled = scenarioOf(
    [...over, ...recovering, ...calm],
    [...over, ...recovering].map(({ email }) => before(email)),
  );

  it('pauses nobody in recovery on old bounces, and holds at first sight until a release', async () => {
    await using stage = await startMovedDaemon({ scenario: troubled, poll });
    await stage.run(8 * hourMs);
    const emails = (specs: readonly MailboxSpec[]) => specs.map(({ email }) => email);
    expect(stage.posts.length).toBe(5);
    for (const { email, change } of stage.posts) {
      expect(emails(over)).toContain(email);
      expect(change).toBe('recovery');
    }
    for (const email of emails(recovering)) {
      expect(stage.mailbox(email).verdict?.answer).toMatchObject({
        action: 'none',
        reason: 'insufficient_evidence',
      });
      expect(stage.mailbox(email).memory).toMatchObject({ claim: null, interventions: [] });
    }
    expect(stage.breaker()).toMatchObject({ atFirstSight: true });
    expect(toldOfHold(stage)).toEqual(['firing', 'reminder']);
    expect((await stage.release()).result).toBe('done');
    await stage.run(5 * minuteMs);
    expect(stage.posts.map(({ email }) => email).sort()).toEqual(emails(over).sort());
    expect(toldOfHold(stage)).toEqual(['firing', 'reminder', 'resolved']);
  });
});
