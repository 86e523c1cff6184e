// The API answered everything but the mailbox list: new mailboxes were never guarded, and nobody was told. docs/faults.md H21.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { calmPoll, goOnDuty, oliver, stormOf } from '../account/duty.ts';

const poll = { ...calmPoll, mailboxes: '* * * * *', stats: '* * * * *' };
const isList = ({ path }: { readonly path: string }) => path === '/v1/mailboxes';

test('a mailbox list that cannot be read fires an alert after five minutes, which ends', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(oliver), poll });
  await duty.until(() => duty.asked('/v1/stats') > 0);
  duty.between.meddle = (request) => (isList(request) ? { status: 500, body: 'no' } : 'pass');
  await duty.run(4 * minuteMs);
  expect(await duty.notified()).toEqual([]);
  await duty.run(3 * minuteMs);
  expect(duty.alert('api_unwell')).toMatchObject({
    status: 'firing',
    object: 'mailbox list',
    facts: { title: "agency: the mailbox list can't be read" },
  });
  duty.between.meddle = () => 'pass';
  await duty.run(3 * minuteMs);
  expect(await duty.notified()).toEqual(['firing api_unwell', 'resolved api_unwell']);
});
