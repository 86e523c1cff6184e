// A secret that was replaced in its file: when it is taken over, and when Warmwarden tries again.
import { rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CommandOutcome } from '../../src/core/operator-command.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { readFiles, SecretRotation } from '../../src/daemon/reload/reloader.ts';
import { Loops } from '../../src/world/loop.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { Workplace } from '../support/process.ts';
import { silentWorld } from '../support/silent-world.ts';

const done: CommandOutcome = { result: 'done', messages: [] };
const refused: CommandOutcome = { result: 'invalid', messages: [] };
const failed: CommandOutcome = { result: 'failed', messages: [], worthRetrying: true };

/** A rotation that follows a file with a secret and another file, on a moved clock; `reload` says what the nth reload leads to. */
function following(reload: (nth: number, file: string, rotation: SecretRotation) => CommandOutcome) {
  const workplace = new Workplace();
  const [file, other] = [workplace.path('key'), workplace.path('other')];
  for (const one of [file, other]) writeFileSync(one, 'the first');
  const clock = movedClock(0);
  const world = silentWorld(clock);
  const rotation = new SecretRotation(world);
  const read = new Map([file, other].map((one) => [one, 'the first']));
  rotation.follow(read);
  let reloads = 0;
  const loop = rotation.loop(new Loops(world), async () => reload(++reloads, file, rotation));
  loop.start();
  const end = async () => {
    await loop.stop();
    expect(clock.sleeping()).toBe(0);
    workplace[Symbol.dispose]();
  };
  return { file, other, read, rotation, clock, reloads: () => reloads, [Symbol.asyncDispose]: end };
}

test.each([
  { name: 'a new secret is taken over once', outcomes: [done], reloads: 1 },
  { name: 'a refused configuration is not tried again with the same secret', outcomes: [refused], reloads: 1 },
  { name: 'a reload that failed is tried again until it succeeds', outcomes: [failed, failed, done], reloads: 3 },
])('$name', async ({ outcomes, reloads }) => {
  await using at = following((nth) => outcomes[nth - 1] ?? done);
  writeFileSync(at.file, 'the second');
  await at.clock.advance(10 * minuteMs);
  expect(at.reloads()).toBe(reloads);
});

test('a secret that is replaced again while the reload goes on is not missed', async () => {
  await using at = following((nth, file, rotation) => {
    const read = readFiles([file]);
    if (nth === 1) writeFileSync(file, 'the third');
    rotation.follow(read);
    return done;
  });
  writeFileSync(at.file, 'the second');
  await at.clock.advance(10 * minuteMs);
  expect(at.reloads()).toBe(2);
});

test('a secret that is replaced after the configuration was read, and before it is in force, is not missed', async () => {
  await using at = following(() => done);
  writeFileSync(at.file, 'the second');
  at.rotation.follow(at.read);
  await at.clock.advance(minuteMs);
  expect(at.reloads()).toBe(1);
});

test('a secret whose file stays away for a minute leads to one reload, which says so, delays no other file, and leads to one more when it is back', async () => {
  await using at = following(() => refused);
  rmSync(at.file);
  await at.clock.advance(59 * secondMs);
  expect(at.reloads()).toBe(0);
  await at.clock.advance(10 * minuteMs);
  expect(at.reloads()).toBe(1);
  writeFileSync(at.other, 'the second');
  await at.clock.advance(15 * secondMs);
  expect(at.reloads()).toBe(2);
  writeFileSync(at.file, 'the first');
  await at.clock.advance(10 * minuteMs);
  expect(at.reloads()).toBe(3);
});
