// How output is laid out: tables, and a demo of 80 columns.
import { expect, test } from 'vitest';
import { createStory, greeting } from '../../src/cli/demo.ts';
import { tableLines } from '../../src/cli/terminal.ts';
import { systemClock } from '../../src/world/world.ts';

test('a table has numbers on the right, and is never cut', () => {
  const columns = [{ title: 'NAME' }, { title: 'COUNT', numbers: true }, { title: 'NOTE' }];
  const rows = [
    ['a long name of a thing', '7', 'short'],
    ['b', '1200', 'a note that is rather long'],
  ];
  expect(tableLines(columns, rows)).toEqual([
    'NAME                    COUNT  NOTE',
    'a long name of a thing      7  short',
    'b                        1200  a note that is rather long',
  ]);
});

test('the demo is told in lines of at most 80 letters, and names the command for its daemon', () => {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const story = createStory(write, systemClock());
  const command = 'WARMWARDEN_CONFIG=/tmp/x/demo.yaml warmwarden';
  write(greeting('http://127.0.0.1:7025', 'http://127.0.0.1:40000', 600, command));
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
