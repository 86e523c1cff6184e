import { describe, expect, test } from 'vitest';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import type { Alert } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTally } from '../../src/core/records.ts';
import { minuteMs } from '../../src/core/time.ts';
import { createNotifier } from '../../src/outbox/notifier.ts';
import { Loops } from '../../src/world/loop.ts';
import { systemClock } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { quietSettings, sampleDelivery, usualRoutes } from '../outbox/sample-delivery.ts';
import { type TestStore, testStore } from '../outbox/test-store.ts';
import { Alertmanager } from '../support/alertmanager.ts';
import { isInstalled } from '../support/debian.ts';
import { silentWorld } from '../support/silent-world.ts';
import { until } from '../support/until.ts';
import { messageAbout, messageWith } from './people.ts';

interface Body {
  readonly status: string;
  readonly alerts: readonly Readonly<Record<string, unknown>>[];
  readonly groupKey: string;
}

const pageUrl = 'http://127.0.0.1:7025';
const program = 'prometheus-alertmanager';
const facts = {
  title: 'acme.example: DNS failing "spf" & <dkim> ü',
  sentences: ['SPF does not pass.', 'Mend the record.'],
  numbers: { page_url: `${pageUrl}/mailboxes/acme/m1`, bounced: 4, rate_percent: 1.54, sent: null },
};
const alerts = [1, 2].map((number) => sampleAlert(number, { rule: 'dns_failing', severity: 'critical', facts }));

function notifierFor(alertmanager: string, store: TestStore, fleet: Fleet) {
  const clock = systemClock();
  const world = silentWorld(clock);
  return createNotifier({
    world,
    loops: new Loops(world),
    store,
    fleet,
    tally: noTally,
    apiOf: () => null,
    channels: [alertmanagerChannel({ name: 'am', url: `${alertmanager}/` }, clock)],
    settings: { ...quietSettings, routes: usualRoutes([{ name: 'am' }]), groupIntervalMs: 1_000 },
    pageUrl: null,
  });
}

test.skipIf(!isInstalled(program))(
  'a real Alertmanager groups our alerts, gets them again after it forgot them, and resolves them',
  async () => {
    await using receiver = await startReceiver();
    await using alertmanager = await Alertmanager.start(program, receiver.url);
    const [store, fleet] = [testStore(), new Fleet()];
    const both = (wanted: string) =>
      until(`both alerts as ${wanted}`, () =>
        receiver.received
          .map(({ body }): Body => JSON.parse(body))
          .findLast((body) => body.status === wanted && body.alerts.length === alerts.length),
      );

    let notifier = notifierFor(alertmanager.url, store, fleet);
    notifier.start();
    for (const alert of alerts) fleet.putAlert(alert);
    store.commit(alerts.map((alert) => firing(alert)));
    notifier.wake();
    const itsFiring = await both('firing');
    expect(itsFiring).toMatchObject({
      groupKey: '{}:{account="acme", alertname="dns_failing"}',
      commonAnnotations: { summary: facts.title, bounced: '4', rate_percent: '1.54' },
    });
    for (const { generatorURL } of itsFiring.alerts) expect(generatorURL).toBe(facts.numbers.page_url);

    // A new Alertmanager knows nothing, and the daemon was restarted too.
    await notifier.stop();
    await alertmanager.kill();
    await alertmanager.start();
    expect(await alertmanager.alerts()).toEqual([]);
    notifier = notifierFor(alertmanager.url, store, fleet);
    notifier.start();
    const held = await until('Alertmanager to be told again', async () => {
      const now = await alertmanager.alerts();
      return now.length === alerts.length ? now : null;
    });
    for (const { startsAt, endsAt } of held) {
      expect(Date.parse(startsAt)).toBe(start);
      expect(Date.parse(endsAt) - Date.now()).toBeGreaterThan(4 * minuteMs);
    }

    const ended = alerts.map((alert): Alert => ({ ...alert, status: 'resolved', resolvedAt: Date.now() }));
    for (const alert of ended) fleet.putAlert(alert);
    store.commit(ended.map((alert) => resolved(alert, alert.resolvedAt ?? 0)));
    notifier.wake();
    await both('resolved');
    await notifier.stop();
  },
);

