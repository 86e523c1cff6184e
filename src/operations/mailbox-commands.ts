// Commands that change a mailbox: each shows the planned effect, makes the change through the account's actor, reads it
// back, and records the person's name in the audit log.

import type { AccountWatch } from '../account/account-watch.ts';
import { aboveMaximum, type PersonsChange, refusalOf } from '../account/record/persons.ts';
import { concerns } from '../alerts/rules/finding-rules.ts';
import {
  type Action,
  alreadySo,
  type Before,
  leavesGuardAlone,
  neededNoChange,
  settingsText,
  type WarmupSettings,
} from '../core/action.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { type MailboxState, namedMailbox, typedName } from '../core/mailbox.ts';
import { type CommandOutcome, failed, invalid, type Requester } from '../core/operator-command.ts';
import type { WarmupMode } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import { actionText, campaignsUntouched, rateText } from '../core/wording/explain.ts';
import { counted, firstText, momentText, spanText } from '../core/wording/phrases.ts';
import type { CommandRooms } from './audit.ts';
import { type Commands, type OperationRequest, type ReadyCommand, settingNames } from './command-requests.ts';

export type MailboxChange = Omit<PersonsChange, 'by'>;
export type WatchOf = (account: string) => AccountWatch | undefined;

export type CarryOut = (mailbox: MailboxState, change: MailboxChange, requester: Requester) => Promise<CommandOutcome>;

/** Sentence after the reason why a change was not begun. */
export const nothingDone = 'Nothing was done.';

export function carryingOut(watchOf: WatchOf, { world, rules }: CommandRooms): CarryOut {
  return async (mailbox, change, { by, reason }) => {
    const watch = watchOf(mailbox.account);
    if (!watch) return failed(`This daemon does not guard the account ${mailbox.account}.`);
    const action = await watch.carryOut(mailbox, { ...change, by: { name: by, reason } });
    return typeof action === 'string' ? failed(action, nothingDone) : outcomeOf(action, mailbox, { world, rules });
  };
}

/** Commands pause, resume, mode, limit, set and refresh over the accounts of a daemon. */
export function mailboxCommands(
  watchOf: WatchOf,
  rooms: CommandRooms,
): Pick<Commands, 'pause' | 'resume' | 'mode' | 'limit' | 'set' | 'refresh'> {
  const { fleet } = rooms;
  const carryOut = carryingOut(watchOf, rooms);
  const change = (request: OperationRequest<'pause'>, wanted: MailboxChange): ReadyCommand | CommandOutcome => {
    const found = namedMailbox(request.mailbox, fleet.mailboxes());
    if ('wrong' in found) return invalid(found.wrong);
    const { mailbox } = found;
    const { account, id, email, warmup } = mailbox;
    const tooMuch = aboveMaximum(wanted, mailbox);
    if (tooMuch !== null) return invalid(`${email}: ${tooMuch}. Set a lower daily limit, or another mode first.`);
    const refusal = request.dry_run ? refusalOf(rooms, mailbox, wanted) : null;
    if (refusal !== null) return failed(refusal);
    const { targetMode, targetLimit, targetSettings } = wanted;
    const target = targetSettings ? settingsText(targetSettings) : (targetMode ?? targetLimit);
    const now = targetSettings ? [settingsNow(mailbox, targetSettings)] : [targetLimitOf(mailbox)];
    return {
      plan: {
        effect: [effectOf(mailbox, wanted), ...openTroubles(mailbox, wanted, fleet), ...readOnlyKeys([mailbox], fleet)],
        about: [
          account,
          id,
          wanted,
          warmup?.answer.mode,
          warmup?.answer.status,
          ...(leavesGuardAlone(wanted.kind) ? now : []),
        ],
      },
      command: [wanted.kind, email, target].filter((word) => word != null).join(' '),
      account,
      mailboxes: [{ account, id, email }],
      carryOut: () => carryOut(mailbox, wanted, request),
    };
  };
  return {
    pause: (request) => change(request, { kind: 'pause', targetMode: null }),
    resume: ({ undoes, ...request }) =>
      change(request, { kind: 'resume', targetMode: null, ...(undoes !== undefined && { undoes }) }),
    mode: (request) => change(request, { kind: 'mode', targetMode: request.mode }),
    limit: (request) => change(request, { kind: 'limit', targetMode: null, targetLimit: request.limit }),
    set: (request) => {
      const targetSettings = settingsIn(request);
      if (typeof targetSettings === 'string') return invalid(targetSettings);
      return change(request, { kind: 'set', targetMode: null, targetSettings });
    },
    refresh(request) {
      const found = namedMailbox(request.mailbox, fleet.mailboxes());
      if ('wrong' in found) return invalid(found.wrong);
      const { account, id, email } = found.mailbox;
      const soon = `${email}: Warmwarden will read all its data again as soon as the rate limit allows.`;
      if (request.dry_run) return { result: 'planned', messages: [soon] };
      const { timeZone } = rooms.rules();
      const later = (watchOf(account)?.refresh(id) ?? []).map(
        ({ route, at }) =>
          `The last fresh check of its ${route === 'dns' ? 'DNS' : 'blacklists'} is less than an hour old: Warmwarden asks the API for a new one at ${momentText(at, timeZone)}.`,
      );
      return { result: 'done', messages: [soon, ...later] };
    },
  };
}

