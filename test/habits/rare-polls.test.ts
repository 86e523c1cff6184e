// One mailbox whose warm-up or statistics can't be read, where polls are hours apart. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import { calmPoll } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { type Asked, answerWith, OtherApi } from '../support/other-api.ts';

test.each([
  ['warmup', 500, 6],
  ['warmup', 404, 16],
  ['stats', 500, 6],
  ['stats', 400, 6],
] as const)(
  'where polls are hours apart, /v1/%s failing for one mailbox (%i) is no account without a guard',
  async (route, status, hours) => {
    await using api = await OtherApi.start(['a', 'b', 'c']);
    const [broken] = api.boxes;
    let isOver = false;
    api.fault = ({ method, path, mailboxId: id }: Asked) =>
      isOver && method === 'GET' && path === `/v1/${route}` && id === broken.id ? answerWith(status, {}) : undefined;
    const poll = { ...calmPoll, stats: '10 */4 * * *', warmup: '20 */4 * * *' };
    await using daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API'] });
    await daemon.run(5 * hourMs);
    isOver = true;
    for (let hour = 1; hour <= hours; hour += 1) {
      await daemon.run(hourMs);
      expect([hour, (await fetch(`${daemon.url()}/readyz`)).status]).toEqual([hour, 200]);
    }
    const titles = daemon.receiver.alerts().map(({ title }) => title);
    expect(titles.filter((title) => title.includes('no mailbox can be judged'))).toEqual([]);
    // Three polls of the warm-up were due by then.
    if (hours < 12) return;
    expect(titles).toContain(`${broken.email}: NOT GUARDED, the warm-up cannot be read`);
    const table = await commandLine(['status', '--config', daemon.file]);
    expect([table.code, table.stdout]).toEqual([0, expect.stringMatching(new RegExp(`Not judged +${broken.email}`))]);
  },
);
