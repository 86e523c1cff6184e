// A wrong password is no outage: the other channels say so with the first message, and the message waits until it is mended.
import { expect, test } from 'vitest';
import { emailChannel } from '../../src/channels/email.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { people } from '../channels/people.ts';
import { MailServer } from '../support/mail-server.ts';
import { startReceiver } from './receiver.ts';
import { hookChannel, rigWith } from './rig.ts';

test('channel_failing fires with the first message, with one clear sentence, and nothing is lost meanwhile', async () => {
  await using server = await MailServer.start({ password: 'right' });
  await using receiver = await startReceiver(() => 0);
  const mailTo = (url: string) =>
    emailChannel({
      name: 'mail',
      url,
      from: 'alerts@acme.example',
      to: ['ops@acme.example'],
      allowPlain: false,
      ...people,
    });
  const hooks = { match: { rule: ['channel_failing'] }, channels: ['hook'] };
  const routes = [{ match: { rule: ['stale_data'] }, channels: ['mail'] }, hooks];
  await using rig = rigWith((clock) => [mailTo(server.url('127.0.0.1', 'wrong')), hookChannel(receiver.url, clock)], {
    routes,
  });
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(2 * minuteMs);
  const alerts = receiver.received.flatMap(({ body }) => JSON.parse(body).data.alerts);
  expect(alerts.map(({ status, title }) => `${status}: ${title}`)).toEqual([
    'firing: channel mail does not accept messages',
  ]);
  expect(alerts[0].sentences).toContain(
    'The mail server refuses the user name or the password in url (535 5.7.8 Wrong password).',
  );
  const before = server.attempts;
  await rig.clock.advance(3 * hourMs);
  expect(server.attempts - before).toBeLessThan(3 * 60);
  expect(rig.store.deliveries().find(({ channel }) => channel === 'mail')?.state).toBe('pending');
  await rig.reconfigure([mailTo(server.url()), hookChannel(receiver.url, rig.clock)]);
  await rig.clock.advance(hourMs);
  expect(server.received).toHaveLength(1);
  expect(JSON.parse(receiver.received.at(-1)?.body ?? '').data.title).toContain('accepts messages again');
});
