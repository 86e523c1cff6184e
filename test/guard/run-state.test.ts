// What the status word of a warm-up means, with and without mail that left.
import { expect, test } from 'vitest';
import { runStateOf, type StatusWords, wordState } from '../../src/core/guard/run-state.ts';
import { addDays } from '../../src/core/time.ts';
import { now, row, today } from './samples.ts';

const words: StatusWords = { paused: ['paused', 'on_hold'], running: ['active'], notRunning: ['suspended'] };
const busy = [row(today, 20, 0)];

test('a listed word says what it is, in any case and with spaces around', () => {
  const said = ['paused', 'PAUSED', ' On_Hold\n', 'Active', 'suspended', ' SUSPENDED'];
  const states = ['paused', 'paused', 'paused', 'running', 'not_running', 'not_running'];
  expect(said.map((word) => wordState(word, words))).toEqual(states);
});

test('no word, spaces and a word that nobody listed say nothing', () => {
  const said = [null, '', '  ', 'hibernating', 'on hold', 'paused!', 'unpaused', '__proto__'];
  expect(said.map((word) => wordState(word, words))).toEqual(said.map(() => null));
});

test('a listed word is believed whatever the emails say', () => {
  expect(runStateOf('paused', words, busy, now)).toBe('paused');
  expect(runStateOf('suspended', words, busy, now)).toBe('not_running');
  expect(runStateOf('active', words, [], now)).toBe('running');
  expect(runStateOf('active', words, null, now)).toBe('running');
});

test('an unknown word counts as running when mail left today or yesterday, one day ahead of UTC included', () => {
  const withMailOn = (age: number) => runStateOf('hibernating', words, [row(addDays(today, -age), 1, 0)], now);
  expect([3, 2, 1, 0, -1, -2].map(withMailOn)).toEqual([
    'unknown',
    'unknown',
    'running',
    'running',
    'running',
    'unknown',
  ]);
  expect(runStateOf(null, words, busy, now)).toBe('running');
});

test('an unknown word without mail, without readable counts or without rows is unknown', () => {
  const silent = [row(today, 0, 0), row(addDays(today, -1), null, 0), row(null, 20, 0), row(today, -1, 0)];
  expect(runStateOf('hibernating', words, silent, now)).toBe('unknown');
  expect(runStateOf('hibernating', words, [], now)).toBe('unknown');
  expect(runStateOf('hibernating', words, null, now)).toBe('unknown');
});

test('bounces alone are no sign that a mailbox sends', () => {
  expect(runStateOf('hibernating', words, [row(today, 0, 3)], now)).toBe('unknown');
});
