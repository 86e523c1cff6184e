// What the shipped scenarios promise to the demo, on every seed.
import { describe, expect, test } from 'vitest';
import { agencyFleet, generatedFleet } from '../../tools/simulator/agency-fleet.ts';
import type { WarmupMode } from '../../tools/simulator/ramp.ts';
import { type ScenarioName, scenarioStart } from '../../tools/simulator/scenarios.ts';
import { hourMs, scenarioOf, serve } from './served.ts';

const limits: Record<WarmupMode, number> = { slow: 0.005, balanced: 0.01, aggressive: 0.02, recovery: 0.003 };
const amelia = 'amelia.ward@northbeam.example';
const jonas = 'jonas.keller@brightpath.example';

interface Counts {
  readonly sent: number;
  readonly bounced: number;
}

function pooled(rows: readonly Counts[]): Counts {
  return rows.reduce((sum, { sent, bounced }) => ({ sent: sum.sent + sent, bounced: sum.bounced + bounced }), {
    sent: 0,
    bounced: 0,
  });
}

/** The guard's plain rules, written again here: the simulator may not lean on the guard. */
function isBreach(rows: readonly Counts[], mode: WarmupMode): boolean {
  const { sent, bounced } = pooled(rows);
  return bounced >= 2 && bounced > limits[mode] * sent;
}

function isEmergency(rows: readonly Counts[]): boolean {
  const { sent, bounced } = pooled(rows.slice(-2));
  return bounced >= 3 && bounced >= sent / 10;
}

/** Looks every quarter of an hour up to `untilHour`, and answers when each verdict was first due. */
async function watch(name: ScenarioName, seed: number, email: string, untilHour: number) {
  await using served = await serve({ scenario: name, seed });
  const { mode } = served.simulator.fleet.find(email)?.config ?? { mode: 'slow' };
  let breach = Number.NaN;
  let emergency = Number.NaN;
  for (let hour = 8.75; hour <= untilHour; hour += 0.25) {
    await served.clock.advance(0.25 * hourMs);
    const week = served.simulator.fleet.find(email)?.rows.slice(-7) ?? [];
    if (Number.isNaN(breach) && isBreach(week, mode)) breach = hour;
    if (Number.isNaN(emergency) && isEmergency(week)) emergency = hour;
  }
  return { breach, emergency };
}

const seeds = [1, 2, 3, 42, 1234];

describe.each(seeds)('with seed %i', (seed) => {
  test('bounce-storm: the first mailbox is over its limit between 9 and 11:30, and never an emergency', async () => {
    const { breach, emergency } = await watch('bounce-storm', seed, amelia, 24 + 24);
    expect(breach).toBeGreaterThan(9);
    expect(breach).toBeLessThanOrEqual(11.5);
    expect(emergency).toBeNaN();
  });

  test('bounce-storm: the second mailbox is an emergency by 13:30, and no lesser breach comes before it', async () => {
    await using served = await serve({ scenario: 'bounce-storm', seed });
    for (let hour = 8.5; hour < 13.5; hour += 1 / 60) {
      const week = served.simulator.fleet.find(jonas)?.rows.slice(-7) ?? [];
      if (isEmergency(week)) break;
      expect(isBreach(week, 'aggressive')).toBe(false);
      await served.clock.advance(hourMs / 60);
    }
    expect(isEmergency(served.simulator.fleet.find(jonas)?.rows ?? [])).toBe(true);
    expect(served.clock.now()).toBeGreaterThan(scenarioStart + 3.5 * hourMs);
  });

  test('calm: no mailbox exceeds its limit in any seven or thirty days of sixty', async () => {
    const fleet = [...agencyFleet, ...generatedFleet(60, 20)];
    await using served = await serve({ scenario: scenarioOf(fleet), seed });
    await served.clock.advance(60 * 24 * hourMs);
    let bounces = 0;
    for (const { rows, config, email } of served.simulator.fleet.mailboxes()) {
      for (let end = 1; end <= rows.length; end += 1) {
        const breached = [7, 30].some((days) => isBreach(rows.slice(Math.max(0, end - days), end), config.mode));
        expect(breached, `${email} on day ${end}`).toBe(false);
      }
      bounces += pooled(rows).bounced;
    }
    expect(bounces).toBeGreaterThan(5);
  });
});

test('provider-block: from noon every Google mailbox bounces everything, and nobody else', async () => {
  await using served = await serve({ scenario: 'provider-block' });
  await served.clock.advance(3.5 * hourMs);
  const bouncedToday = () => served.simulator.fleet.mailboxes().map((one) => one.rows.at(-1)?.bounced ?? 0);
  expect(Math.max(...bouncedToday())).toBeLessThanOrEqual(1);
  await served.clock.advance(8 * hourMs);
  const breached = served.simulator.fleet.mailboxes().filter((one) => isBreach(one.rows.slice(-7), one.config.mode));
  const google = agencyFleet.filter((spec) => spec.provider === 'google' && spec.email !== amelia);
  expect(breached.map((one) => one.email).sort()).toEqual(google.map((spec) => spec.email).sort());
});
