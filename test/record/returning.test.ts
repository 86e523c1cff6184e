// Mailboxes that come back under another id. docs/faults.md S9, S13.
import { expect, test } from 'vitest';
import { withHistory } from '../../src/account/record/roster.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, goOnDuty, oliver, stormOf } from '../account/duty.ts';

test('S9: a mailbox back under a new id keeps its address’s history, marked, but neither claim nor hold', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  await duty.until(() => duty.action()?.state === 'confirmed');
  const before = duty.mailbox();
  expect(before?.memory?.claim?.kind).toBe('recovery');
  duty.simulator.fleet.addIncident({ kind: 'reconnect', mailbox: amelia, from: 0 });
  await duty.run(5 * minuteMs);
  const after = duty.mailbox();
  expect(after?.id).not.toBe(before?.id);
  expect(after?.memory).toMatchObject({
    formerIds: [before?.id],
    interventions: before?.memory?.interventions,
    claim: null,
    reversals: [],
  });
  expect([duty.fleet().mailboxCount('agency'), duty.posts().length]).toEqual([2, 1]);
  await duty.run(2 * hourMs);
  await duty.restart();
  await duty.run(5 * minuteMs);
  expect(duty.mailbox()?.memory?.formerIds).toEqual([before?.id]);
  expect((await duty.notified()).filter((notified) => /missing|short/.test(notified))).toEqual([]);
});

test('S9: an action in progress ends when its mailbox is back under a new id', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  let before: string | undefined;
  duty.meddleWithPosts(() => {
    if (before === undefined) duty.simulator.fleet.addIncident({ kind: 'reconnect', mailbox: amelia, from: 0 });
    before ??= duty.mailbox()?.id;
    return 'swallow';
  });
  await duty.until(() => before !== undefined);
  await duty.run(10 * minuteMs);
  const ofFormer = duty
    .fleet()
    .recentActions()
    .filter(({ mailboxId }) => mailboxId === before);
  const stored = (await duty.store().loadPicture()).actions.filter(({ mailboxId }) => mailboxId === before);
  for (const actions of [ofFormer, stored])
    expect(actions).toMatchObject([{ state: 'dropped', detail: expect.stringContaining('another id') }]);
});

test('S9: a whole fleet under new ids is neither missing nor a short list', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  await duty.run(10 * minuteMs);
  duty.simulator.fleet.addIncident({ kind: 'reconnect', mailbox: '*', from: 0 });
  await duty.run(5 * minuteMs);
  expect([duty.fleet().mailboxCount('agency'), await duty.notified()]).toEqual([2, []]);
});

test('S13: of two gone mailboxes with one address nobody knows whose history it is', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(oliver) });
  await duty.run(20 * minuteMs);
  const known = duty.mailbox(oliver);
  if (!known?.memory) throw new Error('it was judged');
  const arrived = { ...known, id: 'new', memory: null };
  expect(withHistory([arrived], [known])[0]?.memory?.formerIds).toEqual([known.id]);
  expect(withHistory([arrived], [known, { ...known, id: 'twin' }])).toEqual([arrived]);
  expect(withHistory([{ ...arrived, id: known.id }], [known])[0]?.memory).toEqual(known.memory);
});
