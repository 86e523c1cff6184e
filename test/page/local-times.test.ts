// The page's times as its script shows them to a reader in another zone.
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { localTimes } from '../../src/web/page/assets/scripts.ts';

function shownIn(timeZone: string, element: { title: string; show?: string; text?: string }) {
  const dateTime = '2026-03-12T03:12:07.000Z';
  const time = {
    dateTime,
    title: element.title,
    textContent: element.text ?? '4 min ago',
    dataset: { show: element.show },
  };
  class DateTimeFormat extends Intl.DateTimeFormat {
    constructor(locale: string, options: object) {
      super(locale, { ...options, timeZone });
    }
  }
  const document = { querySelectorAll: (what: string) => (what === 'time[datetime]' ? [time] : []) };
  runInContext(localTimes, createContext({ document, Intl: { DateTimeFormat } }));
  return [time.textContent, time.title];
}

test('a reader sees the clock, days and moments of their zone with its offset from UTC; how long ago stays', () => {
  const title = '2026-03-12T03:12:07.000Z';
  const moment = '12 Mar 2026, 04:12 UTC+1';
  expect(shownIn('Europe/Berlin', { title, show: 'clock', text: '03:12:07 UTC' })).toEqual(['04:12:07 UTC+1', moment]);
  expect(shownIn('Europe/Berlin', { title: `read at ${title}` })).toEqual(['4 min ago', `read at ${moment}`]);
  expect(shownIn('UTC', { title, show: 'clock' })).toEqual(['03:12:07 UTC', '12 Mar 2026, 03:12 UTC']);
  expect(shownIn('America/New_York', { title: '', show: 'day', text: '2026-03-12' })).toEqual(['11 Mar 2026', '']);
  expect(shownIn('Asia/Kolkata', { title: '', show: 'moment' })[0]).toBe('12 Mar 2026, 08:42 UTC+5:30');
});
