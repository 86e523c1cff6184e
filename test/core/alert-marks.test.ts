// The numbers that stand for the names of alerts in a storm's message: stored, so always the same, and each name's own.
import { expect, test } from 'vitest';
import { type About, CoveredAlerts, isAboutAlert, markOf } from '../../src/core/alert.ts';

const nameOf = (number: number) =>
  `mailbox_disconnected|agency-1|00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}|`;
const names = Array.from({ length: 300 }, (_, number) => nameOf(number));
const storm: About = { alerts: ['incident|inc_1'], marks: Float64Array.from(names, markOf).sort() };

test('a name has the same number for ever, because stores keep it', () => {
  expect(['', 'stale_data|acme||', nameOf(7)].map(markOf)).toEqual([
    250_348_346_448_124, 67_204_283_016_422, 255_916_473_651_872,
  ]);
});

test('a hundred thousand names that are nearly the same have as many numbers', () => {
  const marks = new Set(Array.from({ length: 100_000 }, (_, number) => markOf(nameOf(number))));
  expect(marks.size).toBe(100_000);
  for (const mark of marks) if (!Number.isSafeInteger(mark) || mark < 0) throw new Error(`${mark} is no mark`);
});

test('a message is about what it names and what it has a number of, and about nothing else', () => {
  expect(names.every((name) => isAboutAlert(storm, name))).toBe(true);
  expect([isAboutAlert(storm, 'incident|inc_1'), isAboutAlert(storm, nameOf(300)), isAboutAlert(storm, '')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isAboutAlert({ alerts: [nameOf(1)] }, nameOf(2))).toBe(false);
});

test.each<[string, About, boolean]>([
  ['names one of them', { alerts: [nameOf(299)] }, true],
  ['names another', { alerts: [nameOf(300)] }, false],
  ['is about the same incident', { alerts: ['incident|inc_1'] }, true],
  ['has the number of one of them', { alerts: [], marks: Float64Array.of(1, markOf(nameOf(299))).sort() }, true],
  ['has numbers of others', { alerts: [], marks: Float64Array.of(1, markOf(nameOf(300))).sort() }, false],
])('a message that %s is seen to be about the same, or not, whichever came first', (_, other, isSame) => {
  const [after, before] = [new CoveredAlerts(), new CoveredAlerts()];
  after.add(storm);
  before.add(other);
  expect([after.hasAnyOf(other), before.hasAnyOf(storm)]).toEqual([isSame, isSame]);
});
