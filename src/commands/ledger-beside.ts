// The store of a daemon that does not answer, for commands that read: what was known last.

import { Ledger } from '../store/ledger.ts';
import { type DaemonAddress, NoDaemonError } from './daemon-client.ts';

/** Throws with a sentence when there is no store at the address, or only a URL. */
export function ledgerBeside(address: DaemonAddress): Ledger {
  if (typeof address === 'string') return Ledger.open(address);
  throw new NoDaemonError(`No daemon answers at ${address.url}. Is it running there?`);
}
