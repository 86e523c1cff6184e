// Page of a mailbox: the verdict in a sentence, advice, a chart of the days, the checks, and every decision.
import { html } from 'hono/html';
import { type Action, neededNoChange } from '../../core/action.ts';
import type { Alert } from '../../core/alert.ts';
import { dailyRows } from '../../core/daily-counts.ts';
import { isDisconnected } from '../../core/guard/run-state.ts';
import {
  awaitsJudgement,
  type Change,
  dailyLimitOf,
  type GuardState,
  mailboxKey,
  mailboxStatusOf,
  typedName,
  warmupDayOf,
} from '../../core/mailbox.ts';
import { notGuardedText } from '../../core/not-guarded.ts';
import { mailboxCommandPath, mailboxPath } from '../../core/page-links.ts';
import type { Ppm } from '../../core/policy.ts';
import type { DecisionSpan, MailboxEntries } from '../../core/records.ts';
import { dayMs, type EpochMs, type IsoDate, utcDate } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { campaignsUntouched, explainVerdict } from '../../core/wording/explain.ts';
import { counted, duration, numberText } from '../../core/wording/phrases.ts';
import { actionWord, pausedText, unattendedText } from '../../core/wording/states.ts';
import { type MailboxRow, rowOf } from '../overview/fleet.ts';
import type { Tone } from '../overview/headline.ts';
import { whole } from '../query.ts';
import { orNull, type RouteParts } from '../route-parts.ts';
import { pageAt } from './page-route.ts';
import { dayChart } from './parts/charts.ts';
import { doLink, heldLinks, mailboxLinks } from './parts/command-links.ts';
import {
  age,
  ago,
  breakable,
  type Markup,
  muted,
  panel,
  pathTo,
  prose,
  rateCell,
  stateBadge,
  text,
  unreadable,
} from './parts/elements.ts';
import { actionItem, alertItem } from './parts/items.ts';

const decisionsShown = 50;
const entriesRead = 100;
/** Last millisecond of the year 9999. */
const maxEpochMs = 253_402_300_799_999;

interface MailboxFacts extends Pick<RouteParts, 'fleet'> {
  readonly row: MailboxRow;
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
  /** Why the mailbox is not guarded at present, or null if it is. */
  readonly notGuarded: string | null;
  readonly isUnread: boolean;
  readonly now: EpochMs;
  readonly zone: string;
}

export const mailboxPage = pageAt(
  '/mailboxes/:account/:id',
  { until: whole(0, maxEpochMs) },
  async (parts, asked, { names: { account = '', id = '' } }) => {
    const { fleet, world, policyOf } = parts;
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return { refused: 'unknown_mailbox', message: 'Warmwarden does not guard a mailbox with this id.' };
    const now = world.clock.now();
    const until = asked.until ?? now;
    const read = (moment: EpochMs) => orNull(world, () => parts.entries.entriesOf(mailbox, moment, entriesRead));
    const entries = await read(now);
    const shown = until >= now ? entries : await read(until);
    const row = rowOf(fleet, fleet.mailbox(account, id) ?? mailbox, policyOf);
    const ofMailbox = (one: Action) => one.account === account && one.mailboxId === id;
    const actions = entries?.actions.length ? entries.actions : fleet.recentActions().filter(ofMailbox);
    const changes = entries?.changes ?? row.mailbox.changes.toReversed();
    const zone = parts.timeZone();
    const { enforce } = policyOf(row.mailbox);
    const notGuarded = notGuardedText(fleet, row.mailbox, { now, zone, enforce });
    const isUnread = typeof fleet.account(account)?.failingSince === 'number';
    const facts = { fleet, row, actions, changes, notGuarded, isUnread, now, zone };
    const days = dayChart({
      rows: dailyRows(row.mailbox.stats?.answer, now),
      windowDays: policyOf(row.mailbox).windowDays,
      limitOn: limitsOf(row, entries, now),
      evidence: row.mailbox.memory?.evidence ?? null,
      ...{ actions, changes, alerts: row.alerts },
    });
    const silences = fleet.silences(now);
    const alerts = row.alerts.map((alert) => alertItem(alert, { now, silences, fleet }, isHold(alert)));
    const done = actions
      .filter((action) => !neededNoChange(action))
      .map((action) => actionItem({ action, now, link: false }));
    const body = html`
<nav class="crumbs" aria-label="Where you are"><a href="/">Fleet</a> › <a href="${pathTo('/', { account })}">${text(account)}</a></nav>
${summary(facts)}
${alerts.length > 0 && panel('alerts', 'Firing alerts', html`<ol class="events">${alerts}</ol>`)}
<div class="columns">
<div>
${panel('days', 'Sent and bounced', days)}
${done.length > 0 && panel('actions', 'What was done', html`<ol class="events">${done}</ol>`)}
${changes.length > 0 && panel('changes', 'What changed outside Warmwarden', html`<ol class="events">${changes.map((one) => changeItem(one, now))}</ol>`)}
${panel('decisions', 'Decisions', decisionList(facts, shown, until < now))}
</div>
${factsPanel(facts)}
</div>`;
    return { title: `${row.label} · Warmwarden`, body, commands: mailboxLinks(mailbox) };
  },
);

