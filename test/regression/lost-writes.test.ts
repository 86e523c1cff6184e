// The newest writes of the store are lost (a WAL that was cut or deleted before kill -9, a restored backup) after a message about
// them was sent. docs/faults.md O2.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { backUp } from '../../src/store/file/backup.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/10 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

test('an action whose end is lost is found done, not sent again, and announced again under another id', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  await stage.run(minuteMs);
  await stage.until('the intent', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);
  const earlier = join(stage.folder, 'earlier.db');
  await backUp(join(stage.folder, 'data', 'warmwarden.db'), earlier);
  const notified = () =>
    stage.receiver.notified.filter((message) =>
      stage.receiver.verified(message).some(({ rule }) => rule === 'guard_acted'),
    );
  await stage.until('the message', () => notified().length === 1, hourMs);
  await stage.restart((config) => {
    config['store'] = { url: `sqlite:${earlier}` };
  });
  await stage.run(10 * minuteMs);
  expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
  expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
  const told = notified();
  expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  const fingerprints = told
    .flatMap((message) => stage.receiver.verified(message))
    .map(({ fingerprint }) => fingerprint);
  expect(fingerprints).toEqual([fingerprints[0], fingerprints[0]]);
});
