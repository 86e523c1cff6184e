// `warmwarden __mailboxes`: the names of guarded mailboxes for the shell's completion, from the running daemon or its store.
import { Command } from 'commander';
import type { FleetAnswer } from '../serve/fleet-answer.ts';
import { askFor, type DaemonAddress } from './daemon-client.ts';
import { ledgerBeside } from './ledger-beside.ts';
import { configOption } from './options.ts';
import { addressOf } from './send-command.ts';

/** More are no help. */
const maxNames = 100;

interface Options {
  readonly config: string;
  readonly url?: string;
  readonly prefix: string;
}

type Named = Pick<FleetAnswer['mailboxes'][number], 'account' | 'email'>;

/** It takes the rest of the line as it is typed, for its --config and --url. */
export function mailboxNamesCommand(): Command {
  return new Command('__mailboxes')
    .addOption(configOption())
    .option('--url <url>')
    .option('--prefix <text>', '', '')
    .argument('[words...]')
    .action(async (words: readonly string[], options: Options) => {
      const names = await mailboxNames({ ...options, ...namedIn(words) }).catch(() => []);
      process.stdout.write(names.map((name) => `${name}\n`).join(''));
    });
}

/** The daemon that the line names. */
function namedIn(words: readonly string[]): Partial<Options> {
  const after = (option: string) => {
    const index = words.indexOf(option);
    return index < 0 ? undefined : words[index + 1];
  };
  const [config, url] = [after('--config'), after('--url')];
  return { ...(config && { config }), ...(url && { url }) };
}

async function mailboxNames({ prefix, ...named }: Options): Promise<readonly string[]> {
  const typed = prefix.toLowerCase();
  const begin = (name: string) => name.toLowerCase().startsWith(typed);
  const names = namesOf(await mailboxesOf(addressOf(named), prefix), typed.includes('/'));
  return names.filter(begin).slice(0, maxNames);
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
function namesOf(mailboxes: readonly Named[], withAccount: boolean): readonly string[] {
  const times = new Map<string, number>();
  for (const { email } of mailboxes) times.set(email, (times.get(email) ?? 0) + 1);
  const names = mailboxes.map(({ account, email }) =>
    withAccount || times.get(email) !== 1 ? `${account}/${email}` : email,
  );
  // Shells expand what they complete: an address with other characters is left to its id.
  return names.filter((name) => /^[\w.+@/-]+$/.test(name)).sort();
}
