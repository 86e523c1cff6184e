// What a message is about, in the store: the same when read back, and a damaged row is named.
import { expect, test } from 'vitest';
import { DamagedRowError } from '../../src/store/failure.ts';
import { aboutText, storedAbout } from '../../src/store/schema/stored.ts';

test.each([
  ['nothing', { alerts: [] }],
  ['alerts', { alerts: ['stale_data|acme|m1|', 'api_down|acme||'] }],
  ['a storm', { alerts: ['api_down|acme||'], marks: Float64Array.of(1, 2 ** 47, 2 ** 48 - 1) }],
  ['a storm of nothing', { alerts: [], marks: new Float64Array() }],
])('%s', (_, about) => {
  expect(storedAbout(aboutText(about), 'd1')).toEqual(about);
});

test.each([
  ...['', '["a"', 'null', '{}', '"a"', '[1]', '["a",null]'],
  ...['AAAA', 'AAAAAAAAAAA', 'AAAAAAAAAA\u0000=', '%', 'AAAAAAAAAAA=AAAA', '{}'].map(
    (marks) => `["a","marks|${marks}"]`,
  ),
])('a row with %s in it is damaged', (text) => {
  expect(() => storedAbout(text, 'd1')).toThrow(DamagedRowError);
  expect(() => storedAbout(text, 'd1')).toThrow('d1');
});
