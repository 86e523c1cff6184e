// The alerts page: firing alerts, most severe first, with their messages; recent alerts that have ended; and the
// silences.
import { html } from 'hono/html';
import { mutes, silenceOf } from '../../alerts/routing.ts';
import { matchText, type Severity, type Silence, severities } from '../../core/alert.ts';
import type { ListedDelivery } from '../../core/delivery.ts';
import { silenceExpirePath } from '../../core/page-links.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, duration, numberText } from '../../core/wording/phrases.ts';
import { alertFilters } from '../json/alerts.ts';
import {
  type AlertSelection,
  alertsOnPage,
  byAlert,
  type FiringAlerts,
  isFiring,
  messagesIn,
  type PastAlert,
  type PastPage,
  readPast,
  selectionOf,
  spansOf,
} from '../overview/alerts.ts';
import { whole } from '../query.ts';
import { doLink } from './parts/command-links.ts';
import { ago, type Markup, pageLinks, severityBadge, text } from './parts/elements.ts';
import { alertGroupItem, alertItem, alertTitle, deliveryItem, runbookLink, sentList } from './parts/items.ts';
import { orNull, place, type View } from './place.ts';

interface AlertsPageParts extends ReturnType<typeof alertsOnPage> {
  /** Past alerts, or null if they could not be read. */
  readonly past: PastPage | null;
  /** Deliveries, newest first, or null if they could not be read. */
  readonly deliveries: readonly ListedDelivery[] | null;
  /** Messages about the shown firing alerts, newest first. */
  readonly about: readonly ListedDelivery[];
  /** True if `about` is complete. */
  readonly knowsAll: boolean;
  readonly silences: readonly Silence[];
  readonly selection: AlertSelection;
  /** Position after which past alerts are shown, or null to start with the newest. */
  readonly before: number | null;
  readonly now: EpochMs;
  readonly command: string;
}

const alertParameters = { ...alertFilters, page: whole(1), before: whole(1, Number.MAX_SAFE_INTEGER) };
/** Newest messages that are read. Messages about the shown alerts are usually among them. */
const deliveriesRead = 200;
const pastShown = 50;

export const alertsPlace = place('/alerts', alertParameters, async (parts, { page = 1, before = null, ...filters }) => {
  const { fleet, world } = parts;
  const selection = selectionOf(filters);
  const past = await orNull(world, () => readPast(parts, selection, { before, limit: pastShown }));
  const deliveries = await orNull(world, () => parts.deliveries(deliveriesRead));
  const current = alertsOnPage(fleet, selection, page);
  // An alert that has fired for a long time also has older messages, about its beginning.
  const spans = current.groups.flatMap(({ first, count }) => (count === 1 ? spansOf(first, null) : []));
  const told = deliveries && (await orNull(world, () => messagesIn(parts.deliveries, spans, deliveries)));
  const now = world.clock.now();
  return alertsPage({
    ...{ ...current, past, deliveries, silences: fleet.silences(now), selection, before, now, command: world.command },
    about: told?.deliveries ?? [],
    knowsAll: told?.complete ?? false,
  });
});

const selectionKeys = ['severity', 'rule', 'account', 'mailbox'] as const;

const sentShown = 4;
const deliveriesShown = 30;

function alertsPage(parts: AlertsPageParts): View {
  const { firing, selection } = parts;
  const body = html`<h1>Alerts</h1>
${severityLinks(firing, selection)}
<div class="columns"><div>
${firingPanel(parts)}
${pastPanel(parts)}
</div><div>
${messagesPanel(parts)}
</div></div>`;
  return { title: 'Alerts · Warmwarden', body };
}

interface Neighbour {
  readonly page?: number;
  readonly before?: number;
}

/** Address of the list of the alerts in a selection. */
export function alertsPath(selection: Partial<AlertSelection>, { page = 1, before }: Neighbour = {}): string {
  const query = new URLSearchParams();
  for (const name of selectionKeys) if (selection[name]) query.set(name, selection[name]);
  if (page > 1) query.set('page', String(page));
  if (before !== undefined) query.set('before', String(before));
  return query.size === 0 ? '/alerts' : `/alerts?${query}`;
}

function severityLinks(firing: FiringAlerts, selection: AlertSelection): Markup {
  const link = (severity: Severity | null, word: string, total: number) =>
    html`<li><a class="chip ${severity ?? 'all'}" href="${alertsPath({ ...selection, severity })}"${selection.severity === severity ? html` aria-current="true"` : ''}>${word} <b>${numberText(total)}</b></a></li>`;
  const { rule } = selection;
  const narrowed =
    rule === null
      ? ''
      : html`<li><a class="chip" href="${alertsPath({ ...selection, rule: null })}" aria-label="Every rule, not only ${text(rule)}">${text(rule)} ×</a></li>`;
  return html`<nav aria-label="Filter by severity"><ul class="chips">${link(null, 'All firing', firing.count())}${severities.map((severity) => link(severity, severity, firing.count(severity)))}${narrowed}</ul></nav>`;
}

function isNarrowed(selection: AlertSelection): boolean {
  return Object.values(selection).some((value) => value !== null);
}

