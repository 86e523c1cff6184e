// People's silences: begun and ended in the same turns as the ticks, kept with who asked and why.
import { matches } from '../alert/matching.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type AlertMatch, alertRules, matchText, type Silence } from '../model/alert.ts';
import { fitsGlob } from '../model/glob.ts';
import type { CommandOutcome, OperatorCommands } from '../model/operator-command.ts';
import type { EpochMs } from '../model/time.ts';
import { momentText } from '../wording/phrases.ts';
import type { CommandRooms } from './commands.ts';

/** The two commands of silences. */
export function createSilences({
  fleet,
  store,
  world,
}: CommandRooms): Pick<OperatorCommands, 'silence' | 'endSilence'> {
  return {
    async silence({ match, forMs, by, reason, preview }) {
      const wrong = mistakeIn(
        match,
        [...fleet.accounts()].map(({ name }) => name),
      );
      if (wrong) return refused(wrong);
      if (!(forMs > 0)) return refused('A silence needs an end: say for how long.');
      const from = world.clock.now();
      const silence = { id: newId(from, world.random()), match, by, reason, from, until: from + forMs };
      if (preview) return { done: true, said: effectOf('A silence', silence, fleet) };
      await store.recordSilence({
        silence,
        at: from,
        by,
        reason,
        command: `silence ${silence.id}: ${matchText(match)}`,
      });
      fleet.putSilence(silence);
      return { done: true, said: effectOf(`Silence ${silence.id}`, silence, fleet) };
    },

    async endSilence({ id, by, reason }) {
      const now = world.clock.now();
      const silence = fleet.silences(now).find((one) => one.id === id);
      if (!silence) return refused(`No silence in force is called ${id}: \`warmwarden silence list\` names them.`);
      const ended = { ...silence, until: now };
      await store.recordSilence({ silence: ended, at: now, by, reason, command: `end silence ${id}` });
      fleet.putSilence(ended);
      return { done: true, said: [`The silence ${id} is over: what still goes on is told within a minute.`] };
    },
  };
}

/** What is wrong with a match, in a sentence. */
function mistakeIn(match: AlertMatch, accounts: readonly string[]): string | null {
  if (Object.values(match).every((words) => words === undefined || words.length === 0))
    return 'A silence must say what it is about: a rule, an account, a mailbox, a domain or a severity.';
  const unknown = (globs: readonly string[] | undefined, names: readonly string[]) =>
    globs?.find((glob) => !names.some((name) => fitsGlob(glob, name)));
  const rule = unknown(match.rule, alertRules);
  if (rule !== undefined) return `No alert rule is called ${rule}; there are ${alertRules.join(', ')}.`;
  const account = unknown(match.account, accounts);
  return account === undefined ? null : `No account is called ${account}.`;
}

function effectOf(name: string, { match, until }: Silence, fleet: Fleet): readonly string[] {
  const muted = [...fleet.alerts()].filter((alert) => alert.status === 'firing' && matches(alert, match)).length;
  const mutesActions = match.rule === undefined || match.rule.some((glob) => fitsGlob(glob, 'guard_acted'));
  return [
    `${name} until ${momentText(until)}: ${matchText(match)}. It fits ${muted} of the alerts that fire now.`,
    'Only messages are muted: the guard goes on, the page shows everything, and the end of what was told is still told.',
    ...(mutesActions
      ? ['It also mutes what the guard does there. Name the rules (--rule) if you want to hear of that.']
      : []),
  ];
}

/** Short enough to type; unique, since people are slow. */
function newId(at: EpochMs, chance: number): string {
  return `${Math.floor(at / 1_000).toString(36)}${Math.floor(chance * 36 ** 2)
    .toString(36)
    .padStart(2, '0')}`;
}

function refused(sentence: string): CommandOutcome {
  return { done: false, said: [sentence] };
}
