// A fleet of 60 in three domains that jumps over the limit at once.
import { expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

const sixty = Array.from({ length: 60 }, (_, number) => settled(number));

/** From 10 to 11 three or four of every five emails bounce: over the limit of 1% on 210 emails, and no emergency. */
function jump(mailbox: string): Incident {
  return { kind: 'bounce', mailbox, rate: 0.75, from: 1.5 * hourMs, until: 2.5 * hourMs };
}

/** All but the news that it holds more: that the number doubled. */
const toldOfHold = (stage: MovedDaemon) => stage.notified('guard_held').filter((kind) => kind !== 'worsened');

function scenarioOf(fleet: readonly MailboxSpec[], incidents: readonly Incident[]) {
  return { name: 'jump', summary: 'Many mailboxes bounce at once.', fleet, incidents };
}

it('a fleet of 60 in three domains jumps at once: fewer than six are acted upon, one message, a tenth each 15 minutes later, a command for the rest', async () => {
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

  await stage.run(hourMs + 5 * minuteMs);
  const second = stage.posts.slice(first);
  expect(second.length).toBeGreaterThan(12);
  for (const { at } of second) {
    expect(at - openSince).toBeGreaterThanOrEqual(hourMs);
    // The POST follows its admission by the looks that it takes, some seconds.
    const near = second.filter((other) => other.at >= at && other.at - at < 14 * minuteMs);
    expect(near.length).toBeLessThanOrEqual(6);
  }
  expect(toldOfHold(stage)).toEqual(['firing']);

  const left = held();
  const effect = await stage.command('breaker-apply', { dry_run: true });
  expect(effect.messages[0]).toBe(
    `Warmwarden will immediately act on ${left} mailboxes that the circuit breaker is holding.`,
  );
  expect(effect.messages[1]).toMatch(
    new RegExp(`^Warmwarden will switch ${left} mailboxes to recovery mode: \\S+, .* and ${left - 10} more\\.$`),
  );
  // What was agreed to is not done once other mailboxes are held.
  const changed = await stage.command('breaker-apply', { plan: 'another' });
  expect([changed.result, held()]).toEqual(['changed', left]);
  expect((await stage.command('breaker-apply', { plan: effect.plan ?? '' })).result).toBe('done');
  await stage.run(10 * minuteMs);
  expect(stage.posts.map(({ change }) => change)).toEqual(Array.from({ length: 60 }, () => 'recovery'));
  expect(new Set(stage.posts.map(({ email }) => email)).size).toBe(60);
  await stage.run(hourMs);
  expect(stage.posts).toHaveLength(60);
  expect(toldOfHold(stage)).toEqual(['firing', 'resolved']);
  expect(stage.breaker()).toMatchObject({ openSince: null });
});
