// Odd requests at the command socket: refused in a sentence, and the daemon goes on.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { askDaemon } from '../../src/cli/daemon.ts';
import { minuteMs } from '../../src/core/time.ts';
import { socketPathOf } from '../../src/operations/socket.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

function ask(store: string, method: string, path: string, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: socketPathOf(store), method, path }, (answer) => {
      text(answer).then(resolve, reject);
    });
    asking.once('error', reject);
    asking.end(body);
  });
}

test('a path, a body or a span that makes no sense is refused', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(oliver), poll });
  await stage.run(5 * minuteMs);
  const store = `${stage.folder}/data/warmwarden.db`;
  const answers = [
    await ask(store, 'GET', '//'),
    await ask(store, 'POST', '/pause', '{"mailbox":'),
    await ask(store, 'POST', '/pause', '[]'),
    await ask(store, 'POST', '/pause', `{"mailbox": "${'x'.repeat(1_000_000)}"}`),
    await ask(store, 'POST', '/__proto__', '{}'),
    await ask(store, 'POST', '/mode', JSON.stringify({ mailbox: oliver, mode: 'warp' })),
  ];
  expect(answers.map((answer) => JSON.parse(answer).result)).toEqual([
    'failed',
    'failed',
    'invalid',
    'failed',
    'invalid',
    'invalid',
  ]);
  expect(JSON.parse(answers[3] ?? '')).toMatchObject({ messages: ['The request is larger than 64 KiB.'] });
  const asker = { by: 'a test', reason: 'odd' };
  const off = { ...asker, off: true, account: null, mailbox: null };
  for (const ms of [-5 * minuteMs, 1e300]) {
    expect(await askDaemon(store, 'writes', { ...off, for_seconds: ms / 1_000 })).toMatchObject({ result: 'invalid' });
    expect(
      await askDaemon(store, 'silence-add', { ...asker, match: { account: ['agency'] }, for_seconds: ms / 1_000 }),
    ).toMatchObject({
      result: 'invalid',
    });
  }
  expect(stage.fleet().writesOff(stage.clock.now())).toEqual([]);
  expect(stage.fleet().silences(stage.clock.now())).toEqual([]);
});