function summary(facts: MailboxFacts): Markup {
  const { row, now, notGuarded } = facts;
  const { mailbox, verdict, state, alerts } = row;
  const about = new URLSearchParams({ mailbox: mailboxKey(mailbox.account, mailbox.id) });
  const hold = alerts.find(isHold);
  return html`<section class="headline ${tones[state] ?? 'calm'}" aria-label="Summary">
<p class="line">${stateBadge(state, verdict)} <span class="muted">judged ${ago(mailbox.verdict?.at ?? null, now)}</span></p>
<h1 class="address">${breakable(row.label)}</h1>
${notGuarded !== null && html`<p class="bad">${prose(notGuarded)}</p>`}
<p>${verdict === null ? 'Not judged yet: Warmwarden must read both stats and warm-up once.' : prose(whyOf(facts, verdict))}</p>
<p class="advice">${prose(mailboxAdvice(row, facts))}</p>
${state === 'held' && html`<p class="line">${doLink(mailboxCommandPath(mailbox, 'pause'), 'Pause only this mailbox now')} ${hold ? heldLinks(hold) : ''}</p>`}
${(verdict?.warnings ?? []).map((warning) => html`<p class="muted">${text(warning)}</p>`)}
<p class="line"><a href="/alerts?${about}">Its alerts</a> <a href="/activity?${about}">Its activity</a></p>
</section>`;
}

function isHold({ rule }: Alert): boolean {
  return rule === 'guard_held';
}

/** Explanation of the state. The verdict on a paused mailbox says only that no decision is needed. */
function whyOf({ row, actions, changes, zone }: MailboxFacts, verdict: Verdict): string {
  if (verdict.reason !== 'already_paused') return explainVerdict(verdict);
  return pausedText({ claim: row.mailbox.memory?.claim ?? null, actions, changes }, zone);
}

/**
 * Limit in force at the end of each day, as far back as the read decisions reach. Before the day on which counting began
 * again, the limit at the beginning of the day, because the present one does not apply to those emails.
 */
function limitsOf(
  { verdict, mailbox: { memory } }: MailboxRow,
  entries: MailboxEntries | null,
  now: EpochMs,
): (date: IsoDate) => Ppm | null {
  const countsFrom = memory?.evidence?.from ?? '';
  return (date) => {
    const isEarlier = date < countsFrom;
    const end = Math.min(now, Date.parse(date) + (isEarlier ? 0 : dayMs));
    if (!isEarlier && (entries === null || end >= now)) return verdict?.limitPpm ?? null;
    // The first decision stands for what its day had before.
    const decided =
      entries?.decisions.find(({ since }) => since < end) ??
      entries?.decisions.findLast(({ since }) => utcDate(since) === date);
    return decided?.verdict.limitPpm ?? null;
  };
}

