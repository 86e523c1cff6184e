// `warmwarden __names KIND`: names for the shell's completion, from the running daemon, its store or its configuration.
import { Argument, Command } from 'commander';
import type { FleetAnswer } from '../web/json/fleet-answer.ts';
import { configOption } from './options.ts';
import { addressOf, askFor, type DaemonAddress } from './sources/daemon-client.ts';
import { ledgerBeside } from './sources/ledger-beside.ts';

/** More are no help. */
const maxNames = 100;

/** What was typed: up to the cursor, and the daemon that it names. */
interface Line {
  readonly config: string;
  readonly url?: string;
  readonly prefix: string;
}

type Named = Pick<FleetAnswer['mailboxes'][number], 'account' | 'email'>;

/** What an argument may name, by what the argument is called in the help. */
const namesOf = {
  mailbox: mailboxNames,
  recipe: async (line: Line) => (await import('./recipes.ts')).recipeIds(line),
  silence: async (line: Line) => (await import('./silence.ts')).silenceIds(line),
  channel: async ({ config }: Line) => (await import('./sources/channel-of.ts')).channelOf(config, '').names,
} as const;

export type NameKind = keyof typeof namesOf;
export const nameKinds = Object.keys(namesOf) as readonly NameKind[];

/** It takes the rest of the line as it is typed, for its --config and --url. */
export function namesCommand(): Command {
  return new Command('__names')
    .addArgument(new Argument('<kind>').choices(nameKinds))
    .addOption(configOption())
    .option('--url <url>')
    .option('--prefix <text>', '', '')
    .argument('[words...]')
    .action(async (kind: NameKind, words: readonly string[], options: Line) => {
      const line = { ...options, ...namedIn(words) };
      const names = await namesOf[kind](line).catch(() => []);
      const begun = names.filter((name) => name.toLowerCase().startsWith(line.prefix.toLowerCase()));
      // Shells expand what they complete: a name with other characters is left to be typed.
      const plain = begun.filter((name) => /^[\w.+@/-]+$/.test(name)).toSorted();
      process.stdout.write(
        plain
          .slice(0, maxNames)
          .map((name) => `${name}\n`)
          .join(''),
      );
    });
}

/** The daemon that the line names. */
function namedIn(words: readonly string[]): Partial<Line> {
  const after = (option: string) => {
    const index = words.indexOf(option);
    return index < 0 ? undefined : words[index + 1];
  };
  const [config, url] = [after('--config'), after('--url')];
  return { ...(config && { config }), ...(url && { url }) };
}

async function mailboxNames({ prefix, ...named }: Line): Promise<readonly string[]> {
  return asTyped(await mailboxesOf(addressOf(named), prefix), prefix.includes('/'));
}

async function mailboxesOf(address: DaemonAddress, prefix: string): Promise<readonly Named[]> {
  // The daemon looks for it in addresses and accounts, each by itself.
  const asked = prefix.slice(prefix.indexOf('/') + 1);
  const answer = (await askFor(address, 'fleet', { q: asked })) as FleetAnswer | null;
  if (answer) return answer.mailboxes;
  const ledger = await ledgerBeside(address);
  return ledger.mailboxes().finally(() => ledger.close());
}

/** As a person would name them: by address, with the account where several have it, or `withAccount`. */
function asTyped(mailboxes: readonly Named[], withAccount: boolean): readonly string[] {
  const times = new Map<string, number>();
  for (const { email } of mailboxes) times.set(email, (times.get(email) ?? 0) + 1);
  return mailboxes.map(({ account, email }) => (withAccount || times.get(email) !== 1 ? `${account}/${email}` : email));
}
