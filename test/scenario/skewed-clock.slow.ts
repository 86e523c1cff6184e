// A replica whose clock is really off, by libfaketime: it says so beyond 2 s; beyond 30 s it takes nothing, is red and
// tells people while nobody guards, and goes on by itself when the clock is right again.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { week } from '../support/other-api.ts';
import { isFaketimeInstalled, OtherClock } from '../support/other-clock.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Workplace } from '../support/process.ts';
import { ReplicaCrew } from '../support/replica-crew.ts';
import { until } from '../support/until.ts';

const lookEveryMs = 250;

test.skipIf(!isFaketimeInstalled)(
  'a replica whose clock is off by more than 30 s takes no account until it is right',
  async () => {
    using place = new Workplace();
    const clock = new OtherClock(place.path('clock'));
    clock.set(5);
    await using postgres = await TestPostgres.start();
    await using crew = await ReplicaCrew.start(postgres, 2, ['a', 'b'], {
      envOf: (index) => (index === 1 ? clock.env : {}),
    });
    const [right, off] = crew.slots;
    if (!right || !off) throw new Error('two replicas');
    await off.daemon.said('the clock of this machine and that of the PostgreSQL server differ: synchronize them');
    expect(right.daemon.output).not.toContain('synchronize them');
    const ready = async () => (await fetch(`${await off.url}/readyz`)).status;
    const scopes = async () => [...(await crew.owners()).keys()];

    // It gives what it has to nobody, and takes nothing: here the other one has all of it first.
    off.daemon.kill('SIGTERM');
    await off.daemon.ended;
    clock.set(45);
    crew.restart(off);
    await off.url;
    await off.daemon.said('this replica takes no more accounts');
    await crew.untilShared();
    expect(await ready()).toBe(200);

    await right.daemon.killNow();
    const ofStore = () => crew.receiver.notified.filter(({ text }) => text.includes('"store_failing"'));
    await off.daemon.said('a replica is silent: the others take over its work');
    await until('it to be red', async () => {
      await sleep(lookEveryMs);
      return (await ready()) === 503;
    });
    expect(await scopes()).toEqual([]);
    await until('people to be told, although nobody has what sends messages', () => ofStore().length > 0);
    expect(ofStore().map(({ text }) => text)).toEqual([
      expect.stringMatching(/clock of process \d+ on \S+ is 4[3-7] s ahead of the clock of the PostgreSQL server/),
    ]);

    clock.set(0);
    const breach = crew.api('a').add('one@a.example', { days: week(40, 4) });
    const told = () =>
      crew.receiver.alerts().filter(({ rule, mailbox }) => rule === 'guard_acted' && mailbox === breach.email);
    await until('it to guard', async () => (await ready()) === 200);
    await until('the breach to be acted upon and told', () => told().length > 0);
    await until('the end to be told', () => ofStore().length > 1);
    expect(ofStore().map(({ text }) => JSON.parse(text).type)).toEqual(['alerts.firing', 'alerts.resolved']);
    expect([crew.api('a').posts(breach).length, told().length, off.daemon.over]).toEqual([1, 1, false]);
  },
);