function factsPanel({ fleet, row, now }: MailboxFacts): Markup {
  const { mailbox } = row;
  const { warmup, detail, entry, stats, dns, blacklist } = mailbox;
  const known = (value: number | string | null | undefined) =>
    value === null || value === undefined
      ? muted('unknown')
      : html`${typeof value === 'number' ? numberText(value) : text(value)}`;
  const dateOf = (at: EpochMs | undefined) => known(at === undefined ? undefined : utcDate(at));
  const fact = (name: string, value: Markup, at?: EpochMs | null) =>
    html`<div><dt>${name}</dt><dd>${value} <small>${at !== undefined && age(at, now)}</small></dd></div>`;
  const days = stats?.answer.rows?.length ?? null;
  const rate = warmup?.answer.config.replyRate;
  const [limit, target] = [dailyLimitOf(mailbox), warmup?.answer.config.targetDailyLimit ?? null];
  const records = Object.entries(dns?.answer.records ?? {});
  return panel(
    'facts',
    html`What is known <small>and how old it is</small>`,
    html`<dl class="facts">
<div class="wide"><dt>Bounce rate in the guard’s window</dt><dd>${row.ratePpm === null ? muted('no emails in it yet') : rateCell(row)}</dd></div>
${fact('Days of stats', known(days), stats?.at ?? null)}
${fact('Warm-up mode', known(warmup?.answer.mode), warmup?.at ?? null)}
${fact('Warm-up status', known(warmup?.answer.status), warmup?.at ?? null)}
${fact('Warm-up day', known(warmupDayOf(mailbox)))}
${fact('Warm-up started', dateOf(detail?.answer.warmupStartedAt))}
${fact('Daily limit', known(limit === null || target === null || limit === target ? limit : `${limit} (target ${target})`))}
${fact('Reply rate', known(rate == null ? rate : `${numberText(rate)}%`))}
${fact('Health score', known(row.healthScore))}
${fact('Mailbox status', known(mailboxStatusOf(mailbox)), entry.at)}
${fact('Created', dateOf(entry.answer.createdAt))}
${fact('Connection', connectionOf(row), detail?.at ?? null)}
${dns === null && fact('DNS', muted('unknown'), null)}
${records.map(([name, record]) => fact(name.toUpperCase(), recordOf(record), dns?.at ?? null))}
${dns?.answer.source !== undefined && fact('DNS source', known(dns.answer.source))}
${fact('Blacklists', listingsOf(row), blacklist?.at ?? null)}
${fact('API version', known(fleet.account(mailbox.account)?.apiHealth.version))}
</dl>`,
  );
}

function recordOf({ pass, status }: { readonly pass: boolean | null; readonly status: string | null }): Markup {
  const said = status === null ? '' : ` (${text(status)})`;
  if (pass === null) return muted(`unclear${said}`);
  return pass ? html`<span class="good">passing</span>` : html`<strong class="bad">failing${said}</strong>`;
}

function connectionOf({ mailbox: { detail } }: MailboxRow): Markup {
  if (!detail || detail.answer.connection === 'unclear') return muted('unknown');
  if (detail.answer.connection === 'connected') return html`<span class="good">connected</span>`;
  return html`<strong class="bad">${text(detail.answer.connectionError ?? 'broken')}</strong>`;
}

function listingsOf({ mailbox: { blacklist } }: MailboxRow): Markup {
  if (!blacklist || blacklist.answer.listed === null) return muted('unknown');
  const { listed, lists, found, checked } = blacklist.answer;
  const of = checked === null ? '' : ` of ${numberText(checked)}`;
  if (!listed) return html`<span class="good">none${of}</span>`;
  return html`<strong class="bad">on ${found === null ? 'some' : numberText(found)}${of}</strong>${lists.length > 0 && `: ${lists.map(text).join(', ')}`}`;
}

function changeItem({ what, from, to, at }: Change, now: EpochMs): Markup {
  return html`<li><p class="line"><strong>${what.replaceAll('_', ' ')}</strong> ${text(from ?? 'nothing')} → ${text(to ?? 'nothing')} <span class="muted">seen ${ago(at, now)}</span></p></li>`;
}

/** Decisions, newest first. A decision is repeated with each answer; its action is not. */
function decisionList({ row, now }: MailboxFacts, entries: MailboxEntries | null, isPast: boolean): Markup {
  if (entries === null) return unreadable('the decisions');
  const shown = entries.decisions.slice(0, decisionsShown);
  const items = shown.map(
    (one) =>
      html`<li class="${one.verdict.action}"><p class="line"><span class="badge ${one.verdict.action}">${actionWord(one.verdict.action)}</span> <span class="muted">${decidedWhen(one, now)}</span></p><p>${prose(explainVerdict(one.verdict))}</p></li>`,
  );
  const oldest = shown.at(-1)?.since ?? now;
  const path = mailboxPath(row.mailbox);
  const newest = isPast && html`<a href="${path}#decisions">← The newest</a>`;
  const older =
    entries.decisions.length > decisionsShown &&
    html`<a href="${pathTo(path, { until: oldest - 1 })}#decisions">Earlier decisions →</a>`;
  return html`${items.length === 0 ? html`<p class="muted">None${isPast ? ' until then' : ' yet'}.</p>` : html`<ol class="events">${items}</ol>`}${(newest || older) && html`<nav class="pages" aria-label="Decisions">${newest} ${older}</nav>`}`;
}

