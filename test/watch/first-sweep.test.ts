// How far a first sweep is: said in the log once a minute while it goes on, and not of a fleet that is read at once.
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/fleet/fleet.ts';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { FirstSweep } from '../../src/watch/first-sweep.ts';
import { movedClock } from '../../src/world.ts';
import { sampleMailbox, start } from '../alert/samples.ts';

test('a long first sweep says each minute how many requests are left', async () => {
  const lines: { readonly polls: number; readonly polls_left: number }[] = [];
  const sink = new Writable({
    write: (line, _encoding, done) => {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const clock = movedClock(start);
  const fleet = new Fleet();
  const sweep = new FirstSweep({ fleet, world: { clock, random: () => 0.5, log: pino(sink) }, over: () => {} }, 'acme');
  const mailboxes = Array.from({ length: 100 }, (_, number) => sampleMailbox({ id: `m${number}` }));
  sweep.begin(mailboxes);
  for (const { id } of mailboxes) {
    sweep.asked({ route: 'warmup', mailboxId: id });
    await clock.advance(2 * secondMs);
  }
  expect(lines.map(({ polls, polls_left: left }) => [polls, left])).toEqual([
    [500, 469],
    [500, 439],
    [500, 409],
  ]);
  expect(lines).toHaveLength(Math.floor((200 * secondMs) / minuteMs));
});
