// The store of a daemon that does not answer, for commands that read: what was known last.

import type { Guardian, Ledger } from '../../store/ledger.ts';
import { commandName } from '../../world/command-name.ts';
import { type DaemonAddress, isHttp } from './daemon-client.ts';
import { NoDaemonError } from './sign-of-life.ts';
import { silenceAdvice } from './silence-advice.ts';

/** Rejects with a sentence when there is no store at the address, or only a URL. Loads the store: beside a daemon nobody needs it. */
export async function ledgerBeside(address: DaemonAddress): Promise<Ledger> {
  if (!isHttp(address)) return (await import('../../store/ledger.ts')).Ledger.at(address);
  throw new NoDaemonError(`No daemon answers at ${address.url}. Is it running there?`);
}

/** Why no daemon answers beside the store, and what to do. */
export function unanswered(guardian: Guardian | null, known: string) {
  if (guardian === null)
    return {
      headline: `No daemon runs on this store: NOTHING IS GUARDED. ${known}`,
      advice: `Start it: ${commandName} run --config FILE`,
    };
  if (guardian.kind === 'process')
    return {
      headline: `A daemon (${guardian.name}) has this store but does not answer. ${known}`,
      advice: silenceAdvice(guardian.name),
    };
  return {
    headline: `No daemon answers here, but the replica ${guardian.name} uses this store. ${known}`,
    advice: 'Run this where that replica runs, or with --url and a token.',
  };
}
