// Which accounts go on under another name, from what is known of them before and after.
import { expect, test } from 'vitest';
import { renamesOf } from '../../src/daemon/reload/changes.ts';

/** `name: api key`, by name. */
const accounts = (text: string) =>
  text.split(', ').flatMap((one) => {
    const [name = '', api = '', key = ''] = one.split(/[: ]+/);
    return name === '' ? [] : [{ name, api, digest: `${api} ${key}` }];
  });

test.each([
  ['nothing changes', 'a: U k1, b: U k2', 'a: U k1, b: U k2', ''],
  ['a key is rotated', 'a: U k1', 'a: U k9', ''],
  ['another name', 'a: U k1, b: U k2', 'c: U k1, b: U k2', 'a>c'],
  ['another name and another key: the lists find out', 'a: U k1', 'c: U k9', ''],
  ['one client goes, another one comes', 'a: U k1, b: U k2', 'c: U k3, b: U k2', ''],
  ['names are swapped', 'a: U k1, b: V k2', 'a: V k2, b: U k1', 'b>a a>b'],
  ['three names in a circle', 'a: U k1, b: V k2, c: W k3', 'a: V k2, b: W k3, c: U k1', 'b>a c>b a>c'],
  ['base_urls are swapped', 'a: U k1, b: V k2', 'a: V k1, b: U k2', ''],
  ['a base_url is new', 'a: U k1, b: V k2', 'a: W k1, b: V k2', ''],
  ['a base_url is shared from now on', 'a: U k1, b: V k2', 'a: V k1, b: V k2', ''],
  ['the key of two accounts is the same', 'a: U k1', 'b: U k1, c: U k1', ''],
  ['keys are swapped under one base_url', 'a: U k1, b: U k2', 'a: U k2, b: U k1', 'b>a a>b'],
  ['nothing was known', '', 'a: U k1', ''],
])('%s', (_, before, after, expected) => {
  const moves = renamesOf(accounts(before), accounts(after));
  expect(moves.map(({ from, to }) => `${from}>${to}`).join(' ')).toBe(expected);
});