function firingPanel(parts: AlertsPageParts): Markup {
  const { chosen, pending, groups, page, pages, knowsAll, silences, selection, now } = parts;
  const about = byAlert(parts.about);
  const items = groups.map((group) => {
    const { first: alert } = group;
    if (group.count > 1)
      return alertGroupItem(group, alertsPath({ ...selection, rule: alert.rule, severity: alert.severity }));
    const sent = about(alert);
    return alertItem({
      alert,
      now,
      ...((knowsAll || sent.length > 0) && { sent: sent.slice(0, sentShown) }),
      silence: silenceOf(alert, silences),
    });
  });
  return html`<section class="panel" aria-labelledby="firing"><h2 id="firing">Firing <span class="count">${numberText(chosen)}</span></h2>
${items.length === 0 ? html`<p class="muted">No alert is firing${isNarrowed(selection) ? ' that matches' : ''}.</p>` : html`<ol class="events">${items}</ol>`}
${pageLinks({ page, pages }, (target) => alertsPath(selection, { page: target }))}
${pending > 0 ? html`<p class="muted">${counted(pending, 'condition is', 'conditions are')} observed and may fire soon.</p>` : ''}</section>`;
}

function pastPanel({ past, selection, before, now }: AlertsPageParts): Markup {
  if (past === null) {
    return html`<section class="panel" aria-labelledby="past"><h2 id="past">Past alerts</h2>
<p class="bad">Warmwarden cannot read past alerts at the moment. The log says why.</p></section>`;
  }
  const none = isNarrowed(selection) || before !== null ? 'No past alert matches' : 'There are no past alerts yet';
  const newest = before === null ? '' : html`<a href="${alertsPath(selection)}#past">← The newest</a>`;
  const older =
    past.next === null ? '' : html`<a href="${alertsPath(selection, { before: past.next })}#past">Earlier alerts →</a>`;
  return html`<section class="panel" aria-labelledby="past"><h2 id="past">Past alerts <small>the newest first</small></h2>
${past.rows.length === 0 ? html`<p class="muted">${none}${past.next === null ? '' : ' among the newest'}.</p>` : html`<ol class="events dense">${past.rows.map((one) => pastItem(one, now))}</ol>`}
${newest === '' && older === '' ? '' : html`<nav class="pages" aria-label="Past alerts">${newest} ${older}</nav>`}</section>`;
}

function pastItem({ kind, at, alert, messages }: PastAlert, now: EpochMs): Markup {
  const isOver = kind === 'resolved';
  const lasted = isOver
    ? html` <span class="muted">after ${duration(at - (alert.firingAt ?? alert.since))}</span>`
    : '';
  return html`<li class="${isOver ? 'ok' : alert.severity}">
<p class="line"><span class="badge ${isOver ? 'confirmed' : 'none'}">${isOver ? 'resolved' : 'happened'}</span> ${severityBadge(alert.severity)} <strong>${alertTitle(alert)}</strong> <span class="muted">${ago(at, now)}</span>${lasted} ${runbookLink(alert)}</p>
${messages.length === 0 ? '' : sentList(messages.slice(0, sentShown), now)}</li>`;
}

function messagesPanel({ deliveries, now, command }: AlertsPageParts): Markup {
  const items = (deliveries ?? []).slice(0, deliveriesShown).map((delivery) => deliveryItem(delivery, now));
  const dead = (deliveries ?? []).some(({ state }) => state === 'dead');
  return html`<section class="panel" aria-labelledby="messages"><h2 id="messages">Newest messages</h2>
${deliveries === null ? html`<p class="bad">Warmwarden cannot read the list of messages at the moment. The log says why.</p>` : ''}
${dead ? html`<p class="muted">Send undelivered messages again: <code>${command} channels resend CHANNEL</code></p>` : ''}
${deliveries?.length === 0 ? html`<p class="muted">There are no messages yet.</p>` : html`<ul class="plain">${items}</ul>`}</section>`;
}

// The silences in force: the number of muted alerts, the author, the reason, and the end of each.

export const silencesPlace = place('/silences', {}, ({ fleet, world }) => {
  const { command, clock } = world;
  const now = clock.now();
  const firing = [...fleet.alerts()].filter(isFiring);
  const items = fleet.silences(now).map(({ id, match, by, reason, from, until }) => {
    const muted = firing.filter((alert) => mutes(match, alert)).length;
    return html`<li id="silence-${id}">
<p class="line"><strong>${text(matchText(match))}</strong> <span>${muted === 0 ? html`<span class="muted">mutes no alert now</span>` : `mutes ${counted(muted, 'firing alert')}`}</span></p>
<p>${text(by)}: ${text(reason)}</p>
<p class="muted">Began ${ago(from, now)}, ends ${ago(until, now)}. <code>${command} silence expire ${id}</code> ends it now. ${doLink(silenceExpirePath(id), 'Expire it')}</p></li>`;
  });
  const list: Markup =
    items.length === 0
      ? html`<p class="muted">No silence is in force. <code>${command} silence add</code> adds one.</p>`
      : html`<ul class="plain">${items}</ul>`;
  const body = html`<h1>Silences</h1>
<section class="panel" aria-label="Silences">
<p class="muted">Warmwarden sends no messages about what is silenced. It keeps guarding the mailboxes, and the page shows the alerts.</p>
${list}</section>`;
  return { title: 'Silences · Warmwarden', body };
});
