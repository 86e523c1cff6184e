// The store of a daemon that does not answer, for commands that read: what was known last.
import type { Ledger } from '../store/ledger.ts';
import { type DaemonAddress, isHttp, NoDaemonError } from './daemon-client.ts';

/** Rejects with a sentence when there is no store at the address, or only a URL. Loads the store: beside a daemon nobody needs it. */
export async function ledgerBeside(address: DaemonAddress): Promise<Ledger> {
  if (!isHttp(address)) return (await import('../store/ledger.ts')).Ledger.at(address);
  throw new NoDaemonError(`No daemon answers at ${address.url}. Is it running there?`);
}
