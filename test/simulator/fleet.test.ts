// A fleet follows from its seed, and its scenarios do what they promise.
import { expect, test } from 'vitest';
import { agencyFleet, generatedFleet } from '../../tools/simulator/agency-fleet.ts';
import type { WarmupMode } from '../../tools/simulator/ramp.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const email = 'ann@one.example';
/** Everything a client can see of a mailbox. */
async function everything(served: Awaited<ReturnType<typeof serve>>, address: string) {
  return [await served.stats(address), await served.warmup(address)];
}

test('the same seed gives the same answers, whatever was asked before, when, and of whom', async () => {
  await using quiet = await serve({ seed: 7 });
  await using busy = await serve({ seed: 7, scenario: scenarioOf([bob, { ...ann, email: 'z@z.example' }, ann]) });
  await quiet.clock.advance(12 * dayMs);
  for (let step = 0; step < 48; step += 1) {
    await busy.clock.advance(6 * hourMs);
    await busy.warmup(step % 2 ? email : 'bob@two.example');
    if (step % 5 === 0) await busy.act('z@z.example', step % 2 ? 'pause' : 'resume');
  }
  expect(await everything(busy, email)).toEqual(await everything(quiet, email));
  expect(await everything(busy, 'bob@two.example')).toEqual(await everything(quiet, 'bob@two.example'));
  await using other = await serve({ seed: 8 });
  await other.clock.advance(12 * dayMs);
  expect(other.idOf(email)).not.toBe(quiet.idOf(email));
  expect((await other.stats(email)).map((row) => row.opened)).not.toEqual(
    (await quiet.stats(email)).map((r) => r.opened),
  );
});

const total = (rows: Json[], count: string) => rows.reduce((sum, row) => sum + row[count], 0);

const limits: Record<WarmupMode, number> = { slow: 0.005, balanced: 0.01, aggressive: 0.02, recovery: 0.003 };

/** The guard's plain rules, written again here: the simulator may not lean on the guard. */
function verdictOn({
  rows,
  config,
}: {
  readonly rows: readonly Json[];
  readonly config: { readonly mode: WarmupMode };
}) {
  const [week, twoDays] = [rows.slice(-7), rows.slice(-2)].map((days) => [total(days, 'sent'), total(days, 'bounced')]);
  const [sent = 0, bounced = 0] = week ?? [];
  const [lately = 0, burnt = 0] = twoDays ?? [];
  if (burnt >= 3 && burnt >= lately / 10) return 'emergency';
  return bounced >= 2 && bounced > limits[config.mode] * sent ? 'breach' : 'ok';
}

/** The verdicts that differ from the one before, at looks every five minutes of so many hours, with the hour of the day. */
async function story(served: Awaited<ReturnType<typeof serve>>, address: string, hours: number) {
  const told: [verdict: string, hour: number][] = [];
  for (let minutes = 0; minutes <= 60 * hours; minutes += 5) {
    const mailbox = served.simulator.fleet.find(address);
    const verdict = mailbox ? verdictOn(mailbox) : 'none';
    if (verdict !== (told.at(-1)?.[0] ?? 'ok')) told.push([verdict, 8.5 + minutes / 60]);
    await served.clock.advance(hourMs / 12);
  }
  return told;
}

test.each([1, 42])(
  'bounce-storm, seed %i: one mailbox breaches in the morning, another is an emergency at noon',
  async (seed) => {
    await using morning = await serve({ scenario: 'bounce-storm', seed });
    const [[first, at] = []] = await story(morning, 'amelia.ward@northbeam.example', 24);
    expect([first, (at ?? 0) > 9 && (at ?? 24) <= 11.5]).toEqual(['breach', true]);
    await using noon = await serve({ scenario: 'bounce-storm', seed });
    const [[second, then] = []] = await story(noon, 'jonas.keller@brightpath.example', 8);
    expect([second, (then ?? 0) >= 12 && (then ?? 24) <= 13.5]).toEqual(['emergency', true]);
  },
);

test('calm exceeds no limit in sixty days; provider-block bounces at every Google mailbox, and at no other', async () => {
  const troubled = async (scenario: Scenario | 'provider-block', hours: number) => {
    await using served = await serve({ scenario });
    await served.clock.advance(hours * hourMs);
    return served.simulator.fleet.mailboxes().filter((one) => verdictOn(one) !== 'ok');
  };
  for (const days of [1, 20, 60])
    expect(await troubled(scenarioOf([...agencyFleet, ...generatedFleet(60, 20)]), 24 * days)).toEqual([]);
  const blocked = await troubled('provider-block', 11.5);
  const providerOf = (address: string) => agencyFleet.find((spec) => spec.email === address)?.provider;
  expect(blocked.length).toBeGreaterThan(3);
  expect([...new Set(blocked.map((one) => providerOf(one.email)))]).toEqual(['google']);
});
