// Answers that the guard judges by, and that an API gives no longer: for one mailbox, for some, or to one of two keys. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs } from '../../src/model/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, OtherApi } from '../support/other-api.ts';
import { calmPoll } from '../watch/duty.ts';

const answer = (status: number) => ({ kind: 'answer', status, body: '{"error":"gone"}' }) as const;

test.each([
  ['warmup', 500, 6],
  ['warmup', 404, 16],
  ['stats', 500, 6],
] as const)(
  'where polls are hours apart, /v1/%s failing for one mailbox (%i) is no account without a guard',
  async (route, status, hours) => {
    await using api = await OtherApi.start();
    const [broken] = ['a', 'b', 'c'].map((name) => api.add(`${name}@${name}.example`));
    let isOver = false;
    api.fault = ({ method, path, mailboxId }: Asked) =>
      isOver && method === 'GET' && path === `/v1/${route}` && mailboxId === broken?.id ? answer(status) : undefined;
    const poll = { ...calmPoll, stats: '10 */4 * * *', warmup: '20 */4 * * *' };
    await using daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API'] });
    await daemon.run(5 * hourMs);
    isOver = true;
    for (let hour = 1; hour <= hours; hour += 1) {
      await daemon.run(hourMs);
      expect([hour, (await fetch(`${daemon.url()}/readyz`)).status]).toEqual([hour, 200]);
    }
    const titles = daemon.receiver.alerts().map(({ title }) => title);
    expect(titles.filter((title) => title.includes('NOT GUARDED'))).toEqual([]);
    // Three polls of the warm-up were due by then.
    if (hours < 12) return;
    expect(titles).toContain(`${broken?.email}: not judged, because the warm-up cannot be read`);
    const table = await commandLine(['status', '--config', daemon.file]);
    expect([table.code, table.stdout]).toEqual([0, expect.stringMatching(new RegExp(`Not judged +${broken?.email}`))]);
  },
);
