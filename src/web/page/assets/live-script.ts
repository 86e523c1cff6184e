// Keeps a page live: listens to its stream, puts what changed in its place, and says when it can't. What the reader
// types, opened, scrolled to or has the focus on stays. Served as /assets/live.js.

export const liveScript = `'use strict';
{
const source = document.documentElement.dataset.events;
const asOf = document.getElementById('as-of');
const broken = document.getElementById('broken');
const news = document.getElementById('news');
/** A moment by two clocks of this machine: one stops while it sleeps, the other is set by people. */
const moment = () => ({ steady: performance.now(), wall: Date.now() });
const msSince = ({ steady, wall }) => Math.max(performance.now() - steady, Date.now() - wall);
/** The server sends something every 15 seconds. */
const silentMs = 30_000;
/** The daemon's clock, as heard last, and when that was. */
let heard = asOf ? new Date(asOf.dateTime).getTime() : 0;
let heardAt = moment();
let since = source && new URL(source, location).searchParams.get('since');
/** The request that is open, when it began or brought something last, and why this page is not live; null: it is, or will be in a moment. */
let stream = null, stirredAt = moment(), reason = null;
let failures = 0, retryAt = 0, retry = 0;
const now = () => heard + msSince(heardAt);

/** Makes one element like another, keeping whatever of it stays the same. */
function morph(from, to) {
  if (from.nodeType !== to.nodeType || from.nodeName !== to.nodeName) return void from.replaceWith(to);
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.hasAttribute('data-keep')) return;
  const isOwn = (name) => name === 'open' && from.nodeName === 'DETAILS';
  for (const { name } of [...from.attributes]) if (!to.hasAttribute(name) && !isOwn(name)) from.removeAttribute(name);
  for (const { name, value } of [...to.attributes]) {
    if (from.getAttribute(name) !== value && !isOwn(name)) from.setAttribute(name, value);
  }
  arrange(from, [...to.childNodes], morph);
}
/** Makes the children of an element these; who has an id is known by it. */
function arrange(parent, wanted, update) {
  const byId = new Map([...parent.children].filter(({ id }) => id).map((child) => [child.id, child]));
  const kept = new Set(wanted.map((child) => child.id && byId.get(child.id)).filter(Boolean));
  let at = parent.firstChild;
  const pass = () => { while (at && at.id && !kept.has(at)) { const gone = at; at = at.nextSibling; gone.remove(); } };
  for (const child of wanted) {
    pass();
    const known = child.id ? byId.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : null;
    if (!known) { parent.insertBefore(child, at); continue; }
    if (known === at) at = at.nextSibling;
    else parent.insertBefore(known, at);
    if (known !== child) update(known, child);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}
function elementOf(markup) {
  const template = document.createElement('template');
  template.innerHTML = markup;
  return template.content.firstElementChild;
}
function apply({ title, pieces, lists }) {
  const focused = document.activeElement;
  const tone = () => document.querySelector('.headline')?.className;
  const before = tone();
  for (const [id, items] of Object.entries(lists)) {
    const list = document.getElementById(id);
    if (!list) continue;
    const wanted = items.map((item) => document.getElementById(item) ?? (pieces[item] && elementOf(pieces[item])));
    arrange(list, wanted.filter(Boolean), () => {});
  }
  for (const [id, markup] of Object.entries(pieces)) {
    const place = document.getElementById(id);
    if (place) morph(place, elementOf(markup));
  }
  if (title) document.title = title;
  // Only when the whole changed its colour is it read out: a page that talks every second is switched off.
  if (tone() !== before) news.textContent = document.querySelector('h1')?.textContent ?? '';
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
}
/** One event of the stream. The page is live only with what the server could read of it. */
function hear(event) {
  const { id, data } = Object.fromEntries(event.split('\\n').map((line) => line.split(/: ([^]*)/, 2)));
  if (!data) return;
  const { at, trouble, ...patch } = JSON.parse(data);
  since = id;
  failures = 0;
  reason = troubles[trouble] ?? null;
  if (!trouble) {
    heard = new Date(at).getTime();
    heardAt = moment();
    asOf.title = asOf.dateTime = at;
    document.documentElement.dataset.live = 'on';
  }
  if (patch.pieces) apply(patch);
  showTimes(document, now());
  tell();
  // A hidden page takes what there is, and then gives its connection back for a minute.
  if (document.hidden && !patch.pieces) rest();
}
const troubles = {
  gone: 'What this page shows is no longer there.',
  failed: 'Warmwarden could not read what this page shows. The log says why.',
};
function rest() {
  close();
  retry = setTimeout(connect, 60_000);
}
function close() {
  stream?.abort();
  stream = null;
  clearTimeout(retry);
}
/** Not an EventSource: that does not say why a server refuses. */
async function connect() {
  close();
  const mine = stream = new AbortController();
  stirredAt = moment();
  const address = new URL(source, location);
  address.searchParams.set('since', since);
  let why = 'No answer from Warmwarden.';
  try {
    const answer = await fetch(address, { signal: mine.signal, redirect: 'manual' });
    if (answer.ok && answer.headers.get('content-type')?.startsWith('text/event-stream')) {
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let waiting = '';
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        if (stream !== mine) return;
        stirredAt = moment();
        const events = (waiting + read.value).split('\\n\\n');
        waiting = events.pop();
        events.forEach(hear);
      }
    } else why = await refusal(answer);
  } catch {
    // It was closed, here or there.
  }
  if (stream === mine) fail(why);
}
async function refusal(answer) {
  if (answer.type === 'opaqueredirect' || answer.status === 401) return 'You are no longer signed in.';
  // A proxy's own page.
  if (answer.ok) return 'Something else answers in place of Warmwarden, for example a sign-in page.';
  const { message } = await answer.json().catch(() => ({}));
  return message ?? 'No answer from Warmwarden (status ' + answer.status + ').';
}
/** Tries again after 1 s, 2 s, 4 s, at most a minute, and not all pages at once. */
function fail(why) {
  close();
  failures += 1;
  // A connection that comes back at once is not worth a word.
  if (failures > 1 || !why.startsWith('No answer') || msSince(heardAt) > silentMs) reason = why;
  const waitMs = Math.min(60_000, 1_000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
  retryAt = performance.now() + waitMs;
  retry = setTimeout(connect, waitMs);
  tell();
}
function tell() {
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
/** Each second. A server that was silent for long, also while this machine slept, is asked again. */
function look() {
  if (stream && msSince(stirredAt) > silentMs) fail('No answer from Warmwarden.');
  tell();
}
/** A slash goes to the filter; j and k go down and up the rows of a table, Enter opens one: it is a link; x selects one. */
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
  setInterval(look, 1_000);
  document.addEventListener('visibilitychange', () => { if (!document.hidden && !stream) connect(); });
  addEventListener('online', () => { if (!stream) connect(); });
  addEventListener('pagehide', close);
  addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
}
}
`;