function targetLimitOf({ warmup }: MailboxState): number | null {
  return warmup?.answer.config.targetDailyLimit ?? null;
}

/** Settings of a request, or a sentence about what is wrong with them. */
function settingsIn({ reply_rate: rate, send_window: window }: OperationRequest<'set'>): WarmupSettings | string {
  if (rate === undefined && window === undefined) return `Name a setting: ${settingNames.join(', ')}.`;
  const replyRate = rate === undefined ? {} : { replyRate: rate };
  if (window === undefined) return replyRate;
  const [sendWindowStart = 0, sendWindowEnd = 0] = window.split('-').map(Number);
  if (sendWindowStart === sendWindowEnd) return `The send_window ${window} is empty: both hours are the same.`;
  return { ...replyRate, sendWindowStart, sendWindowEnd };
}

/** Text of the present values of settings. */
function settingsNow({ warmup }: MailboxState, wanted: WarmupSettings): string {
  const config = warmup?.answer.config;
  const names = Object.keys(wanted) as (keyof WarmupSettings)[];
  return settingsText(Object.fromEntries(names.map((name) => [name, config?.[name] ?? null])));
}

const troublesNamed = 3;

/** Returns a sentence that names the firing alerts about a mailbox whose warm-up is resumed, its domain and its IP address. */
export function openTroubles(
  mailbox: MailboxState,
  { kind }: MailboxChange,
  fleet: Pick<Fleet, 'alertsAbout' | 'wideAlerts'>,
): readonly string[] {
  if (kind !== 'resume') return [];
  const shared = [...fleet.wideAlerts()].filter((alert) => concerns(alert, mailbox));
  const titles = [...fleet.alertsAbout(mailbox), ...shared]
    .filter(({ status, severity }) => status === 'firing' && severity !== 'info')
    .map(({ facts }) => facts.title);
  return titles.length === 0 ? [] : [`Alerts are still firing: ${firstText(titles, troublesNamed)}.`];
}

export function readOnlyKeys(mailboxes: readonly MailboxState[], fleet: Pick<Fleet, 'account'>): readonly string[] {
  return [...new Set(mailboxes.map(({ account }) => account))]
    .filter((account) => fleet.account(account)?.keyWrites === false)
    .map(
      (account) => `The API will probably refuse this: it refused the last changes with the key of account ${account}.`,
    );
}

/** Sentence about the effect on a mailbox, including its present state. */
export function effectOf(state: MailboxState, change: MailboxChange): string {
  const { email, account, warmup } = state;
  const { mode, status } = warmup?.answer ?? { mode: null, status: null };
  const mailbox = `${email} (account ${account}, mode ${mode ?? 'unknown'}, warm-up ${status ?? 'unknown'})`;
  switch (change.kind) {
    case 'pause':
      return status === 'paused'
        ? `When Warmwarden last read it, the warm-up of ${mailbox} was already paused. If it still is, Warmwarden changes nothing; otherwise, Warmwarden pauses it. In both cases it stays paused until a person resumes it.`
        : `Warmwarden will pause the warm-up of ${mailbox} until a person resumes it. ${campaignsUntouched}`;
    case 'resume':
      return `Warmwarden will resume the warm-up of ${mailbox}. ${whyText(state)}${evidenceText(null)}`;
    case 'limit':
      if (targetLimitOf(state) === change.targetLimit) return alreadyText(mailbox, emailsText(change));
      return `Warmwarden will set the target daily limit of ${mailbox} from ${targetLimitOf(state) ?? 'an unknown number'} to ${emailsText(change)}. The mode stays as it is, and so do the emails that count.`;
    case 'set': {
      const [now, wanted] = [
        settingsNow(state, change.targetSettings ?? {}),
        settingsText(change.targetSettings ?? {}),
      ];
      if (now === wanted) return alreadyText(mailbox, wanted);
      return `Warmwarden will change ${now} of ${mailbox} to ${wanted}. The mode, the daily limit and the emails that count stay as they are.`;
    }
    default:
      return `Warmwarden will set the mode of ${mailbox} to ${change.targetMode}. ${whyText(state)}${evidenceText(change.targetMode)}`;
  }
}

