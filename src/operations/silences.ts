// Commands that add a silence, end one before its time, and acknowledge an alert. Both are stored first, then shown in
// the picture.

import { mutes } from '../alerts/routing.ts';
import { isDisarming } from '../alerts/rules/protection-rule.ts';
import { type AlertMatch, alertId, matchText, noAccount, type Silence } from '../core/alert.ts';
import { alertRules } from '../core/alert-rules.ts';
import { fitsGlob, namesMailbox } from '../core/mailbox-pattern.ts';
import { namesAre, notCalled } from '../core/nearest.ts';
import { type CommandOutcome, invalid, noChange } from '../core/operator-command.ts';
import { dayMs, type EpochMs, isIsoDate, momentAt, secondMs, timeOfDayMs } from '../core/time.ts';
import { acknowledgedText } from '../core/wording/explain.ts';
import { counted, silenceTimesText } from '../core/wording/phrases.ts';
import type { CommandRooms } from './audit.ts';
import type { Command, Commands } from './command-requests.ts';

export function silenceCommands(rooms: CommandRooms): Pick<Commands, 'silence-add' | 'silence-expire'> {
  const { fleet, store, world, rules } = rooms;
  const record = async (silence: Silence, messages: readonly string[]): Promise<CommandOutcome> => {
    await store.recordSilence(silence);
    fleet.putSilence(silence);
    return { result: 'done', messages };
  };
  return {
    'silence-add': ({ match, for_seconds: seconds, from: begins, every, until: last, by, reason }) => {
      const wrong = mistakeIn(match, fleet);
      if (wrong) return invalid(wrong);
      const now = world.clock.now();
      const { timeZone } = rules();
      const from = begins === undefined ? now : readMoment(begins, timeZone, 0);
      const ends = last === undefined ? null : readMoment(last, timeZone, dayMs);
      if (from === null || (last !== undefined && ends === null))
        return invalid(`"${from === null ? begins : last}" is not a time: write it like 2026-12-05 22:00.`);
      if (last !== undefined && every === undefined)
        return invalid('until needs every: it is the end of a repetition.');
      const repeats = every && { every, timeZone, ends };
      const until = from + seconds * secondMs;
      const id = newId(now, world.random());
      const silence: Silence = { id, match, by, reason, from, until, ...(repeats && { repeats }) };
      const times = mistakeInTimes(silence, now);
      if (times) return invalid(times);
      return {
        plan: { effect: effectOf('The silence', silence, rooms), about: [match, seconds, begins, every, last] },
        command: `silence add ${silence.id}: ${matchText(match)}`,
        carryOut: () => record(silence, effectOf(`Silence ${silence.id}`, silence, rooms)),
      };
    },

    'silence-expire': ({ id }) => {
      const now = world.clock.now();
      const silence = fleet.knownSilences(now).find((one) => one.id === id);
      if (!silence) return invalid(`No active silence has the id ${id}. See \`warmwarden silence list\`.`);
      const then = 'Within a minute, Warmwarden notifies you of the alerts that are still firing.';
      const { repeats: _, ...window } = silence;
      const times = silenceTimesText(silence, now, rules().timeZone);
      const effect = `Silence ${id} (${matchText(silence.match)}, ${times}) will expire now. ${then}`;
      return {
        plan: { effect: [effect], about: [id, silence.until] },
        command: `silence expire ${id}`,
        carryOut: () => record({ ...window, until: now }, [`Silence ${id} has expired. ${then}`]),
      };
    },
  };
}

export function acknowledgeCommand({ fleet, store, world, turns, rules }: CommandRooms): Command<'acknowledge'> {
  return ({ alert: name, by, reason }) => {
    const firing = [...fleet.alerts()].filter(({ status }) => status === 'firing');
    const alert = firing.find((one) => [alertId(one), one.fingerprint].includes(name));
    if (!alert) return invalid(`No firing alert has the id ${name}. See \`warmwarden alerts list\`.`);
    const { rule, account, mailboxId, email, facts, acknowledged } = alert;
    if (acknowledged) return noChange(`${facts.title}. ${acknowledgedText(acknowledged, rules().timeZone)}`);
    if (rule === 'store_failing') return invalid('The store cannot keep an acknowledgement while it fails.');
    const effect = isDisarming(alert)
      ? 'Everybody sees who takes care of it. Its daily reminder stays.'
      : 'Until it ends or gets worse, Warmwarden sends no reminder, and notifies no channel of a route with unless_acknowledged_after.';
    return {
      plan: { effect: [`${facts.title}.`, effect], about: alertId(alert) },
      command: `ack ${alertId(alert)}: ${facts.title}`,
      account: account === noAccount ? null : account,
      mailboxes: mailboxId === null || email === null ? [] : [{ account, id: mailboxId, email }],
      carryOut: () =>
        turns.take(async () => {
          const acknowledgement = { by, reason, at: world.clock.now() };
          const now = (await store.acknowledge(alert, acknowledgement)) ? fleet.alert(alert.fingerprint) : undefined;
          if (now?.firingAt !== alert.firingAt) return noChange(`Nothing to acknowledge: ${facts.title} has ended.`);
          fleet.putAlert({ ...now, acknowledged: acknowledgement });
          return { result: 'done', messages: [`Acknowledged: ${facts.title}.`, effect] };
        }),
    };
  };
}

