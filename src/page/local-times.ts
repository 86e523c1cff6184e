// The page's one script: shows its times in the reader's zone, with the offset. Without it they are in UTC, and say so.
// Served as /assets/local-times.js.

/** `data-show` on a <time> says what its text is: a clock, a day or a moment. Its title is a moment in any case. */
export const localTimes = `'use strict';
const day = { year: 'numeric', month: 'short', day: 'numeric' };
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'shortOffset' };
const formatOf = (options) => new Intl.DateTimeFormat('en-GB', options);
const formats = { clock: formatOf({ ...clock, second: '2-digit' }), day: formatOf(day), moment: formatOf({ ...day, ...clock }) };
for (const element of document.querySelectorAll('time[datetime]')) {
  const at = new Date(element.dateTime);
  element.title = element.title.replace(element.dateTime, formats.moment.format(at));
  const format = formats[element.dataset.show];
  if (format) element.textContent = format.format(at);
}
`;
