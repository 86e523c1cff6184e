// 2,000 mailboxes fail at once: a handful of messages, within Slack's limits, counts right, hostile names harmless.
import { expect, test } from 'vitest';
import { fingerprintOf, type Transition } from '../../src/core/alert.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { slackFaults } from '../support/slack-limits.ts';
import { hookChannel, staged as it, slackTo, stage } from './rig.ts';

const hostile = '<!channel> <script>alert(1)</script> @here *_~`|&\u202e\u0000';
const rules = [
  'mailbox_unwell',
  'bounce_over_limit',
  'blacklisted',
  'stale_data',
  'reputation_low',
  'contested',
] as const;

/** 2,000 alerts that begin within ten seconds, of six rules, on accounts in turn. */
function storm(accounts: number): readonly Transition[] {
  return Array.from({ length: 2_000 }, (_, number) => {
    const email = `${hostile}${number}@acme.example`;
    const facts = { title: `${email}: failed`, sentences: [`${email} says ${hostile.repeat(40)}`], numbers: {} };
    const alert = sampleAlert(number, {
      rule: rules[number % rules.length] ?? 'stale_data',
      account: `client${number % accounts}`,
      severity: number % 2 === 0 ? 'critical' : 'warning',
      email,
      facts,
    });
    return { kind: 'firing', at: start + number * 5, alert: { ...alert, fingerprint: fingerprintOf(alert) } };
  });
}

test.each([3, 100])(
  'on %i accounts: at most five messages in Slack, and every mailbox in one of the webhook',
  async (accounts) => {
    await using at = await stage({}, {}, (url, clock) => [slackTo(url, clock), hookChannel(url, clock)]);
    const { rig } = at;
    rig.commit(...storm(accounts));
    await rig.clock.advance(hourMs);
    const to = (name: string) => rig.store.deliveries().filter(({ channel }) => channel === name);
    const slack = to('ops').map(({ payload }) => JSON.parse(payload));
    expect(slack.length).toBeGreaterThan(0);
    expect(slack.length).toBeLessThanOrEqual(5);
    for (const payload of slack) {
      expect(slackFaults(payload)).toEqual([]);
      expect(JSON.stringify(payload)).not.toMatch(/<!channel>|<script>|\u202e/);
    }
    // 2,000 of six rules are 333 or 334 of each, and on many accounts the one message says so.
    if (accounts === 100) expect(JSON.stringify(slack)).toContain('bounces over the limit, NO ACTION TAKEN (334)');
    const totals = to('hook').map(({ payload }) => JSON.parse(payload).data.total as number);
    expect(Math.max(...totals)).toBe(25);
    expect(totals.length).toBeLessThanOrEqual(90);
    expect(totals.reduce((sum, total) => sum + total, 0)).toBe(2_000);
  },
);

it('what ends of a storm whose message is refused waits behind it, and what it is not about passes it by', async (at) => {
  const { rig, receiver } = at;
  const isStorm = (body: string) => JSON.parse(body).data.total === 25;
  receiver.answer = (response, { body }) => response.writeHead(isStorm(body) ? 500 : 200).end();
  const of = (number: number, account: string) => sampleAlert(number, { account });
  rig.commit(...Array.from({ length: 25 }, (_, number) => firing(of(number, 'stormy'))));
  await rig.clock.advance(minuteMs);
  rig.commit(resolved(of(7, 'stormy'), rig.clock.now()), firing(of(1, 'calm')));
  await rig.clock.advance(20 * minuteMs);
  const notified = () => at.bodies().map(({ type, data }) => `${data.account} ${type}`);
  expect(new Set(notified())).toEqual(new Set(['stormy alerts.firing', 'calm alerts.firing']));
  receiver.answer = (response) => response.writeHead(200).end();
  await rig.clock.advance(hourMs);
  expect(notified().slice(-2)).toEqual(['stormy alerts.firing', 'stormy alerts.resolved']);
});
