// Early lists are polite: rarer while they show nothing new, and never more bytes than all other polls together.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EarlyLists } from '../../src/api/poll/poll.ts';

const spacing = { leastMs: 6_000, cadenceMs: 60_000 };

test('the time between lists that stir nothing doubles up to the cadence, and one that stirs starts over', () => {
  const lists = new EarlyLists();
  const waits = Array.from({ length: 6 }, () => {
    const wait = lists.mayAskFrom(0, spacing);
    lists.listed(false);
    return wait;
  });
  expect(waits).toEqual([6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  lists.listed(true);
  expect(lists.mayAskFrom(1_000, spacing)).toBe(7_000);
});

test('where requests are so few that the least spacing is beyond the cadence, the spacing holds', () => {
  expect(new EarlyLists().mayAskFrom(0, { leastMs: 600_000, cadenceMs: 60_000 })).toBe(600_000);
});

test('an early list waits until the other polls have brought as many bytes as both lists; one that the cadence asks for counts too', () => {
  const lists = new EarlyLists();
  lists.received('mailboxes', 1_000);
  expect(lists.mayAskFrom(0, spacing)).toBeNull();
  lists.received('stats', 1_999);
  expect(lists.mayAskFrom(0, spacing)).toBeNull();
  lists.received('health', 1);
  expect(lists.mayAskFrom(0, spacing)).toBe(6_000);
  lists.received('mailboxes', 1_000);
  expect(lists.mayAskFrom(0, spacing)).toBeNull();
});

test('a sweep of the fleet is not followed by a burst of lists: two at most', () => {
  const lists = new EarlyLists();
  lists.received('mailboxes', 1_000);
  for (let answer = 0; answer < 100; answer += 1) lists.received('stats', 5_000);
  const read = () => lists.received('mailboxes', 1_000);
  read();
  expect(lists.mayAskFrom(0, spacing)).toBe(6_000);
  read();
  expect(lists.mayAskFrom(0, spacing)).toBeNull();
});

test('lists of the cadence that are larger than all else keep early ones away only until two lists have been made up for', () => {
  const lists = new EarlyLists();
  for (let list = 0; list < 100; list += 1) lists.received('mailboxes', 1_000);
  lists.received('stats', 2_999);
  expect(lists.mayAskFrom(0, spacing)).toBeNull();
  lists.received('stats', 1);
  expect(lists.mayAskFrom(0, spacing)).toBe(6_000);
});

test('whatever the sizes, early lists of one size never bring more bytes than all other polls', () => {
  const bytes = fc.integer({ min: 0, max: 5_000 });
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 200 }), fc.integer({ min: 1, max: 20_000 }), (polls, listBytes) => {
      const lists = new EarlyLists();
      lists.received('mailboxes', listBytes);
      let [listed, others] = [listBytes, 0];
      for (const size of polls) {
        lists.received('stats', size);
        others += size;
        if (lists.mayAskFrom(0, spacing) === null) continue;
        lists.received('mailboxes', listBytes);
        listed += listBytes;
      }
      return listed <= Math.max(listBytes, others);
    }),
    { numRuns: 100 },
  );
});
