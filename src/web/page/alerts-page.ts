// The alerts page: firing alerts, most severe first; past alerts; the newest messages. Also the pages of the silences and of the runbooks.
import { html } from 'hono/html';
import { mutes } from '../../alerts/routing.ts';
import { matchText } from '../../core/alert.ts';
import { alertRules, severities } from '../../core/alert-rules.ts';
import { silenceExpirePath } from '../../core/page-links.ts';
import { runbookOf } from '../../core/runbooks.ts';
import { type EpochMs, muteTimesOn } from '../../core/time.ts';
import { counted, duration, silenceTimesText } from '../../core/wording/phrases.ts';
import {
  type AlertFilter,
  alertFilters,
  FiringAlerts,
  isFiring,
  type PastAlert,
  readPastAlerts,
} from '../overview/alerts.ts';
import { pageNumbered, whole } from '../query.ts';
import { orNull, type RouteParts } from '../route-parts.ts';
import { pageAt } from './page-route.ts';
import { addSilenceLink, doLink } from './parts/command-links.ts';
import {
  ago,
  chip,
  headingWith,
  type Markup,
  pageLinks,
  panel,
  pathTo,
  prose,
  severityBadge,
  text,
  unreadable,
} from './parts/elements.ts';
import { acknowledgedLine, alertGroupItem, alertTitle, deliveryItem, runbookLink } from './parts/items.ts';

const alertParameters = { ...alertFilters, page: whole(1), before: whole(1, Number.MAX_SAFE_INTEGER) };
const entriesAPage = 50;
const pastShown = 50;
const deliveriesShown = 30;

export const alertsPage = pageAt('/alerts', alertParameters, async (parts, { page, before, ...filter }) => {
  const body = html`<h1>Alerts</h1>
${severityLinks(parts, filter)}
<div class="columns"><div>
${firingPanel(parts, filter, page ?? 1)}
${await pastPanel(parts, filter, before)}
</div><div>
${!parts.isLimited && (await messagesPanel(parts))}
</div></div>`;
  return { title: 'Alerts · Warmwarden', body, commands: [addSilenceLink] };
});

function severityLinks({ fleet }: RouteParts, filter: AlertFilter): Markup {
  const firing = new FiringAlerts(fleet.alerts());
  const link = (severity: AlertFilter['severity']) =>
    chip({
      path: pathTo('/alerts', { ...filter, severity }),
      word: severity ?? 'All firing',
      total: firing.count(severity),
      isChosen: filter.severity === severity,
      tone: severity ?? 'all',
    });
  const { rule } = filter;
  const narrowed =
    rule &&
    html`<li><a class="chip" href="${pathTo('/alerts', { ...filter, rule: undefined })}" aria-label="Every rule, not only ${text(rule)}">${text(rule)} ×</a></li>`;
  return html`<nav aria-label="Filter by severity"><ul class="chips">${link(undefined)}${severities.map(link)}${narrowed}</ul></nav>`;
}

const isNarrowed = (filter: AlertFilter) => Object.values(filter).some(Boolean);

function firingPanel({ fleet, world }: RouteParts, filter: AlertFilter, page: number) {
  const now = world.clock.now();
  const silences = fleet.silences(now);
  const all = [...fleet.alerts()];
  const pending = all.filter((alert) => !isFiring(alert)).length;
  const chosen = new FiringAlerts(all, filter);
  const shown = pageNumbered(chosen.groups, page, entriesAPage);
  const items = shown.rows.map((group) => alertGroupItem(group, filter, { now, silences, fleet }));
  const none = html`<p class="muted">No alert is firing${isNarrowed(filter) && ' that matches'}.</p>`;
  return panel(
    'firing',
    headingWith('Firing', chosen.count()),
    html`${items.length === 0 ? none : html`<ol class="events">${items}</ol>`}
${pageLinks(shown, (target) => pathTo('/alerts', { ...filter, page: target }))}
${pending > 0 && html`<p class="muted">${counted(pending, 'condition is', 'conditions are')} observed and may fire soon.</p>`}`,
  );
}

async function pastPanel(parts: RouteParts, filter: AlertFilter, before: number | undefined) {
  const now = parts.world.clock.now();
  const past = await orNull(parts.world, () => readPastAlerts(parts, filter, { before, limit: pastShown }));
  if (past === null) return panel('past', 'Past alerts', unreadable('past alerts'));
  const none = isNarrowed(filter) || before !== undefined ? 'No past alert matches' : 'There are no past alerts yet';
  const newest = before !== undefined && html`<a href="${pathTo('/alerts', filter)}#past">← The newest</a>`;
  const older =
    past.next !== null &&
    html`<a href="${pathTo('/alerts', { ...filter, before: past.next })}#past">Earlier alerts →</a>`;
  const items = past.rows.map((one) => pastItem(one, now));
  return panel(
    'past',
    html`Past alerts <small>the newest first</small>`,
    html`${items.length === 0 ? html`<p class="muted">${none}${past.next !== null && ' among the newest'}.</p>` : html`<ol class="events dense">${items}</ol>`}
${(newest || older) && html`<nav class="pages" aria-label="Past alerts">${newest} ${older}</nav>`}`,
  );
}

