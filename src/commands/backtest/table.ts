// A backtest as a table for the terminal, with the story of every mailbox that was stepped in for.

import type { GuardActionKind } from '../../model/action.ts';
import { explainVerdict } from '../../wording/explain.ts';
import { counted } from '../../wording/phrases.ts';
import { assumptions, type BacktestedMailbox, type Outcome, type Totals, totalsOf } from './outcome.ts';

const actionWords: Readonly<Record<GuardActionKind, string>> = {
  recovery: 'switch to recovery',
  pause: 'pause',
  restore: 'restore',
};

type Line = readonly string[];

/** Plain text that ends with a line break. */
export function outcomeText(outcome: Outcome): string {
  const several = outcome.guards.length > 1;
  const title: Line = [
    'MAILBOX',
    'MODE',
    ...(several ? ['GUARD'] : []),
    'INTERVENTIONS',
    'RECOVERY',
    'PAUSED',
    'HELD',
    'BOUNCES AVOIDED',
    'SENDS LOST',
  ];
  const lines = [
    ...outcome.mailboxes.flatMap((mailbox) => mailboxLines(outcome, mailbox)),
    ...outcome.guards.map((_, index) => ['total', '', ...countsLine(outcome, index, totalsOf(outcome, index))]),
  ];
  const stories = outcome.mailboxes.flatMap((mailbox) => storyOf(outcome, mailbox));
  return [
    `What the guard would have done in the last ${counted(outcome.days, 'day')}: ${counted(outcome.mailboxes.length, 'mailbox', 'mailboxes')}.`,
    aligned([title, ...lines], several ? 3 : 2),
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
      return `  ${date}${guard} ${actionWords[kind]} (${verdict.reason}). ${explainVerdict(verdict)}`;
    }),
  );
  return lines.length === 0 ? [] : [[nameOf(tested), ...lines].join('\n')];
}

/** Columns two spaces apart: words to the left, and from column `numbersFrom` on numbers to the right. */
function aligned(lines: readonly Line[], numbersFrom: number): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column < numbersFrom ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return lines.map((line) => line.map(cell).join('  ').trimEnd()).join('\n');
}