describe('what Alertmanager is told', () => {
  const clock = movedClock(start);
  const signal = AbortSignal.timeout(240_000);
  interface Posted {
    readonly labels: Readonly<Record<string, string>>;
    readonly startsAt: string;
    readonly endsAt: string;
  }

  test('an event ends by itself an hour after it was sent, however late that is', async () => {
    await using receiver = await startReceiver();
    const channel = alertmanagerChannel({ name: 'am', url: receiver.url }, clock);
    const event = messageWith([{ ...firing(sampleAlert(1)), kind: 'event' }]);
    const payload = channel.render(event)?.payload ?? '';
    await clock.advance(90 * minuteMs);
    await channel.send(sampleDelivery({ payload }), signal);
    const [posted]: Posted[] = JSON.parse(receiver.received[0]?.body ?? '[]');
    expect(Date.parse(posted?.endsAt ?? '') - clock.now()).toBe(60 * minuteMs);
  });

  test('what resolved is told again for a quarter of an hour, unless it fires again', async () => {
    await using receiver = await startReceiver();
    const channel = alertmanagerChannel({ name: 'am', url: receiver.url }, clock);
    const message = messageWith([1, 2].map((number) => resolved(sampleAlert(number), start)));
    await channel.send(sampleDelivery({ payload: channel.render(message)?.payload ?? '' }), signal);
    const again = { ...sampleAlert(2), firingAt: clock.now() };
    await channel.upkeep?.send([again], signal);
    const notified = () =>
      (JSON.parse(receiver.received.at(-1)?.body ?? '[]') as Posted[]).map(({ labels, endsAt }) => [
        labels['mailbox_id'],
        Date.parse(endsAt) > clock.now(),
      ]);
    expect(Object.fromEntries(notified())).toEqual({ m2: true, m1: false });
    await clock.advance(16 * minuteMs);
    await channel.upkeep?.send([again], signal);
    expect(Object.fromEntries(notified())).toEqual({ m2: true });
    const before = receiver.received.length;
    expect(await channel.upkeep?.send([], signal)).toBeNull();
    expect(receiver.received).toHaveLength(before);
  });

  test('one bad answer among many posts is a failure of all of them, which are sent again', async () => {
    await using receiver = await startReceiver();
    const channel = alertmanagerChannel({ name: 'am', url: receiver.url }, clock);
    const many = Array.from({ length: 1_200 }, (_, number) => sampleAlert(number));
    receiver.answer = (response) => (receiver.received.length === 2 ? status(503) : status(200))(response);
    const failed = { kind: 'failed', detail: 'Alertmanager answered 503' };
    expect(await channel.upkeep?.send(many, signal)).toMatchObject(failed);
    expect(await channel.upkeep?.send(many, signal)).toMatchObject({ kind: 'sent' });
    expect(receiver.received.map(({ body }) => JSON.parse(body).length)).toEqual([500, 500, 500, 500, 200]);
  });
});

test.each([
  ['guard_acted', 'action_id'],
  ['restored', 'action_id'],
  ['operator_acted', 'command_id'],
] as const)('%s, an event, names no single one in its labels, which would be an alert for ever', (rule, id) => {
  const channel = alertmanagerChannel({ name: 'am', url: 'http://127.0.0.1:1' }, movedClock(start));
  const acted = messageWith([{ kind: 'event', at: start, alert: sampleAlert(3, { rule, object: '17' }) }]);
  const [posted] = JSON.parse(channel.render(acted)?.payload ?? '[]');
  expect(posted).toMatchObject({ annotations: { [id]: '17' } });
  expect(posted.labels).not.toHaveProperty('object');
});

test('a webhook has an incident as `incident`, which is null in every other message', () => {
  const url = 'http://127.0.0.1:1/';
  const hook = webhookChannel({ name: 'hook', url, secrets: [] }, movedClock(start));
  const { data, type } = JSON.parse(hook.render(messageAbout(16, 'began', [firing(sampleAlert(1))]))?.payload ?? '');
  expect(type).toBe('alerts.firing');
  expect(data).toMatchObject({ group: 'inc_sample', total: 1, severity: 'critical' });
  const cause = { attribute: 'provider', value: 'google' };
  const when = { step: 'began', began_at: '2026-03-20T10:02:00.000Z', ended_at: null };
  expect(data.incident).toMatchObject({ id: 'inc_sample', cause, ...when, mailboxes: 16, domains: 5 });
  expect(data.incident.worst).toHaveLength(5);
  expect(JSON.parse(hook.render(messageAbout(16, 'ended'))?.payload ?? '')).toMatchObject({
    type: 'alerts.resolved',
    data: { alerts: [], incident: { step: 'ended', ended_at: '2026-03-20T11:02:00.000Z' } },
  });
});

test('Alertmanager, which knows alerts only, gets nothing of the end of an incident without any', () => {
  const alertmanager = alertmanagerChannel({ name: 'am', url: 'http://127.0.0.1:1' }, movedClock(start));
  expect(alertmanager.render(messageAbout(16, 'ended'))).toBeNull();
  expect(alertmanager.render(messageAbout(16, 'began', [firing(sampleAlert(1))]))).not.toBeNull();
});
