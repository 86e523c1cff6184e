// Protection that a person switches off is news: by a reload, and in the store until it is on again.
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const hourly = '0 * * * *';
const poll = { health: hourly, mailboxes: hourly, stats: hourly, warmup: hourly, mailbox: hourly };
const begin = () => startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, second: [oliver] });
type Stage = Awaited<ReturnType<typeof begin>>;

const titles = ({ receiver }: Stage) =>
  receiver
    .alerts()
    .filter(({ rule }) => rule === 'protection_off')
    .map(({ status, title }) => `${status}: ${title}`);

describe('what a reload switches off', () => {
  it('is announced with who and until when, repeated daily, and ends when it is on again, also after a restart', async () => {
    await using stage = await begin();
    await stage.run(10 * minuteMs);
    await stage.reload((config) => Object.assign(config, { guard: { enforce: false } }));
    await stage.run(2 * minuteMs);
    expect(titles(stage)).toEqual(['firing: enforcement is OFF for all accounts']);
    const [said] = stage.told('protection_off');
    expect(said?.sentences.join(' ')).toMatch(
      /^Reloaded by a test on .* stays off until the configuration says guard.enforce: true/,
    );
    await stage.restart();
    await stage.run(dayMs + hourMs);
    expect(titles(stage).slice(1)).toEqual(['reminder: enforcement is OFF for all accounts']);
    await stage.reload((config) => {
      Object.assign(config, { guard: { enforce: true } });
      Object.assign(config.accounts[0] ?? {}, { overrides: [{ match: '*@vip.example', guard: { enforce: false } }] });
    });
    await stage.run(6 * minuteMs);
    expect(titles(stage).slice(2).sort()).toEqual([
      'firing: enforcement is OFF for mailboxes of agency that match *@vip.example',
      'resolved: enforcement is on again for all accounts',
    ]);
  });
});
