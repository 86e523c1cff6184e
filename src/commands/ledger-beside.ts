// The store of a daemon that does not answer, for commands that read: what was known last.
import type { Ledger } from '../store/ledger.ts';
import { type DaemonAddress, NoDaemonError } from './daemon-client.ts';

/** Rejects with a sentence when there is no store at the address, or only a URL. Loads the store: beside a daemon nobody needs it. */
export async function ledgerBeside(address: DaemonAddress): Promise<Ledger> {
  if (typeof address === 'string') return (await import('../store/ledger.ts')).Ledger.open(address);
  throw new NoDaemonError(`No daemon answers at ${address.url}. Is it running there?`);
}
