// Alertmanager takes the newest version of an alert, so a repeat has the links of the first message.
import { expect, test } from 'vitest';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import { minuteMs } from '../../src/core/time.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { startReceiver, status } from './receiver.ts';
import { rigWith } from './rig.ts';

test('an alert that is repeated for Alertmanager keeps its links', async () => {
  await using receiver = await startReceiver(() => 0);
  receiver.answer = status(200);
  const channel = (clock: Parameters<typeof alertmanagerChannel>[1]) =>
    alertmanagerChannel({ name: 'am', url: receiver.url }, clock);
  await using rig = rigWith((clock) => [channel(clock)], {}, { pageUrl: 'https://warmwarden.example' });
  const alert = sampleAlert(1);
  rig.fleet.putAlert(alert);
  rig.commit(firing(alert));
  await rig.clock.advance(10 * minuteMs);
  const links = receiver.received.map(({ body }) => {
    const [{ generatorURL, annotations }] = JSON.parse(body);
    return [generatorURL, annotations.runbook_url];
  });
  expect(links.length).toBeGreaterThan(2);
  expect(new Set(links.map(String)).size).toBe(1);
  expect(links[0]?.map(String).join(' ')).toMatch(
    /^https:\/\/warmwarden\.example\/mailboxes\/\S+ https:\S+\/runbooks#/,
  );
});
