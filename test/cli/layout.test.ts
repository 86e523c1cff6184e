// How output is laid out: tables that fit the screen, text broken between words, and a demo of 80 columns.
import { describe, expect, test } from 'vitest';
import { createStory } from '../../src/cli/demo/story.ts';
import { tableText } from '../../src/cli/terminal/table.ts';
import { wrapped } from '../../src/cli/terminal/wrapped.ts';
import { systemClock } from '../../src/world/world.ts';

describe('a table', () => {
  const columns = [
    { title: 'NAME', least: 6 },
    { title: 'COUNT', numbers: true },
    { title: 'NOTE', least: 4 },
    { title: 'ID' },
  ];
  const rows = [
    ['a long name of a thing', '7', 'short', 'id-1'],
    ['b', '1200', 'a note that is rather long', 'id-22'],
  ];

  test('has numbers on the right, and is never cut where a program reads', () => {
    expect(tableText(columns, rows, Number.POSITIVE_INFINITY)).toBe(
      [
        'NAME                    COUNT  NOTE                        ID',
        'a long name of a thing      7  short                       id-1',
        'b                        1200  a note that is rather long  id-22',
        '',
      ].join('\n'),
    );
  });

  test('fits the screen by cutting the widest of the columns that may be cut', () => {
    const lines = tableText(columns, rows, 40).split('\n');
    expect(lines.slice(1, 3)).toEqual([
      'a long name…      7  short         id-1',
      'b              1200  a note that…  id-22',
    ]);
  });

  test('is a record a row on a screen that is narrower still', () => {
    expect(tableText(columns, rows, 20)).toBe(
      [
        'NAME   a long name',
        '       of a thing',
        'COUNT  7',
        'NOTE   short',
        'ID     id-1',
        '',
        'NAME   b',
        'COUNT  1200',
        'NOTE   a note that',
        '       is rather',
        '       long',
        'ID     id-22',
        '',
      ].join('\n'),
    );
  });

  test('has as many rows as two alerts on each mailbox of the largest fleet', () => {
    const many = Array.from({ length: 200_000 }, () => ['OK', 'a']);
    const text = tableText([{ title: 'STATE' }, { title: 'MAILBOX' }], many, 80);
    expect(text.split('\n')).toHaveLength(many.length + 2);
  });
});

describe('text', () => {
  test('is broken between words, and keeps its indent', () => {
    expect(wrapped('  one two three', 8)).toEqual(['  one', '  two', '  three']);
    expect(wrapped('one two three', Number.POSITIVE_INFINITY)).toEqual(['one two three']);
    expect(wrapped('', 8)).toEqual(['']);
  });

  test('keeps a command on one line, which runs as it is printed', () => {
    expect(wrapped('To undo: `warmwarden resume acme/a@b.example`, or wait.', 24)).toEqual([
      'To undo:',
      '`warmwarden resume acme/a@b.example`,',
      'or wait.',
    ]);
    expect(wrapped("Over balanced's limit: 'warmwarden undo --since 1h'.", 16)).toEqual([
      "Over balanced's",
      'limit:',
      "'warmwarden undo --since 1h'.",
    ]);
  });
});

test('the demo is told in lines of at most 80 letters, and names the command for its daemon', () => {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const story = createStory({ write, colour: false, clock: systemClock() });
  const command = 'WARMWARDEN_CONFIG=/tmp/x/demo.yaml warmwarden';
  story.begin({
    page: 'http://127.0.0.1:7025',
    simulator: 'http://127.0.0.1:40000',
    key: 'sk_live_x',
    speed: 600,
    command,
  });
  const lines = [
    { text: 'word '.repeat(50).trim(), command: false },
    { text: `${command} resume acme/a@b.example`, command: true },
  ];
  story.received({ kind: 'slack', title: 'long '.repeat(40).trim(), lines });
  story.received({ kind: 'webhook', type: 'alert.firing', id: `msg_${'x'.repeat(40)}`, signed: true, bytes: 1_234 });
  // A command stays whole, so that it runs as it is printed.
  const undo = `${' '.repeat(11)}│   ${command} resume acme/a@b.example`;
  expect(text.split('\n').filter((line) => line.length > 80 && line !== undo)).toEqual([]);
  expect(text).toContain(`${undo}\n`);
  expect(text).toContain('  WARMWARDEN_CONFIG=/tmp/x/demo.yaml warmwarden status\n');
});
