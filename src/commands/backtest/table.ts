// A backtest as a table for the terminal, with the story of every mailbox that was stepped in for.

import type { GuardActionKind } from '../../model/action.ts';
import { type Column, tableText } from '../../terminal/table.ts';
import { reasonWords } from '../../wording/decision-words.ts';
import { explainVerdict } from '../../wording/explain.ts';
import { counted } from '../../wording/phrases.ts';
import { assumptions, type BacktestedMailbox, type Outcome, type Totals, totalsOf } from './outcome.ts';

const actionWords: Readonly<Record<GuardActionKind, string>> = {
  recovery: 'switch to recovery',
  pause: 'pause',
  restore: 'restore',
};

type Line = readonly string[];

/** A column of names on a screen that is too narrow keeps so many letters. */
const leastLetters = 16;
const numbers = (title: string): Column => ({ title, numbers: true });

/** Plain text that ends with a line break; the table is no wider than the screen. */
export function outcomeText(outcome: Outcome, width: number): string {
  const several = outcome.guards.length > 1;
  const columns: readonly Column[] = [
    { title: 'MAILBOX', least: leastLetters },
    { title: 'MODE' },
    ...(several ? [{ title: 'GUARD', least: leastLetters }] : []),
    ...['INTERVENTIONS', 'RECOVERY', 'PAUSED', 'HELD', 'BOUNCES AVOIDED', 'SENDS LOST'].map(numbers),
  ];
  const lines = [
    ...outcome.mailboxes.flatMap((mailbox) => mailboxLines(outcome, mailbox)),
    ...outcome.guards.map((_, index) => ['total', '', ...countsLine(outcome, index, totalsOf(outcome, index))]),
  ];
  const stories = outcome.mailboxes.flatMap((mailbox) => storyOf(outcome, mailbox));
  return [
    `What the guard would have done in the last ${counted(outcome.days, 'day')}: ${counted(outcome.mailboxes.length, 'mailbox', 'mailboxes')}.`,
    tableText(columns, lines, width).trimEnd(),
    ...stories,
    `Assumed:\n${assumptions.map((assumption) => `- ${assumption}`).join('\n')}`,
  ]
    .join('\n\n')
    .concat('\n');
}

function nameOf({ mailbox }: BacktestedMailbox): string {
  return `${mailbox.account.name}/${mailbox.email}`;
}

function mailboxLines(outcome: Outcome, tested: BacktestedMailbox): readonly Line[] {
  const { past } = tested.mailbox;
  if ('failure' in past) return [[nameOf(tested), 'not read']];
  return tested.replays.map((replay, index) => [
    index === 0 ? nameOf(tested) : '',
    index === 0 ? (past.mode ?? 'unknown') : '',
    ...countsLine(outcome, index, replay),
  ]);
}

function countsLine(outcome: Outcome, index: number, counts: Totals): Line {
  const guard = outcome.guards[index] ?? '';
  return [
    ...(outcome.guards.length > 1 ? [guard] : []),
    String(counts.interventions),
    `${counts.daysInRecovery} d`,
    `${counts.daysPaused} d`,
    `${counts.daysHeld} d`,
    `${counts.bouncesAvoided} of ${counts.bounced}`,
    `${counts.sendsLost} of ${counts.sent}`,
  ];
}

/** What would have been done to a mailbox, and why; nothing for one that was left alone. */
function storyOf(outcome: Outcome, tested: BacktestedMailbox): readonly string[] {
  const { past } = tested.mailbox;
  if ('failure' in past) return [`${nameOf(tested)}\n  not read: ${past.failure}`];
  const lines = tested.replays.flatMap((replay, index) =>
    replay.actions.map(({ date, kind, verdict }) => {
      const guard = outcome.guards.length > 1 ? ` ${outcome.guards[index]}:` : '';
      return `  ${date}${guard} ${actionWords[kind]} (${reasonWords(verdict.reason)}). ${explainVerdict(verdict)}`;
    }),
  );
  return lines.length === 0 ? [] : [[nameOf(tested), ...lines].join('\n')];
}
