// The protocol of several replicas without a fault, state by state; with faults it is a slow proof (model.slow.ts).
import { expect, test } from 'vitest';
import { search } from './model.ts';

test('two replicas and a person, without a fault: one of them guards, and each breach and command has its end', () => {
  const { states, violation } = search(0, null);
  expect(violation).toBeNull();
  expect(states).toBeGreaterThan(1_000);
});

test('a POST that is sent before its intent is committed is found', () => {
  expect(search(0, 'sends before it commits').violation).toBe('a POST without a committed intent');
});
