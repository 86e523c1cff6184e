// Shows the page's times to its reader: moments in their zone with the offset, and how long ago by the daemon's clock.
// Without it they are in UTC and as of the page, and say so. Served as /assets/local-times.js.

/** `data-show` on a <time> says what its text is; its title holds the moment in any case. Words as in roughSpanText. */
export const localTimes = `'use strict';
const day = { year: 'numeric', month: 'short', day: 'numeric' };
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'shortOffset' };
const formatOf = (options) => new Intl.DateTimeFormat('en-GB', options);
const moment = formatOf({ ...day, ...clock });
const formats = { clock: formatOf({ ...clock, second: '2-digit' }), day: formatOf(day), moment };
const spans = [[6e4, 1e3, 's'], [72e5, 6e4, 'min'], [1728e5, 36e5, 'h'], [Infinity, 864e5, 'days']];
function spanText(ms) {
  const [, unit, word] = spans.find(([below]) => ms < below);
  return Math.round(ms / unit) + '\\u00a0' + word;
}
// The browser writes GMT+0 where everything else here says UTC.
const shownBy = (format, at) => format.format(at).replace(/GMT(\\+0$)?/, 'UTC');
const lasting = {
  ago: (ms) => (ms < 0 ? 'in ' + spanText(-ms) : spanText(ms) + ' ago'),
  for: (ms) => 'for ' + spanText(Math.max(0, ms)),
  age: (ms) => spanText(Math.max(0, ms)),
};
function showTimes(root, now) {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.dateTime);
    const { show } = element.dataset;
    if (element.dataset.shown !== element.dateTime) {
      element.dataset.shown = element.dateTime;
      element.title = element.title.replace(element.dateTime, shownBy(moment, at));
      if (formats[show]) element.textContent = shownBy(formats[show], at);
    }
    if (now !== undefined && lasting[show]) {
      const words = lasting[show](now - at);
      if (element.textContent !== words) element.textContent = words;
    }
  }
}
showTimes(document);
`;