function alreadyText(mailbox: string, wanted: string): string {
  return `When Warmwarden last read it, ${mailbox} had ${wanted} already. If it still has, Warmwarden changes nothing.`;
}

/** Reason of the change in force, with its counts, for the person who takes it back. */
function whyText({ action, memory }: MailboxState): string {
  const isOurs = action !== null && !action.by && action.id === memory?.claim?.actionId;
  return isOurs ? `Warmwarden acted because of this: ${rateText(action.verdict)} ` : '';
}

/** Sentence about the evidence after the change. A switch to recovery leaves the emergency rule its counts. */
function evidenceText(mode: WarmupMode | null): string {
  const so =
    mode === 'recovery'
      ? 'Earlier bounces lead to an action only in an emergency.'
      : 'Earlier bounces no longer lead to an action.';
  return `${so} Warmwarden compares new bounces with the bounce limit from tomorrow (UTC), and acts on an emergency at any time.`;
}

/** Outcome of a change. `shown`: the mailbox as the person saw it; the outcome names what differed at the change. */
function outcomeOf(
  action: Action,
  shown: MailboxState,
  { world: { clock }, rules }: Pick<CommandRooms, 'world' | 'rules'>,
): CommandOutcome {
  const now = clock.now();
  const { email, state } = action;
  if (neededNoChange(action)) return { result: 'no_change', messages: [`${email}: ${alreadySo}.`] };
  const difference = differenceOf(action, shown);
  if (state === 'confirmed')
    return { result: 'done', messages: [doneText(action, now), ...difference, ...backText(action)] };
  return { result: 'failed', messages: [`${email}: ${actionText(action, now, rules().timeZone)}`, ...difference] };
}

/** Sentence about a change: `Warmwarden paused the warm-up of x (account acme). Read back after 1.3 s.` */
function doneText(action: Action, now: EpochMs): string {
  const { openedAt, settledAt } = action;
  const tookMs = (settledAt ?? now) - (openedAt ?? now);
  return `Warmwarden ${changedText(action)}. Read back after ${spanText(tookMs)}.`;
}

function changedText({ kind, targetMode, targetLimit, targetSettings, email, account }: Action): string {
  const mailbox = `${email} (account ${account})`;
  if (targetSettings !== undefined) return `set ${settingsText(targetSettings)} of ${mailbox}`;
  if (targetLimit !== undefined) return `set the target daily limit of ${mailbox} to ${emailsText({ targetLimit })}`;
  if (targetMode !== null) return `set the mode of ${mailbox} to ${targetMode}`;
  return `${kind === 'pause' ? 'paused' : 'resumed'} the warm-up of ${mailbox}`;
}

function emailsText({ targetLimit }: Pick<MailboxChange, 'targetLimit'>): string {
  return counted(targetLimit ?? 0, 'email');
}

/** Sentence with the command that restores the earlier limit or settings: the guard does not restore them. */
function backText({ kind, account, mailboxId: id, email, before, targetSettings }: Action): string[] {
  const earlier = targetSettings ? earlierSettings(before, targetSettings) : before.targetLimit;
  if (!leavesGuardAlone(kind) || earlier === null || earlier === undefined) return [];
  const value = typeof earlier === 'number' ? earlier : settingsText(earlier);
  return [`To undo this: \`warmwarden ${kind} ${typedName({ account, id, email })} ${value}\`.`];
}

/** The settings before a change of them, or null if one is unknown. */
function earlierSettings({ settings = {} }: Before, changed: WarmupSettings): WarmupSettings | null {
  const names = Object.keys(changed) as (keyof WarmupSettings)[];
  const values = names.map((name) => [name, settings[name] ?? null] as const);
  return values.some(([, value]) => value === null) ? null : Object.fromEntries(values);
}

/** Sentence about a change that others made to the mailbox between the question and the change. */
function differenceOf(action: Action, shown: MailboxState): readonly string[] {
  const { kind, before, openedAt } = action;
  const { mode, status } = shown.warmup?.answer ?? { mode: null, status: null };
  if (openedAt === null) return [];
  if (before.mode !== mode || before.status !== status)
    return [`Before that, somebody else had changed it to mode ${before.mode}, warm-up ${before.status}.`];
  const { targetSettings } = action;
  if (targetSettings) {
    const found = settingsText(earlierSettings(before, targetSettings) ?? {});
    if (found === '' || found === settingsNow(shown, targetSettings)) return [];
    return [`Before that, somebody else had changed it to ${found}.`];
  }
  if (kind !== 'limit' || before.targetLimit === targetLimitOf(shown)) return [];
  return [`Before that, somebody else had changed its target daily limit to ${before.targetLimit}.`];
}
