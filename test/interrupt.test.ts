// Many short waits end with one signal.
import { expect, test } from 'vitest';
import { Relay } from '../src/world/interrupt.ts';
import { systemClock } from '../src/world/world.ts';

test('a relay ends everybody who has joined and not left, once', () => {
  const stop = new AbortController();
  const relay = new Relay(stop.signal);
  const ended: string[] = [];
  const [stays, leaves] = [() => ended.push('stays'), () => ended.push('leaves')];
  relay.addEventListener('abort', stays);
  relay.addEventListener('abort', leaves);
  relay.removeEventListener('abort', leaves);
  expect(relay.aborted).toBe(false);
  stop.abort('over');
  stop.abort('again');
  expect([ended, relay.aborted, relay.reason]).toEqual([['stays'], true, 'over']);
});

test('a relay of a signal that has ended says so', () => {
  const relay = new Relay(AbortSignal.abort('before'));
  expect([relay.aborted, relay.reason]).toEqual([true, 'before']);
});

/** Counts who has joined and not left. */
class CountedRelay extends Relay {
  joined = 0;

  override addEventListener(type: 'abort', end: () => void): void {
    this.joined += 1;
    super.addEventListener(type, end);
  }

  override removeEventListener(type: 'abort', end: () => void): void {
    this.joined -= 1;
    super.removeEventListener(type, end);
  }
}

test('a sleep ends with the signal behind a relay, and leaves nothing with it when it ends by itself', async () => {
  const stop = new AbortController();
  const relay = new CountedRelay(stop.signal);
  await systemClock().sleep(1, relay);
  expect(relay.joined).toBe(0);
  const sleeping = systemClock().sleep(60_000, relay);
  expect(relay.joined).toBe(1);
  stop.abort();
  await sleeping;
});