/** Times of a decision, such as "4 answers, the first 2 h ago, the last 1 min ago". */
function decidedWhen({ since, until, count }: DecisionSpan, now: EpochMs): Markup {
  const answers = count === 1 ? '' : `${numberText(count)} answers, `;
  if (duration(now - since) === duration(now - until)) return html`${answers}${ago(until, now)}`;
  return html`${answers}the first ${ago(since, now)}, the last ${ago(until, now)}`;
}

const tones: Readonly<Partial<Record<GuardState, Tone>>> = {
  held: 'alarm',
  not_judged: 'unknown',
  paused_by_others: 'unknown',
  not_running: 'unknown',
  no_warmup: 'unknown',
  paused_by_guard: 'acted',
  recovering: 'acted',
};

function mailboxAdvice(
  { state, mailbox, verdict, alerts }: MailboxRow,
  words: Pick<MailboxFacts, 'zone' | 'notGuarded' | 'isUnread' | 'now'>,
): string {
  const needing = alerts.filter(({ severity }) => severity !== 'info').length;
  const nothing = needing === 0 ? 'Nothing to do' : `Read the ${needing === 1 ? 'alert' : 'alerts'} below`;
  // Held actions wait for the API: that sentence says more.
  const waits = state === 'held' && words.isUnread;
  if (words.notGuarded !== null && promising.includes(state) && !waits) return unguarded;
  const sent = mailbox.action?.state;
  if (state === 'held' && (sent === 'refused' || sent === 'unconfirmed'))
    return 'The last action has not taken effect. Look at the mailbox in the warm-up service and make the change below yourself.';
  const hold = alerts.find(isHold);
  const pauseNow = `\`warmwarden pause ${typedName(mailbox)}\``;
  // The links below carry the actions out or drop them.
  if (state === 'held' && hold) return unattendedText([hold], words);
  switch (state) {
    case 'held':
      return verdict?.reason === 'first_sight'
        ? `${needing === 0 ? 'Nothing to do yet' : nothing}. The first judgement counts the last ${counted(verdict.windowDays, 'day')}, and Warmwarden acts when a second answer shows the breach again.`
        : `Warmwarden has decided to act, but has not acted yet. To pause the warm-up now: ${pauseNow}.`;
    case 'not_judged':
      if (awaitsJudgement(mailbox))
        return 'Warmwarden has read newer statistics, but not the warm-up, so it has not judged them yet. The sentence above is about older ones.';
      return 'The guard cannot judge it, so Warmwarden does nothing. The sentence above says what is missing.';
    case 'paused_by_guard':
      return `${campaignsUntouched} The warm-up stays paused until a person resumes it: first find out where the bounces come from.`;
    case 'recovering':
      return `${needing === 0 ? 'The cause can wait until the morning: the' : `${nothing}. The`} warm-up sends less. Unless a Warmwarden incident says otherwise, leave the campaigns running. Once counting starts again, the bounce limit of recovery mode applies: over it, Warmwarden pauses the warm-up.`;
    case 'over_limit':
      return overLimitAdvice(verdict);
    case 'near_limit':
      return 'Warmwarden has not acted. Find out now where the bounces come from, so that it does not have to.';
    case 'paused_by_others':
      return `The guard did not pause it, so Warmwarden leaves it paused. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'not_running':
      if (isDisconnected(mailbox))
        return 'The warm-up service has lost its connection to the mailbox, so it neither sends nor receives. Connect it again in the warm-up service.';
      return `Its warm-up is finished or has not started. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'no_warmup':
      return `The warm-up service does not warm it up. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'ok':
      return needing === 0 ? 'Nothing to do.' : `${nothing}: ${needing === 1 ? 'it says' : 'each says'} what to do.`;
  }
}

/** States in which the advice says what Warmwarden will do. */
const promising: readonly GuardState[] = ['held', 'recovering', 'near_limit', 'over_limit', 'ok', 'not_judged'];
const unguarded =
  'Warmwarden does not protect it until what the first sentence names has ended. If it bounces, pause it yourself.';

function overLimitAdvice(verdict: MailboxRow['verdict']): string {
  if (verdict?.foundUntil)
    return 'The next bounce would be a breach in recovery mode. Find out where the bounces come from, or pause the warm-up yourself.';
  return verdict?.reason === 'insufficient_evidence'
    ? 'The bounces are too few for Warmwarden to act. Find out where they come from before the next one.'
    : 'The configuration asks for an alert only, so Warmwarden does not act. Pause the warm-up or set the mode to recovery yourself.';
}
