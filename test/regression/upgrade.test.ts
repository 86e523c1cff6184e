// A store that an earlier version wrote: what it did not know of actions, claims and memory must stop nothing.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { Store } from '../../src/store/store.ts';
import { type Duty, goOnDuty, jonas, stormOf } from '../watch/duty.ts';

/** The disk as it is, in the words of commit 426e649: no by, causes, pauseWord and under; the word stood in the claim. */
function earlierImage(duty: Duty, word: string | null): string {
  const folder = duty.image();
  const db = new DatabaseSync(join(folder, 'warmwarden.db'));
  db.exec("UPDATE actions SET action = json_remove(action, '$.by', '$.causes')");
  db.exec("UPDATE mailboxes SET memory = json_remove(memory, '$.pauseWord', '$.claim.under')");
  db.prepare(
    "UPDATE mailboxes SET memory = json_set(memory, '$.claim.word', ?) WHERE memory ->> '$.claim.kind' = 'pause'",
  ).run(word);
  db.close();
  return folder;
}

test('an intent that it left open is looked for, confirmed and told', async () => {
  await using duty = await goOnDuty();
  let image: string | undefined;
  duty.between.meddle = ({ method }) => {
    if (method !== 'POST') return 'pass';
    image ??= earlierImage(duty, null);
    return 'applied-cut';
  };
  await duty.until(() => image !== undefined);
  duty.between.meddle = () => 'pass';
  await duty.restart({ ...(image && { image }) });
  await duty.until(() => duty.action()?.state === 'confirmed', 5 * minuteMs);
  expect([duty.posts().length, duty.action()?.causes]).toEqual([1, []]);
});

test('a pause of ours that a person takes back leaves a mailbox that is judged as any other', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(jonas) });
  await duty.until(() => duty.action(jonas)?.state === 'confirmed');
  await duty.restart({ image: earlierImage(duty, null) });
  await duty.run(10 * minuteMs);
  const paused = duty.mailbox(jonas);
  if (!paused) throw new Error('no mailbox');
  const by = { name: 'a test', reason: 'to see it' };
  const resumed = duty.watch().carryOut(paused, { kind: 'resume', targetMode: null, by });
  await duty.run(2 * hourMs);
  expect(await resumed).toMatchObject({ state: 'confirmed' });
  expect(duty.mailbox(jonas)?.memory?.reversals).toHaveLength(1);
  const [judgedAt, now] = [duty.mailbox(jonas)?.verdict?.at ?? 0, duty.clock.now()];
  expect(now - judgedAt).toBeLessThan(hourMs);
});

test('the word that proved a pause goes on meaning paused', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(jonas) });
  await duty.until(() => duty.action(jonas)?.state === 'confirmed');
  const store = await Store.open(join(earlierImage(duty, 'halted'), 'warmwarden.db'), duty.clock.now());
  const memory = (await store.loadPicture()).mailboxes[0]?.memory;
  await store.close();
  expect(memory).toMatchObject({ pauseWord: 'halted', claim: { kind: 'pause', under: null } });
});
