// What people are notified of, where there is an alert for each of thousands of mailboxes.
import { expect, test } from 'vitest';
import { notificationsOf } from '../../src/alerts/notifications.ts';
import { firing, sampleAlert, start } from './samples.ts';

test.each([
  ['new', { unnotified: 2_000, announced: 0 }],
  ['known', { unnotified: 0, announced: 2_000 }],
  ['known to nobody, and not new', { unnotified: 0, announced: 0 }],
])(
  'a look at thousands of alerts that are %s pauses between pieces of them',
  async (_what, { unnotified, announced }) => {
    const alerts = Array.from({ length: 2_000 }, (_, number) => sampleAlert(number));
    let [looked, most] = [0, 0];
    const muted = () => {
      looked += 1;
      most = Math.max(most, looked);
      return false;
    };
    const { notifications } = await notificationsOf({
      unnotified: alerts
        .slice(0, unnotified)
        .map((alert, index) => ({ id: index + 1, transition: firing(alert, start) })),
      announced: new Map(
        alerts
          .slice(0, announced)
          .map(({ fingerprint }) => [fingerprint, { fingerprint, at: start, severity: 'warning', channels: null }]),
      ),
      firing: alerts,
      muted,
      wanted: () => true,
      joined: () => false,
      repeatIntervalMs: { critical: null, warning: null, info: null },
      timing: {
        now: start + 60_000,
        groupWaitMs: 0,
        groupIntervalMs: 0,
        lastNotified: () => undefined,
        full: false,
        keptFrom: () => null,
        incidents: { of: () => null, isDue: () => false },
      },
      pause: async () => {
        looked = 0;
      },
    });
    expect(notifications.flatMap(({ news }) => news)).toHaveLength(2_000 - announced);
    expect([most > 0, most <= 500]).toEqual([true, true]);
  },
);
