// Rules of one mailbox besides its bounces.

import type { Route } from '../../core/answers.ts';
import { dailyRows, inboxRatio, lastWeek, sumOf, weekDays } from '../../core/daily-counts.ts';
import { contestedUntil } from '../../core/guard/memory.ts';
import { saysDisconnected } from '../../core/guard/run-state.ts';
import { type MailboxState, typedName } from '../../core/mailbox.ts';
import { maxPerDay, modeEffectMs, onePercentPpm, percent } from '../../core/policy.ts';
import { addDays, dayMs, utcDate } from '../../core/time.ts';
import { explainVerdict, sentence } from '../../core/wording/explain.ts';
import { counted, momentText, onDatesText, percentText } from '../../core/wording/phrases.ts';
import { ageNumber, type Condition, condition, type MailboxContext, type RulesAfter, subjectOf } from '../condition.ts';

const judged = [inboxRateLow, healthScoreDrop, contested, recoveryWithoutEffect, recoveryOverdue];
const unwell = [mailboxDisconnected, mailboxStatusUnknown];
export const mailboxRules: RulesAfter = {
  stats: judged,
  warmup: judged,
  mailbox: unwell,
  mailboxes: [...unwell, healthScoreDrop],
};

// mailbox_unwell

/** Fires after two observations. The list shows only a status, so it cannot resolve an error that the detail shows. */
function mailboxDisconnected(mailbox: MailboxState, { now }: MailboxContext, answered: Route | 'time'): Condition {
  const { email, detail, entry } = mailbox;
  const status = (answered === 'mailbox' ? detail?.answer.status : entry.answer.status) ?? null;
  const error = detail?.answer.connection === 'error' ? detail.answer.connectionError : null;
  return condition(subjectOf('mailbox_unwell', mailbox, 'connection'), {
    active: answered === 'mailbox' ? byDetail(mailbox) : byList(mailbox),
    observations: 2,
    firing: () => [
      `${email}: disconnected`,
      `The warm-up service has lost its connection to ${email}, so its warm-up is down. Its campaigns may still send. Warmwarden does nothing about it.`,
      error && `The error: ${sentence(error)}`,
      `Its status is ${status ?? 'not shown'}. Connect it again in the warm-up service.`,
    ],
    ended: () => [`${email}: connected again`, `Its status is ${status ?? 'not shown'}.`],
    numbers: () => ({
      status,
      connection_error: error,
      ...ageNumber((answered === 'mailbox' ? detail : entry)?.at, now),
    }),
  });
}

function byDetail({ detail, entry }: MailboxState): Condition['active'] {
  if (!detail) return 'unknown';
  const { connection, status } = detail.answer;
  if (connection === 'error' || saysDisconnected(status)) return true;
  return connection === 'unclear' || saysDisconnected(entry.answer.status) ? 'unknown' : false;
}

function byList({ detail, entry }: MailboxState): Condition['active'] {
  const { status } = entry.answer;
  if (saysDisconnected(status)) return true;
  const isFine = !detail || (detail.answer.connection === 'connected' && !saysDisconnected(detail.answer.status));
  return isFine && status !== null ? false : 'unknown';
}

/** Fires after two observations, so a word that is gone at the next look does not count. */
function mailboxStatusUnknown(mailbox: MailboxState, context: MailboxContext, answered: Route | 'time'): Condition {
  const { email } = mailbox;
  const isStrange = (word: string | null | undefined) => typeof word === 'string' && !isKnown(word, context);
  const [listed, detailed] = [mailbox.entry.answer.status, mailbox.detail?.answer.status];
  const [here, elsewhere] = answered === 'mailbox' ? [detailed, listed] : [listed, detailed];
  return condition(subjectOf('mailbox_unwell', mailbox, 'status'), {
    severity: 'warning',
    active: isStrange(here) ? true : here && !isStrange(elsewhere) ? false : 'unknown',
    observations: 2,
    firing: () => [
      `${email}: unknown mailbox status "${here}"`,
      `The API reports the status "${here}" for ${email}. Warmwarden does not know what it means.`,
      'Warmwarden guards the mailbox as usual: it goes by the status of the warm-up.',
      'Look at the mailbox in the warm-up service. If the status is normal, add the word to alerts.rules.mailbox_unwell.known.',
    ],
    ended: () => [`${email}: the mailbox status is ${here ?? 'not shown'}`],
    numbers: () => ({ status: here ?? null }),
  });
}

function isKnown(word: string, { rules, usualWords }: MailboxContext): boolean {
  const status = word.trim().toLowerCase();
  const known = [...usualWords, ...rules.mailboxUnwell.known.map((one) => one.toLowerCase())];
  return status === '' || known.includes(status) || saysDisconnected(status);
}

// reputation_low

/** Points by which a value must recover beyond its threshold before the alert ends. */
const hysteresisPoints = 5;

/** The share of delivered emails that reached the inbox, pooled over seven days. */
function inboxRateLow(mailbox: MailboxState, { rules, now }: MailboxContext): Condition {
  const { inboxBelowPpm: belowPpm, minMails } = rules.reputationLow;
  const rows = lastWeek(mailbox.stats?.answer, now);
  const ratio = inboxRatio(rows);
  const delivered = sumOf(rows, 'delivered') ?? 0;
  const ppm = ratio === null || delivered < minMails ? null : Math.round(ratio * 1e6);
  const share = () => (ppm === null ? '' : percentText(ppm, belowPpm));
  const [from, to] = [rows[0]?.date, rows.at(-1)?.date];
  const reached = () =>
    `Of ${counted(delivered, 'delivered email')}${from && to ? ` ${onDatesText(from, to)}` : ''}, ${share()} reached the inbox. The threshold is ${percentText(belowPpm)}.`;
  return condition(subjectOf('reputation_low', mailbox, 'inbox rate'), {
    active: ppm === null ? 'unknown' : between(ppm < belowPpm, ppm >= belowPpm + hysteresisPoints * onePercentPpm),
    firing: () => [
      `${mailbox.email}: only ${share()} of emails reach the inbox`,
      reached(),
      'Warmwarden does nothing about it. Check what the mailbox sends and to whom, and check the DNS of its domain.',
    ],
    ended: () => [`${mailbox.email}: ${share()} of emails reach the inbox again`, reached()],
    numbers: () => ({
      inbox_percent: ppm === null ? null : percent(ppm),
      below_percent: percent(belowPpm),
      delivered,
    }),
  });
}

