// Scripts of the page: one shows times in the reader's format, the other keeps the page live.

// Shows times in the reader's time zone with the offset, and ages by the daemon's clock. Without the script, times are
// in UTC, ages are those at the time of the page, and the page says so. Served as /assets/local-times.js.

/** The attribute `data-show` of a <time> selects the format of its text. The words match roughSpanText. */
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

// Script of live pages, served as /assets/live.js. It listens to the stream, fetches the view after a change, and
// reports failures. It keeps the reader's input, opened details, scroll position and focus. It runs after local-times.js, whose
// showTimes and spanText it uses.

export const liveScript = `'use strict';
{
const source = document.documentElement.dataset.events;
const asOf = document.getElementById('as-of');
const broken = document.getElementById('broken');
const news = document.getElementById('news');
/** Returns an instant by two clocks: one stops while the machine sleeps, and people may set the other. */
const instant = () => ({ steady: performance.now(), wall: Date.now() });
const msSince = ({ steady, wall }) => Math.max(performance.now() - steady, Date.now() - wall);
/** The server sends something every 15 seconds. */
const silentMs = 30_000;
/** Time of the page on the daemon's clock, and the instant of its fetch. */
let heard = asOf ? new Date(asOf.dateTime).getTime() : 0, heardAt = instant();
const now = () => heard + msSince(heardAt);
/** The open stream, the instant of its last event, and the reason why the page is not live, or null. */
let stream = null, stirredAt = instant(), reason = null;
let failures = 0, retryAt = 0, retry = 0;
/** Time of the next fetch, or Infinity if nothing has changed. */
let dueAt = Infinity, fetchedAt = 0, isFetching = false;

/** Makes an element like another one, and keeps what stays the same. The contents of a form belong to the reader. */
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) return void from.replaceWith(to);
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.nodeName === 'FORM' || from === broken || from === news) return;
  const isOwn = (name) => name === 'open' && from.nodeName === 'DETAILS';
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && !isOwn(name)) from.removeAttribute(name);
  for (const { name, value } of [...to.attributes]) {
    if (from.getAttribute(name) !== value && !isOwn(name)) from.setAttribute(name, value);
  }
  arrange(from, [...to.childNodes]);
}
const keyOf = (node) => node.id || node.getAttribute?.('aria-labelledby') || '';
/** Replaces the children of an element. A child with a key is kept, wherever it was. */
function arrange(parent, wanted) {
  const byKey = new Map([...parent.children].map((child) => [keyOf(child), child]));
  byKey.delete('');
  const kept = new Set(wanted.map((child) => byKey.get(keyOf(child))));
  let at = parent.firstChild;
  const drop = () => { const gone = at; at = at.nextSibling; gone.remove(); };
  for (const child of wanted) {
    const key = keyOf(child);
    while (at && (keyOf(at) ? !kept.has(at) : byKey.has(key))) drop();
    const known = key ? byKey.get(key) : at && !keyOf(at) && at.nodeName === child.nodeName ? at : null;
    if (!known) { parent.insertBefore(child, at); continue; }
    if (known === at) at = at.nextSibling;
    else parent.insertBefore(known, at);
    morph(known, child);
  }
  while (at) drop();
}
/** Replaces this page with a fetched one. */
function replacePage(page) {
  const focused = document.activeElement;
  const tone = () => document.querySelector('.headline')?.className;
  const before = tone();
  heard = new Date(page.getElementById('as-of').dateTime).getTime();
  heardAt = instant();
  showTimes(page, heard);
  document.title = page.title;
  morph(document.body, page.body);
  // Screen readers hear only a change of colour: a page that talks every few seconds is switched off.
  if (tone() !== before) news.textContent = document.querySelector('h1')?.textContent ?? '';
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
}
const ask = (address) =>
  fetch(address, { headers: { accept: 'text/event-stream, text/html' }, signal: stream.signal, redirect: 'manual' });
const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html');
/** Plans a fetch: pages do not all fetch at once, and none more often than every 5 seconds. */
function planFetch() {
  if (dueAt === Infinity) dueAt = Math.max(performance.now() + 1_000 + Math.random() * 2_000, fetchedAt + 5_000);
}
async function refresh() {
  const mine = stream;
  dueAt = Infinity;
  fetchedAt = performance.now();
  isFetching = true;
  try {
    const answer = await ask(location.pathname + location.search);
    const page = await pageOf(answer);
    if (stream !== mine) return;
    if (!answer.ok || !page.getElementById('as-of')) return fail(refusal(answer, page));
    replacePage(page);
    failures = 0;
    reason = null;
    document.documentElement.dataset.live = 'on';
    if (document.getElementById('main').dataset.moving !== undefined) planFetch();
    // A hidden page gives its connection back for a minute.
    if (document.hidden) rest();
    showFailure();
  } catch {
    if (stream === mine) fail('No answer from Warmwarden.');
  } finally {
    isFetching = false;
  }
}
function rest() {
  close();
  retry = setTimeout(connect, 60_000);
}
function close() {
  stream?.abort();
  stream = null;
  dueAt = Infinity;
  clearTimeout(retry);
}
/** Opens the stream. An EventSource would not say why a server refuses. */
async function connect() {
  close();
  const mine = stream = new AbortController();
  stirredAt = instant();
  let why = 'No answer from Warmwarden.';
  try {
    const answer = await ask(source);
    if (answer.ok && answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      if (reason === null) document.documentElement.dataset.live = 'on';
      planFetch();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        if (stream !== mine) return;
        stirredAt = instant();
        if (read.value.includes('data:')) planFetch();
      }
    } else why = refusal(answer, await pageOf(answer));
  } catch {
    // One side closed the stream.
  }
  if (stream === mine) fail(why);
}
function refusal(answer, page) {
  if (answer.type === 'opaqueredirect' || answer.status === 401) return 'You are no longer signed in.';
  // A proxy sent a page of its own.
  if (answer.ok) return 'Something else answers in place of Warmwarden, for example a sign-in page.';
  return page.querySelector('#main p')?.textContent ?? 'No answer from Warmwarden (status ' + answer.status + ').';
}
/** Tries again after 1 s, 2 s, 4 s, at most a minute, and not all pages at once. */
function fail(why) {
  close();
  failures += 1;
  // The reader need not know of a connection that comes back at once.
  if (failures > 1 || !why.startsWith('No answer') || msSince(heardAt) > silentMs) reason = why;
  const waitMs = Math.min(60_000, 1_000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
  retryAt = performance.now() + waitMs;
  retry = setTimeout(connect, waitMs);
  showFailure();
}
function showFailure() {
  broken.hidden = reason === null;
  if (reason === null) return;
  document.documentElement.dataset.live = 'off';
  const [what, when] = broken.children;
  const words = reason + ' This page shows the state of ' + asOf.textContent + '.';
  if (what.textContent !== words) what.textContent = words;
  const seconds = Math.ceil((retryAt - performance.now()) / 1_000);
  const next = stream ? '' : ' Next try in ' + Math.max(0, seconds) + ' s.';
  when.textContent = spanText(now() - heard) + ' ago.' + next;
}
/** Asks a server again that was silent for long, also while this machine slept. */
function everySecond() {
  if (stream && msSince(stirredAt) > silentMs) fail('No answer from Warmwarden.');
  else if (stream && !isFetching && performance.now() >= dueAt) refresh();
  showFailure();
}
/** Keys: a slash goes to the filter, j and k to the next and the previous row of a table, and x selects the row. */
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input:not([type=checkbox]), select, textarea')) return;
  if (event.key === 'x') document.activeElement?.closest('tr')?.querySelector('input[type=checkbox]')?.click();
  if (event.key === '/') {
    const filter = document.querySelector('[data-key="/"]');
    filter?.focus();
    if (filter) event.preventDefault();
  }
  const step = { j: 1, k: -1 }[event.key];
  if (!step) return;
  const rows = [...document.querySelectorAll('tbody[id] > tr')];
  const at = rows.indexOf(document.activeElement?.closest('tr'));
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]?.querySelector('th a')?.focus();
});
if (source && asOf) {
  connect();
  setInterval(() => { if (!document.hidden) showTimes(document, now()); }, 5_000);
  setInterval(everySecond, 1_000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden && !stream) connect(); });
  addEventListener('online', () => { if (!stream) connect(); });
  addEventListener('pagehide', close);
  addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
}
}
`;
