// A mailbox that the configuration includes by name and that no list has: logged, shown, announced after two lists, ended by a reload.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const oliver = 'oliver.hart@northbeam.example';
const typo = 'olivre.hart@northbeam.example';
const scenario = { ...scenarios.calm, fleet: scenarios.calm.fleet.filter(({ email }) => email === oliver) };
const poll = { health: '0 * * * *', mailboxes: '*/5 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test('an include that no list holds is logged, shown, and announced after two lists', async () => {
  await using stage = await startMovedDaemon({
    scenario,
    poll,
    account: { mailboxes: { include: [oliver.toUpperCase(), typo, '*@elsewhere.example'] } },
  });
  await stage.run(2 * minuteMs);
  const shown = async () => {
    const page = await stage.text('/');
    const metrics = await scrape(stage.url());
    return [page.includes(`includes ${typo}`), metrics.value('mailboxes_unlisted', { account: 'agency' })];
  };
  expect([stage.notified('mailbox_missing'), await shown()]).toEqual([[], [true, 1]]);
  const fleet = (await (await fetch(`${stage.url()}/api/fleet`)).json()) as {
    accounts: { unlisted: string[] }[];
    headline: string;
  };
  expect(fleet.accounts.map(({ unlisted }) => unlisted)).toEqual([[typo]]);
  expect(fleet.headline).toMatch(
    /^NOT GUARDED: 1 mailbox that the configuration includes is not in the mailbox list\./,
  );
  await stage.run(10 * minuteMs);
  expect(stage.notified('mailbox_missing')).toEqual(['firing']);
  const [notified] = stage.told('mailbox_missing');
  expect(notified).toMatchObject({ severity: 'warning', mailbox: typo, title: `${typo}: not in the mailbox list` });
  await stage.run(30 * minuteMs);
  await stage.restart();
  await stage.run(10 * minuteMs);
  expect(stage.notified('mailbox_missing')).toEqual(['firing']);
  await stage.reload((config) => {
    config.accounts = config.accounts.map((account) => ({ ...account, mailboxes: { include: [oliver] } }));
  });
  await stage.run(10 * minuteMs);
  expect([stage.notified('mailbox_missing'), await shown()]).toEqual([
    ['firing', 'resolved'],
    [false, 0],
  ]);
});