/** Sentence about a mistake in a match, or null if there is none. */
function mistakeIn(match: AlertMatch, fleet: CommandRooms['fleet']): string | null {
  if (Object.values(match).every((words) => words === undefined || words.length === 0))
    return 'A silence needs at least one of: rule, account, tag, provider, mailbox, domain, object, severity (such as --rule "dns_*").';
  const unknown = (globs: readonly string[] | undefined, names: readonly string[]) =>
    globs?.find((glob) => !names.some((name) => fitsGlob(glob, name)));
  const rule = unknown(match.rule, alertRules);
  if (rule !== undefined) return notCalled('alert rule', rule, alertRules, namesAre('rules', alertRules));
  const rules = alertRules.filter((name) => match.rule?.some((glob) => fitsGlob(glob, name)));
  if (rules.length > 0 && rules.every((name) => isDisarming({ rule: name })))
    return `No silence mutes ${rules.join(' or ')}: people are always notified when protection is off.`;
  const accounts = [...fleet.accounts()].map(({ name }) => name);
  const account = unknown(match.account, accounts);
  if (account !== undefined) return notCalled('account', account, accounts, namesAre('accounts', accounts));
  const tags = fleet.tags.all();
  const tag = unknown(match.tag, tags);
  return tag === undefined ? null : notCalled('tag', tag, tags, namesAre('tags', tags));
}

/** Reads `2026-12-05 22:00` by the clock of the zone. A day alone is that moment after its beginning. Null if it is neither. */
function readMoment(text: string, zone: string, ofDayMs: number): EpochMs | null {
  const [, date = '', time] = /^(\d{4}-\d\d-\d\d)(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d))?$/.exec(text) ?? [];
  if (!isIsoDate(date)) return null;
  return momentAt(date, time === undefined ? ofDayMs : timeOfDayMs(time), zone);
}

/** Sentence about times that make no sense, or null if there is none. */
function mistakeInTimes({ from, until, repeats }: Silence, now: EpochMs): string | null {
  if (!repeats) return until <= now ? 'The silence would already be over: write a later from, or a longer for.' : null;
  const { every, ends } = repeats;
  if (until - from >= (every === 'day' ? dayMs : 7 * dayMs))
    return `A silence of every ${every} is shorter than a ${every}.`;
  return ends !== null && ends <= Math.max(from, now)
    ? 'The repetition would end before it begins: write a later until.'
    : null;
}

function effectOf(name: string, silence: Silence, { fleet, rules, world }: CommandRooms): readonly string[] {
  const { match } = silence;
  const times = silenceTimesText(silence, world.clock.now(), rules().timeZone);
  const muted = [...fleet.alerts()].filter((alert) => alert.status === 'firing' && mutes(match, alert, fleet)).length;
  const mailboxes = match.mailbox ? [...fleet.mailboxes()] : [];
  const unknown = match.mailbox?.filter((name) => !mailboxes.some((one) => namesMailbox(name, one))) ?? [];
  const mutesActions = match.rule === undefined || match.rule.some((glob) => fitsGlob(glob, 'guard_acted'));
  return [
    `${name} lasts ${times}: ${matchText(match)}. It matches ${counted(muted, 'alert')} that ${muted === 1 ? 'is' : 'are'} firing now.`,
    ...(unknown.length === 0 ? [] : [`No guarded mailbox is called ${unknown.join(' or ')}: check the spelling.`]),
    'It mutes messages only: Warmwarden keeps guarding, the page shows everything, and you are still notified when an alert that it announced ends.',
    ...(mutesActions
      ? [
          'It also mutes messages about what Warmwarden does itself, such as a pause. To keep those messages, limit the silence to the rules that you want to mute.',
        ]
      : []),
  ];
}

/** Id that is short enough to type: the second, and a random part for two in the same second. */
function newId(at: EpochMs, chance: number): string {
  return `${Math.floor(at / 1_000).toString(36)}${Math.floor(chance * 36 ** 2)
    .toString(36)
    .padStart(2, '0')}`;
}
