// A mailbox list against what is known: who arrives, changes, is absent, is gone. docs/faults.md H23, S8.
import { expect, test } from 'vitest';
import { compareRoster, type RosterChanges } from '../../src/account/record/roster.ts';
import type { MailboxEntry } from '../../src/core/answers.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { minuteMs } from '../../src/core/time.ts';
import { actionOf, arrivedMailbox, now } from '../store/records.ts';

const ids = (mailboxes: readonly MailboxState[]) => mailboxes.map(({ id }) => id);
const fleetOf = (count: number) => Array.from({ length: count }, (_, index) => arrivedMailbox(`m${index}`));
const entriesOf = (mailboxes: readonly MailboxState[]) => mailboxes.map(({ entry }) => entry.answer);

/** Compares lists one after the other, as the recorder does. */
function roster(known: readonly MailboxState[]) {
  let mailboxes = known;
  const absentSince = new Map<string, number>();
  return (at: number, entries: readonly MailboxEntry[], truncated = false): RosterChanges => {
    const list = { at, answer: { mailboxes: entries, truncated } };
    const changes = compareRoster({
      account: 'acme',
      known: mailboxes,
      list,
      selects: ({ id }) => id !== 'not ours',
      expects: ['Box-1@ACME.example', 'other@acme.example', 'm1'],
      absentSince,
      elsewhere: new Map(),
    });
    const replaced = new Map([...changes.changed, ...changes.absent].map((one) => [one.id, one]));
    const gone = new Set(ids(changes.left));
    mailboxes = [...mailboxes.map((one) => replaced.get(one.id) ?? one), ...changes.arrived].filter(
      ({ id }) => !gone.has(id),
    );
    for (const { id } of changes.changed) absentSince.delete(id);
    for (const { id } of changes.absent) if (!absentSince.has(id)) absentSince.set(id, at);
    return changes;
  };
}

test('an entry that says anything else is a change', () => {
  const [known] = fleetOf(1);
  const entry = known?.entry.answer ?? expect.fail();
  const others: Omit<MailboxEntry, 'id'> = {
    ...{ email: 'other@one.example', provider: 'other', status: 'paused' },
    ...{ healthScore: 1, dailyLimit: 2, warmupDay: 3 },
  };
  for (const [field, value] of Object.entries(others)) {
    expect([field, entry[field as keyof MailboxEntry]]).not.toEqual([field, value]);
    expect([field, ids(roster(fleetOf(1))(now, [{ ...entry, [field]: value }]).changed)]).toEqual([field, ['m0']]);
  }
});

test.each([
  [{ status: 'paused' }, ['stats', 'mailbox']],
  [{ healthScore: 80 }, ['stats']],
  [{ healthScore: 100 }, []],
  [{ healthScore: null }, []],
  [{ dailyLimit: 1 }, ['stats']],
  [{ dailyLimit: 80 }, []],
  [{ warmupDay: 13 }, []],
  [{ email: 'renamed@one.example' }, []],
])('an entry changed to %j: what is asked for at once is %j', (change, routes) => {
  const [mailbox = arrivedMailbox('m0')] = fleetOf(1);
  const entry = { ...mailbox.entry.answer, ...change };
  const { changed, stirred } = roster([mailbox])(now + 5, [entry]);
  expect(changed).toEqual([{ ...mailbox, email: entry.email, entry: { at: now + 5, answer: entry } }]);
  expect(stirred).toEqual(routes.length > 0 ? [{ id: 'm0', routes }] : []);
});

test('a mailbox whose action is in progress leaves after the outcome, whether a list lacks it or it is excluded', () => {
  const fleet = fleetOf(6).map((one) => ({ ...one, ...(one.id === 'm5' && { id: 'not ours' }) }));
  const open = fleet.map((one, index) => (index < 4 ? one : { ...one, action: actionOf(one.id, { state: 'open' }) }));
  for (const [mailboxes, left] of [
    [open, []],
    [fleet, ['not ours', 'm4']],
  ] as const) {
    const next = roster(mailboxes);
    const listed = entriesOf(mailboxes).filter(({ id }) => id !== 'm4');
    expect([...ids(next(now, listed).left), ...ids(next(now + minuteMs, listed).left)]).toEqual(left);
  }
});

test('one list without a mailbox is no departure, two in a row are; a return in between starts over', () => {
  const fleet = fleetOf(5);
  const without = entriesOf(fleet.slice(1));
  const compare = roster(fleet);
  expect(compare(now, without)).toMatchObject({ absent: [{ id: 'm0', missingLists: 1 }], left: [] });
  expect(compare(now + minuteMs, entriesOf(fleet)).changed).toMatchObject([{ id: 'm0', missingLists: 0 }]);
  expect(ids(compare(now + 2 * minuteMs, without).left)).toEqual([]);
  expect(ids(compare(now + 3 * minuteMs, without).left)).toEqual(['m0']);
});

test('a fifth and less is believed at the second list', () => {
  const fleet = fleetOf(20);
  const short = entriesOf(fleet.slice(4));
  const compare = roster(fleet);
  compare(now, short);
  expect(compare(now + minuteMs, short).left).toHaveLength(4);
});

test('names of the configuration that no entry has are unlisted; of a truncated list nothing is', () => {
  const fleet = fleetOf(2);
  const [entry] = entriesOf(fleetOf(1));
  if (!entry) throw new Error('there is no entry');
  const named = { ...entry, id: 'x', email: 'box-1@acme.example' };
  const list = roster(fleet);
  expect(list(now, entriesOf(fleet), true).unlisted).toBeNull();
  expect(list(now, entriesOf(fleet)).unlisted).toEqual(['Box-1@ACME.example', 'other@acme.example']);
  expect(list(now, [...entriesOf(fleet), named]).unlisted).toEqual(['other@acme.example']);
  expect(list(now + minuteMs, entriesOf(fleet)).unlisted, 'absent once is not gone').toEqual(['other@acme.example']);
  expect(list(now + 2 * minuteMs, entriesOf(fleet)).unlisted).toEqual(['Box-1@ACME.example', 'other@acme.example']);
});

test('a list of which the configuration selects nobody falls short, unless names say so one by one', () => {
  const of = (expects: readonly string[], isOurs: boolean) =>
    compareRoster({
      ...{
        account: 'acme',
        known: [],
        list: { at: now, answer: { mailboxes: entriesOf(fleetOf(2)), truncated: false } },
      },
      ...{ selects: () => isOurs, expects, absentSince: new Map(), elsewhere: new Map() },
    }).shortage;
  expect(of([], false)).toEqual({ listed: 2, missing: [], truncated: false });
  expect([of(['other@acme.example'], false), of([], true)]).toEqual([null, null]);
});
