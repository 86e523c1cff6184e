// kill -9 at every step of a send: before and after each of the store's verbs and of the channel's sends. The steps are the outbox's:
// three channels by default, all of them with WARMWARDEN_SLOW=1.
import { expect, test } from 'vitest';
import type { ChannelSettings } from '../../src/channels/channels.ts';
import type { ListedDelivery } from '../../src/core/delivery.ts';
import { Store } from '../../src/store/store.ts';
import { RecipeHost } from '../support/recipe-service.ts';
import { leastSteps, lost, never, type Sent, sendFrom, untoldAlert } from './killed-send.ts';
import { channelKinds, openOutside } from './outside.ts';
import { sendAll } from './sending.ts';

/** One alert that nobody was told of, sent by a process that is killed at the step, and then by one that is not. */
async function killedAt(
  killAt: string,
  channel: ChannelSettings,
): Promise<Sent & { readonly delivery: ListedDelivery | undefined }> {
  const path = await untoldAlert();
  const sent = await sendFrom(path, channel, killAt);
  if (sent.killed) await sendAll(path, channel, () => {});
  const after = await Store.open(path, Date.now());
  const deliveries = await after.outbox.recentDeliveries(10);
  expect(deliveries).toHaveLength(1);
  await after.close();
  return { ...sent, delivery: deliveries[0] };
}

/** The steps of a send that nobody kills. Looks and waits are in real time, so that another send may have some more, or lack some. */
async function stepsOf(channel: ChannelSettings): Promise<readonly string[]> {
  const { steps } = await killedAt(never, channel);
  expect(steps.length).toBeGreaterThan(leastSteps);
  return steps;
}

const kinds = process.env['WARMWARDEN_SLOW'] ? channelKinds : (['webhook', 'slack', 'email'] as const);

test.each(kinds)('%s gets it at least once, and twice, the same, only where its answer was lost', async (kind) => {
  await using outside = await openOutside(kind);
  const twice: string[] = [];
  const steps = await stepsOf(outside.settings);
  let before = outside.taken().length;
  for (const at of steps) {
    const { delivery } = await killedAt(at, outside.settings);
    const got = outside.taken().slice(before);
    before = outside.taken().length;
    expect([at, delivery?.state]).toEqual([at, 'sent']);
    expect([at, got.length > 0, new Set(got).size]).toEqual([at, true, 1]);
    if (got.length > 1) twice.push(at);
  }
  expect(twice).toEqual(lost);
});

test('a recipe is started once or not at all, never twice, and what is not known is said', async () => {
  await using host = await RecipeHost.start();
  const asked = { name: 'fix', type: 'recipe', recipe: 'at-risk', apply: false } as const;
  const channel = { ...asked, baseUrl: host.baseUrl, apiKey: host.key };
  host.trigger = () => ({ status: 202, body: { id: 'run-1', status: 'succeeded' } });
  const unknown: string[] = [];
  for (const at of await stepsOf(channel)) {
    host.taken.length = 0;
    const { delivery } = await killedAt(at, channel);
    const started = host.of('POST', /runs$/).length;
    expect([at, started <= 1]).toEqual([at, true]);
    if (delivery?.state === 'sent') expect([at, started]).toEqual([at, 1]);
    else unknown.push(at);
  }
  // From the moment when it is about to be asked for until its answer is written down.
  const possible = ['after store.beginDelivery 1', 'before channel.send 1', ...lost];
  expect(possible).toEqual(expect.arrayContaining(unknown));
  expect(unknown).toContain('after channel.send 1');
});