function pastItem({ kind, at, alert }: PastAlert, now: EpochMs): Markup {
  const isOver = kind === 'resolved';
  const lasted = isOver && html` <span class="muted">after ${duration(at - (alert.firingAt ?? alert.since))}</span>`;
  return html`<li class="${isOver ? 'ok' : alert.severity}">
<p class="line"><span class="badge ${isOver ? 'confirmed' : 'none'}">${isOver ? 'resolved' : 'happened'}</span> ${severityBadge(alert.severity)} <strong>${alertTitle(alert)}</strong> <span class="muted">${ago(at, now)}</span>${lasted} ${runbookLink(alert)}</p>${acknowledgedLine(alert)}</li>`;
}

async function messagesPanel({ world, deliveries }: RouteParts) {
  const now = world.clock.now();
  const newest = await orNull(world, () => deliveries(deliveriesShown));
  const undelivered = newest?.some(({ state }) => state === 'undelivered');
  const list = newest && html`<ul class="plain">${newest.map((delivery) => deliveryItem(delivery, now))}</ul>`;
  return panel(
    'messages',
    'Newest messages',
    html`${newest === null && unreadable('the list of messages')}
${undelivered && html`<p class="muted">Send undelivered messages again: <code>warmwarden channels resend CHANNEL</code></p>`}
${newest?.length === 0 ? html`<p class="muted">There are no messages yet.</p>` : list}`,
  );
}

export const silencesPage = pageAt('/silences', {}, ({ fleet, world, muteTimes, timeZone }) => {
  const now = world.clock.now();
  const firing = [...fleet.alerts()].filter(isFiring);
  const items = fleet.knownSilences(now).map((silence) => {
    const { id, match, by, reason, from, until, repeats } = silence;
    const muted = firing.filter((alert) => mutes(match, alert, fleet)).length;
    const matching = counted(muted, 'firing alert');
    const later = muted === 0 ? '' : `; ${matching} ${muted === 1 ? 'matches' : 'match'}`;
    const effect =
      from > now
        ? `mutes nothing yet${later}`
        : muted === 0
          ? html`<span class="muted">mutes no alert now</span>`
          : `mutes ${matching}`;
    return html`<li id="silence-${id}">
<p class="line"><strong>${text(matchText(match))}</strong> <span>${effect}</span></p>
<p>${text(by)}: ${text(reason)}</p>
<p class="muted">${from > now || repeats ? `${from > now ? 'Next: ' : 'In force '}${silenceTimesText(silence, now, timeZone())}` : html`Began ${ago(from, now)}, ends ${ago(until, now)}`}. <code>warmwarden silence expire ${id}</code> ends it now. ${doLink(silenceExpirePath(id), 'Expire it')}</p></li>`;
  });
  const list: Markup =
    items.length === 0
      ? html`<p class="muted">No silence is in force. <code>warmwarden silence add</code> adds one.</p>`
      : html`<ul class="plain">${items}</ul>`;
  const body = html`<h1>Silences</h1>
<section class="panel" aria-label="Silences">
<p class="muted">Warmwarden sends no messages about what is silenced. It keeps guarding the mailboxes, and the page shows the alerts.</p>
${muteTimesOn(muteTimes(), now).map(({ name, until }) => html`<p>Mute time ${name} is on, and ends ${ago(until, now)}.</p>`)}
${list}</section>`;
  return { title: 'Silences · Warmwarden', body, commands: [addSilenceLink] };
});

/** Page with the meaning of each alert. */
export const runbooksPage = pageAt('/runbooks', {}, () => {
  const items = alertRules.map((rule) => {
    const { means, cases, done, todo } = runbookOf(rule);
    const causes = cases.map(
      (one) => html`<li>${severityBadge(one.severity)} <strong>${one.cause}</strong>: ${prose(one.means)}
${one.todo !== undefined && html`<p><strong>What to do.</strong> ${prose(one.todo)}</p>`}</li>`,
    );
    return html`<section class="panel" id="${rule}"><h2>${rule}</h2>
<p>${prose(means)}</p>
${causes.length > 0 && html`<ul class="events">${causes}</ul>`}
${done !== undefined && html`<p><strong>What was done.</strong> ${prose(done)}</p>`}
${todo !== undefined && html`<p><strong>What to do.</strong> ${prose(todo)}</p>`}</section>`;
  });
  return { title: 'Runbooks · Warmwarden', body: html`<h1>What alerts mean</h1>${items}` };
});