/** The score is below the best of seven days. Older days do not count, so the alert ends by itself. */
function healthScoreDrop(mailbox: MailboxState, { rules, now }: MailboxContext): Condition {
  const { scoreDrop: points } = rules.reputationLow;
  const score = mailbox.entry.answer.healthScore;
  const from = addDays(utcDate(now), 1 - weekDays);
  const scores = dailyRows(mailbox.stats?.answer, now).flatMap(({ date, healthScore }) =>
    date >= from && typeof healthScore === 'number' ? healthScore : [],
  );
  const best = scores.length === 0 ? null : Math.max(...scores);
  const drop = best === null || score === null ? null : best - score;
  return condition(subjectOf('reputation_low', mailbox, 'health score'), {
    active: drop === null ? 'unknown' : between(drop >= points, drop <= points - hysteresisPoints),
    firing: () => [
      `${mailbox.email}: health score fell from ${best} to ${score}`,
      `It fell by ${counted(Number(drop?.toFixed(2)), 'point')} within ${weekDays} days. The threshold is ${points}.`,
      'Warmwarden does nothing about it. Check the bounces, placement, DNS and blacklists of the mailbox.',
    ],
    ended: () => [
      `${mailbox.email}: health score is ${score ?? 'not shown'}, no longer far below its last 7 days`,
      `The health score is at most ${counted(points - hysteresisPoints, 'point')} below the best of the last ${weekDays} days.`,
    ],
    numbers: () => ({ health_score: score, best_of_seven_days: best }),
  });
}

function between(isBad: boolean, isGood: boolean): Condition['active'] {
  return isBad ? true : isGood ? false : 'unknown';
}

// contested and recovery_without_effect

const overdueAfterMs = 45 * dayMs;

/** Two outside reversals within a day: the guard does not enter a quarrel. */
function contested(mailbox: MailboxState, { now, rules }: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const until = mailbox.memory ? contestedUntil(mailbox.memory, now) : null;
  return condition(subjectOf('contested', mailbox), {
    active: verdict ? verdict.reason === 'contested' : 'unknown',
    firing: () => [
      `${mailbox.email}: somebody reversed Warmwarden's changes, NO ACTION TAKEN`,
      verdict && explainVerdict(verdict),
      until !== null && `It acts again from ${momentText(until, rules.timeZone)}, or when you let it.`,
      contestAdvice(mailbox),
    ],
    ended: () => [`${mailbox.email}: no longer contested`],
    numbers: () => claimNumbers(mailbox),
  });
}

export function contestAdvice(mailbox: MailboxState): string {
  return `Find out which person or tool changes the mailbox. Then let Warmwarden act: \`warmwarden contest end ${typedName(mailbox)}\`.`;
}

function recoveryWithoutEffect(mailbox: MailboxState, { now, rules }: MailboxContext): Condition {
  const claim = mailbox.memory?.claim;
  const limit = mailbox.warmup?.answer.dailyLimit ?? null;
  const most = maxPerDay.recovery;
  const ripe = claim?.kind === 'recovery' && now - claim.since >= modeEffectMs;
  const name = typedName(mailbox);
  return condition(subjectOf('recovery_without_effect', mailbox, 'daily limit'), {
    active: !ripe ? false : limit === null ? 'unknown' : limit > most,
    firing: () => [
      `${mailbox.email}: recovery mode without effect`,
      `It has been in recovery mode since ${momentText(claim?.since ?? now, rules.timeZone)}, but its daily limit is still ${limit} emails, over the ${most} that recovery mode should allow.`,
      `Lower the daily limit: \`warmwarden limit ${name} ${most}\`. If that has no effect either, pause the warm-up.`,
    ],
    ended: () => [`${mailbox.email}: recovery mode works, or has ended`],
    numbers: () => claimNumbers(mailbox),
  });
}

function recoveryOverdue(mailbox: MailboxState, { now, rules }: MailboxContext): Condition {
  const claim = mailbox.memory?.claim;
  const verdict = mailbox.verdict?.answer;
  return condition(subjectOf('recovery_without_effect', mailbox, 'overdue'), {
    active: claim?.kind === 'recovery' && now - claim.since >= overdueAfterMs,
    firing: () => [
      `${mailbox.email}: in recovery for over 45 days`,
      `Warmwarden switched it to recovery mode on ${momentText(claim?.since ?? now, rules.timeZone)}, and it has not been clean enough to go back.`,
      verdict && explainVerdict(verdict),
      'Look for the cause: its recipient list, its DNS, its reputation. Once it is gone, set the mode yourself.',
    ],
    ended: () => [`${mailbox.email}: no longer in recovery for over 45 days`],
    numbers: () => claimNumbers(mailbox),
  });
}

function claimNumbers({ memory }: MailboxState): Condition['facts']['numbers'] {
  const claim = memory?.claim;
  return { claim: claim?.kind ?? null, since: claim ? new Date(claim.since).toISOString() : null };
}
