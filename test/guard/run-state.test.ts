// What the status word of a warm-up means, with and without mail that left.
import { expect, test } from 'vitest';
import { runStateOf, type StatusWords, wordState } from '../../src/core/guard/run-state.ts';
import { addDays } from '../../src/core/time.ts';
import { now, row, today } from './samples.ts';

const words: StatusWords = { paused: ['paused', 'on_hold'], running: ['active'], notRunning: ['suspended'] };

test('a listed word says what it is, in any case and with spaces around', () => {
  const said = ['paused', 'PAUSED', ' On_Hold\n', 'Active', 'suspended', ' SUSPENDED'];
  const states = ['paused', 'paused', 'paused', 'running', 'not_running', 'not_running'];
  expect(said.map((word) => wordState(word, words))).toEqual(states);
});

test('no word, spaces and a word that nobody listed say nothing', () => {
  const said = [null, '', '  ', 'hibernating', 'on hold', 'paused!', 'unpaused', '__proto__'];
  expect(said.map((word) => wordState(word, words))).toEqual(said.map(() => null));
});

const on = (age: number) => [row(addDays(today, -age), 1, 0)];
const silent = [row(today, 0, 0), row(addDays(today, -1), null, 0), row(null, 20, 0), row(today, -1, 0)];

test.each([
  ['a listed word, whatever the emails say', 'paused', on(0), 'paused'],
  ['a listed word, whatever the emails say', 'suspended', on(0), 'not_running'],
  ['a listed word without mail', 'active', [], 'running'],
  ['a listed word without rows', 'active', null, 'running'],
  ['an unknown word with mail today', 'hibernating', on(0), 'running'],
  ['an unknown word with mail yesterday', 'hibernating', on(1), 'running'],
  ['an unknown word with mail two days ago', 'hibernating', on(2), 'unknown'],
  ['an unknown word with mail a day ahead of UTC', 'hibernating', on(-1), 'running'],
  ['an unknown word with mail two days ahead', 'hibernating', on(-2), 'unknown'],
  ['no word with mail today', null, on(0), 'running'],
  ['an unknown word without mail that can be read', 'hibernating', silent, 'unknown'],
  ['an unknown word without rows', 'hibernating', null, 'unknown'],
  ['an unknown word with bounces alone', 'hibernating', [row(today, 0, 3)], 'unknown'],
])('%s: %s', (_, word, rows, state) => {
  expect(runStateOf(word, words, rows, now)).toBe(state);
});
