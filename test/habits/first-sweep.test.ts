// The end of a first sweep that is shown at its beginning is kept. The API is not the simulator.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { goOnDuty } from '../account/duty.ts';
import { OtherApi } from '../support/other-api.ts';

test.each([
  { mailboxes: 40, limit: 100 },
  { mailboxes: 120, limit: 100 },
])(
  '$mailboxes mailboxes on $limit requests a minute: the first end that is shown is kept, and later ones are near it',
  async ({ mailboxes, limit }) => {
    await using api = await OtherApi.start(mailboxes);
    const shipped = { requestsPerMinute: limit, headroomPpm: 30_000, statsIntervalMinMs: minuteMs };
    await using duty = await goOnDuty({ other: api, keyLimit: limit, ...shipped });
    const sweep = () => duty.fleet().sweep('agency');
    await duty.until(() => sweep() !== undefined, minuteMs);
    const begun = duty.clock.now();
    const shown: number[] = [];
    for (; (sweep()?.read ?? mailboxes) < mailboxes; await duty.run(5 * secondMs)) shown.push(sweep()?.doneAt ?? 0);
    const [tookMs, promisedMs] = [duty.clock.now() - begun, (shown[0] ?? 0) - begun];
    expect(tookMs - promisedMs).toBeLessThan(20 * secondMs);
    expect(Math.max(...shown) - Math.min(...shown)).toBeLessThan(Math.max(minuteMs, tookMs / 3));
    // What the cadence makes due meanwhile is counted on average: nothing was due here.
    expect(tookMs).toBeGreaterThan(0.75 * promisedMs);
  },
);
